// SPDX-License-Identifier: Apache-2.0

internal import Enclaves
internal import KeyCustody
internal import Keychains

extension Failure {
  init(custody error: CustodyError) {
    let backup =
      "its backup brings it back: 'coffer identity import BACKUP'; 'coffer recovery-state' says more"
    switch error {
    case .locked: self.init(KeychainError.locked)
    case .missing: self.init(.missing, "no_private_key", "there is no such private key")
    case .alreadyExists: self.init(.inUse, "already_exists", "this private key already exists")
    case .corrupt:
      self.init(
        .corrupt, "private_key_corrupt", "a private key is corrupt or was tampered with", hint: backup)
    case .enclave(.unavailable):
      self.init(
        .noHardware, "no_enclave", "the private key is in an enclave that does not answer",
        hint: "COFFER_TCTI names the TPM; 'coffer recovery-state' says what is known")
    case .enclave(.otherChip):
      self.init(
        .noHardware, "no_enclave",
        "the private key is sealed to another chip, or to this one before it was cleared", hint: backup)
    case .enclave(.wrongPasscode):
      self.init(.corrupt, "private_key_corrupt", "the private key is of another coffer", hint: backup)
    case .enclave(.lockedOut(let seconds)):
      self.init(EnclaveError.lockedOut(secondsLeft: seconds))
      hint = "wrong PINs have locked the TPM, and private keys are in it: wait"
    case .enclave(.noLibrary):
      self.init(EnclaveError.noLibrary)
      hint = Self.tssHint
    case .enclave(let error): self.init(error)
    case .keychain(let error): self.init(error)
    case .fingerRequired:
      self.init(
        .wrongSecret, "finger_required", "in high-security mode only a finger opens private keys")
    case .guardRequired:
      self.init(
        .wrongSecret, "guard_required", "in high-security mode private keys open with the guard too",
        hint: "its PIN: --guard-pin-fd, --guard-pin-file, or COFFER_PINENTRY; \(Self.lostGuardHint)")
    case .guardRefused(let error): self.init(guard: error)
    case .guardNeedsChip:
      self.init(
        .noHardware, "no_chip", "without a chip that counts tries, a guard's PIN would protect nothing",
        hint: "COFFER_TCTI names the TPM")
    case .passcodeRequired:
      self.init(.locked, "person_required", "this needs the passphrase or PIN; a session is not enough")
    case .acknowledgementRequired(let count):
      self.init(
        .refused, "no_backup",
        "\(count.counted("private key")) \(count == 1 ? "has" : "have") no backup and would be lost with the "
          + "guard")
    case .secondKeyRequired(let count):
      self.init(
        .refused, "no_backup",
        "\(count.counted("private key")) \(count == 1 ? "has" : "have") no backup and would be lost with the "
          + "only security key",
        hint: "enrol a second key, or write backups: 'coffer identity backup WHO FILE'")
    case .backupRequired(let count):
      self.init(
        .refused, "no_backup",
        "\(count.counted("private key")) \(count == 1 ? "has" : "have") no backup, and would be given up with the guard",
        hint: "'coffer identity list' shows which; 'coffer identity delete WHO --no-backup' gives one up")
    case .guardNotNeeded:
      self.init(.refused, "no_guard", "--guard-lost: the present mode has no guard", hint: "leave it out")
    case .recoveryPending:
      self.init(
        .inUse, "recovery_pending", "an interrupted change of private keys cannot be finished now",
        hint: "'coffer recovery-state' says why")
    case .tooManyKeys(let limit):
      self.init(.refused, "too_many_keys", "a coffer has at most \(limit) private keys")
    case .invalidInput: self.init(.refused, "invalid_value", "this is not a private key that can be stored")
    }
  }

  private static let lostGuardHint = "if it is lost: 'coffer mode standard --guard-lost'"

  /// The answers of the guard's chip. The passphrase does not get round it.
  private init(guard error: EnclaveError) {
    let backup = "without the guard, only the backups of your identities help; \(Self.lostGuardHint)"
    switch error {
    case .wrongPasscode:
      self.init(.wrongSecret, "wrong_pin", "wrong PIN of the guard; the TPM has counted it")
    case .lockedOut:
      self.init(
        .locked, "pin_locked_out", error.sentence,
        hint: "wait: in high-security mode no passphrase opens private keys")
    default:
      self.init(enclave: error)
      hint = error == .noLibrary ? Self.tssHint : backup
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

internal import Enclaves
internal import KeyCustody
internal import Keychains

extension Failure {
  init(custody error: CustodyError) {
    let backup = "only a backup of the coffer's folder can restore the key"
    switch error {
    case .locked: self.init(KeychainError.locked)
    case .missing: self.init(.missing, "no_private_key", "there is no such private key")
    case .alreadyExists: self.init(.inUse, "already_exists", "this private key already exists")
    case .corrupt:
      self.init(
        .corrupt, "private_key_corrupt", "a private key is corrupt or was tampered with", hint: backup)
    case .enclave(.unavailable), .enclave(.otherChip):
      self.init(
        .noHardware, "no_enclave", "the private key is in an enclave that is not available", hint: backup)
    case .enclave(.wrongPasscode):
      self.init(.corrupt, "private_key_corrupt", "the private key is of another coffer", hint: backup)
    case .enclave(let error): self.init(error)
    case .keychain(let error): self.init(error)
    case .fingerRequired:
      self.init(
        .wrongSecret, "finger_required", "in high-security mode only a finger opens private keys")
    case .passcodeRequired:
      self.init(.locked, "person_required", "this needs the passphrase or PIN; a session is not enough")
    case .acknowledgementRequired(let count):
      self.init(
        .refused, "no_backup",
        "\(count.counted("private key")) \(count == 1 ? "has" : "have") no backup and would be lost with the "
          + "fingers")
    case .recoveryPending:
      self.init(
        .inUse, "recovery_pending", "an interrupted change of private keys cannot be finished now",
        hint: "'coffer recovery-state' says why")
    case .tooManyKeys(let limit):
      self.init(.refused, "too_many_keys", "a coffer has at most \(limit) private keys")
    case .invalidInput: self.init(.refused, "invalid_value", "this is not a private key that can be stored")
    }
  }
}

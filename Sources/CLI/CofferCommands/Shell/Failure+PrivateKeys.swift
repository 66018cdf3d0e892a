// SPDX-License-Identifier: Apache-2.0
//
// What protected data, the custody of private keys, and the recognition of their owner refuse.

internal import Enclaves
internal import KeyCustody
internal import Keychains
internal import ProtectedData
internal import Storage
internal import UserAuthentication

extension Failure {
  init(protectedData error: ProtectedDataError) {
    switch error {
    case .locked, .keychainLocked: self.init(KeychainError.locked)
    case .notAuthorised: self.init(AuthenticationError.expired)
    case .restartRequired:
      self.init(
        .locked, "restart_required", "protected data were not closed completely",
        hint: "nothing opens them until the program is started again")
    case .unprotectedFiles:
      self.init(
        .corrupt, "unprotected_files", "others can read or change the coffer's files",
        hint: "«coffer doctor» says which; nothing protected is opened before that is mended")
    case .keychainUnavailable(let error): self.init(error)
    case .enclaveMissing:
      self.init(
        .noHardware, "no_enclave", "protected data are bound to an enclave that is not here",
        hint: "«coffer recovery-state» says what helps")
    case .enclave(let error):
      // The coffer is open already; what helps is another thing than for a slot.
      self.init(error)
      hint = "«coffer recovery-state» says what helps"
    case .storage(let error): self.init(error as any Error)
    case .frameworkRecovery(let fault):
      self.init(
        .corrupt, "framework_recovery", "protected data cannot be opened: \(fault.sentence)",
        hint: "«coffer recovery-state» says what helps")
    case .domainRecovery(let domain, let fault):
      self.init(
        .corrupt, "domain_recovery", "«\(domain.name)» cannot be opened: \(fault.sentence)",
        hint: "«coffer recovery-state» says what helps")
    case .pendingMutation:
      self.init(.inUse, "in_use", "another process is changing this", hint: "try again when it is done")
    case .settingsUnavailable:
      self.init(
        .corrupt, "settings_unavailable",
        "the protected settings cannot be read, and nothing stands in for them",
        hint: "«coffer recovery-state» says what helps")
    case .invalidValue: self.init(.refused, "invalid_value", "this is more than can be kept")
    case .alreadyExists: self.init(.inUse, "already_exists", "there are protected data already")
    }
  }

  init(custody error: CustodyError) {
    let backup = "only a copy of the coffer's folder can bring the key back"
    switch error {
    case .locked: self.init(KeychainError.locked)
    case .missing: self.init(.missing, "no_private_key", "there is no such private key")
    case .alreadyExists: self.init(.inUse, "already_exists", "this private key is there already")
    case .corrupt:
      self.init(
        .corrupt, "private_key_corrupt", "a private key is corrupt or was tampered with", hint: backup)
    case .enclave(.unavailable), .enclave(.otherChip):
      self.init(
        .noHardware, "no_enclave", "the private key is in an enclave that is not here", hint: backup)
    case .enclave(.wrongPasscode):
      self.init(.corrupt, "private_key_corrupt", "the private key is of another coffer", hint: backup)
    case .enclave(let error): self.init(error)
    case .keychain(let error): self.init(error)
    case .fingerRequired:
      self.init(
        .wrongSecret, "finger_required", "in mode high-security only a finger opens private keys")
    case .passcodeRequired:
      self.init(.locked, "person_required", "this wants the passphrase or PIN, not a session")
    case .acknowledgementRequired(let count):
      self.init(
        .refused, "no_backup",
        "\(count.counted("private key")) \(count == 1 ? "has" : "have") no backup, and would be lost with the "
          + "fingers")
    case .recoveryPending:
      self.init(
        .inUse, "recovery_pending", "an interrupted change of private keys cannot be ended now",
        hint: "«coffer recovery-state» says why")
    case .tooManyKeys(let limit):
      self.init(.refused, "too_many_keys", "a coffer has at most \(limit) private keys")
    case .invalidInput: self.init(.refused, "invalid_value", "this is no private key that can be kept")
    }
  }

  init(authentication error: AuthenticationError) {
    switch error {
    case .cancelled: self.init(PromptError.cancelled)
    case .expired:
      self.init(.locked, "authentication_expired", "the authentication has expired", hint: "try again")
    case .failed: self.init(.wrongSecret, "not_recognised", "nobody was recognised")
    case .lockedOut:
      self.init(
        .wrongSecret, "finger_locked_out", "too many fingers were not recognised",
        hint: "the passphrase or PIN unlocks the reader")
    case .factorNotAccepted:
      self.init(.wrongSecret, "finger_required", "only a finger is accepted here")
    case .notEnrolled:
      self.init(
        .noHardware, "no_finger", "no finger is enrolled with the reader",
        hint: "«fprintd-enroll» enrols one")
    case .noReader: self.init(.noHardware, "no_reader", "there is no fingerprint reader")
    case .readerUnavailable:
      self.init(
        .noHardware, "reader_unavailable", "the fingerprint reader cannot be used now", hint: "try again")
    case .promptUnavailable(let error): self.init(error)
    }
  }
}

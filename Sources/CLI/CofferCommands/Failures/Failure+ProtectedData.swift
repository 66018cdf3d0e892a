// SPDX-License-Identifier: Apache-2.0

internal import Enclaves
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
        .locked, "restart_required", "protected data was not closed completely",
        hint: "it stays closed until the program is started again")
    case .unprotectedFiles:
      self.init(
        .corrupt, "unprotected_files", "others can read or change the coffer's files",
        hint: "'coffer doctor' says which; protected data stays closed until that is fixed")
    case .keychainUnavailable(let error): self.init(error)
    case .enclaveMissing:
      self.init(
        .noHardware, "no_enclave", "protected data is bound to an enclave that is not available",
        hint: "'coffer recovery-state' says what to do")
    case .enclave(let error):
      // The coffer is already open, so the hint for a slot would be wrong.
      self.init(error)
      switch error {
      case .noLibrary: hint = Self.tssHint
      case .ownerPassword: hint = Self.ownedHint
      default: hint = "'coffer recovery-state' says what to do"
      }
    case .storage(let error): self.init(error as any Error)
    case .frameworkRecovery(let fault):
      self.init(
        .corrupt, "framework_recovery", "protected data cannot be opened: \(fault.sentence)",
        hint: "'coffer recovery-state' says what to do")
    case .domainRecovery(let domain, let fault):
      self.init(
        .corrupt, "domain_recovery", "'\(domain.name)' cannot be opened: \(fault.sentence)",
        hint: "'coffer recovery-state' says what to do")
    case .pendingMutation:
      self.init(.inUse, "in_use", "another process is changing this", hint: "try again when it is done")
    case .settingsUnavailable:
      self.init(
        .corrupt, "settings_unavailable",
        "the protected settings cannot be read, and there are no defaults for them",
        hint: "'coffer recovery-state' says what to do")
    case .unsorted(let type): self.init(unsorted: type)
    case .invalidValue: self.init(.refused, "invalid_value", "this is too large to store")
    case .alreadyExists: self.init(.inUse, "already_exists", "protected data already exists")
    }
  }
}

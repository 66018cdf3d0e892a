// SPDX-License-Identifier: Apache-2.0

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
        hint: "'coffer doctor' says which; nothing protected is opened before that is mended")
    case .keychainUnavailable(let error): self.init(error)
    case .enclaveMissing:
      self.init(
        .noHardware, "no_enclave", "protected data are bound to an enclave that is not here",
        hint: "'coffer recovery-state' says what helps")
    case .enclave(let error):
      // The coffer is open already; what helps is another thing than for a slot.
      self.init(error)
      hint = "'coffer recovery-state' says what helps"
    case .storage(let error): self.init(error as any Error)
    case .frameworkRecovery(let fault):
      self.init(
        .corrupt, "framework_recovery", "protected data cannot be opened: \(fault.sentence)",
        hint: "'coffer recovery-state' says what helps")
    case .domainRecovery(let domain, let fault):
      self.init(
        .corrupt, "domain_recovery", "'\(domain.name)' cannot be opened: \(fault.sentence)",
        hint: "'coffer recovery-state' says what helps")
    case .pendingMutation:
      self.init(.inUse, "in_use", "another process is changing this", hint: "try again when it is done")
    case .settingsUnavailable:
      self.init(
        .corrupt, "settings_unavailable",
        "the protected settings cannot be read, and nothing stands in for them",
        hint: "'coffer recovery-state' says what helps")
    case .unsorted(let type): self.init(unsorted: type)
    case .invalidValue: self.init(.refused, "invalid_value", "this is more than can be kept")
    case .alreadyExists: self.init(.inUse, "already_exists", "there are protected data already")
    }
  }
}

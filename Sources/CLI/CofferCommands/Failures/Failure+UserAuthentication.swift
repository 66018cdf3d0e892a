// SPDX-License-Identifier: Apache-2.0

internal import UserAuthentication

extension Failure {
  init(prompt error: PromptError) {
    switch error {
    case .cancelled: self.init(.locked, "cancelled", "cancelled")
    case .noTerminal:
      self.init(
        .locked, "no_prompt", "a passphrase is needed and there is no terminal to ask on",
        hint: "use --passphrase-fd, --passphrase-file, or COFFER_PINENTRY")
    case .promptProgramMissing, .promptProgramFailed:
      self.init(.locked, "no_prompt", "the pinentry program does not answer", hint: "check COFFER_PINENTRY")
    case .timedOut:
      self.init(
        .locked, "no_answer", "the pinentry program did not answer in time and was stopped",
        hint: "it waits for 5 minutes; try again, or check COFFER_PINENTRY")
    case .terminalFailed, .tooLong:
      self.init(.locked, "no_prompt", "the answer could not be read")
    }
  }

  init(authentication error: AuthenticationError) {
    switch error {
    case .cancelled: self.init(PromptError.cancelled)
    case .expired:
      self.init(.locked, "authentication_expired", "the authentication has expired", hint: "try again")
    case .failed: self.init(.wrongSecret, "not_recognised", "the finger was not recognised")
    case .lockedOut:
      self.init(
        .wrongSecret, "finger_locked_out", "5 fingers in a row were not yours",
        hint: "'coffer unlock', with the passphrase or PIN, lets fingers count again")
    case .countUnavailable:
      self.init(
        .inUse, "in_use", "wrong fingers cannot be counted now, so none is taken",
        hint: "another process may be writing: try again")
    case .factorNotAccepted:
      self.init(.wrongSecret, "finger_required", "only a finger is accepted here")
    case .notEnrolled:
      self.init(
        .noHardware, "no_finger", "no finger is enrolled with the reader",
        hint: "'fprintd-enroll' enrols one")
    case .noReader: self.init(.noHardware, "no_reader", "there is no fingerprint reader")
    case .readerUnavailable(.noLibrary):
      self.init(
        .noHardware, "no_bus_library",
        "fingerprint readers are used through the library libsystemd, which is not installed here",
        hint: Self.busHint)
    case .readerUnavailable:
      self.init(
        .noHardware, "reader_unavailable", "the fingerprint reader cannot be used now", hint: "try again")
    case .promptUnavailable(let error): self.init(error)
    }
  }

  /// What to do without the library that speaks to the bus of the desktop and of the system.
  static let busHint = "install it (on Debian and Ubuntu: libsystemd0)"
}

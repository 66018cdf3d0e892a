// SPDX-License-Identifier: Apache-2.0

/// Why nobody was authenticated. The cases are kept apart, since each leaves something else to do.
@nonexhaustive
public enum AuthenticationError: Error, Equatable, Sendable {
  /// The person, or the program, gave up.
  case cancelled
  /// Every try was used, and none was right.
  case failed
  /// Too many wrong tries before this one, here or in the chip; this one was not even made. `secondsLeft`
  /// is nil when no wait helps: a finger that was locked out is accepted again after the right passcode.
  case lockedOut(secondsLeft: Int?)
  /// There is a reader, and no finger of this user is enrolled with it.
  case notEnrolled
  /// There is no fingerprint reader, or nothing that would speak for it.
  case noReader
  /// There is a reader and an enrolled finger, but the reader could not be used now.
  case readerUnavailable(FingerprintError)
  /// The passcode could not be asked for. Never `.cancelled`, which is a case of its own here.
  case promptUnavailable(PromptError)
  /// The deadline of an ``AuthenticatedContext`` has passed, or it was erased.
  case expired
  /// An ``AuthenticatedContext`` holds, but not by a factor that the policy accepts.
  case factorNotAccepted
}

// SPDX-License-Identifier: Apache-2.0

/// Why a reader gave no answer. A finger that is not recognised is an answer.
@nonexhaustive
public enum FingerprintError: Error, Equatable, Sendable {
  /// No reader, or no service that drives one.
  case noReader
  /// No finger of this user is enrolled.
  case notEnrolled
  /// Another program holds the reader, such as the screen's lock.
  case busy
  /// The system lets this user not use it.
  case denied
  /// The reader, or the service that drives it, went away in the middle.
  case disconnected
  /// No finger came in time.
  case timedOut
  /// The ``AuthenticationAttempt`` was stopped.
  case stopped
  /// The reader failed, or the service answered in a way that it should not.
  case failed
}

// SPDX-License-Identifier: Apache-2.0

/// Something that tells whether an enrolled finger of this user touches it.
public protocol FingerprintReader: Sendable {
  /// Whether at least one finger of this user is enrolled.
  /// - Throws: ``FingerprintError``; `.noReader` when there is nothing to enrol with.
  func hasEnrolledFinger() throws(FingerprintError) -> Bool

  /// Waits for one finger and compares it. Whatever is taken for that is given back on every way out.
  /// - Parameters:
  ///   - timeout: how long to wait for the finger.
  ///   - attempt: its stop ends the wait.
  ///   - progress: called in this thread, with `.waiting` and `.scanAgain`.
  /// - Returns: whether it is one of the enrolled fingers.
  /// - Throws: ``FingerprintError``.
  func verify(
    timeout: Duration, attempt: AuthenticationAttempt, progress: (FingerprintProgress) -> Void
  ) throws(FingerprintError) -> Bool
}

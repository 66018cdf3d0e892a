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

extension Duration {
  /// For `poll(2)`: rounded up, so that no wait ends early; never negative, at most a day.
  var pollMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let wholeSeconds = min(seconds, 86_400)
    return Int32(wholeSeconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

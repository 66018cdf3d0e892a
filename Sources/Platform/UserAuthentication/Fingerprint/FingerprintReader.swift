// SPDX-License-Identifier: Apache-2.0

/// Something that tells whether an enrolled finger of this user touches it.
public protocol FingerprintReader: Sendable {
  /// Whether at least one finger of this user is enrolled.
  /// - Throws: ``FingerprintError``; `.noReader` when there is nothing to enrol with.
  func hasEnrolledFinger() throws(FingerprintError) -> Bool

  /// Waits for one finger and compares it. The reader is released on every way out.
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

/// The readers of this machine.
public enum FingerprintReaders {
  /// The default reader of fprintd; nil in a build without it. Nothing is contacted yet.
  public static var system: (any FingerprintReader)? {
    #if Fingerprint
      FprintdReader()
    #else
      nil
    #endif
  }
}

/// The progress of a wait for a finger, to show to the user.
public enum FingerprintProgress: Equatable, Sendable {
  /// The reader waits for a finger.
  case waiting
  /// The finger could not be read and was not compared; this does not count as a try.
  case scanAgain(ScanProblem)
  /// The finger was read, and is not enrolled.
  case notRecognised(triesLeft: Int)

  /// Why a finger could not be read.
  public enum ScanProblem: Sendable, CaseIterable {
    /// The reader could not make out the finger.
    case unreadable
    /// The finger was drawn over the sensor too fast or not far enough.
    case swipeTooShort
    /// The finger touched the edge of the sensor.
    case notCentred
    /// The finger has to be lifted before the next scan.
    case removeAndRetry
  }
}

/// Tells the user what to do while the reader waits for a finger, and listens meanwhile for keys that stop
/// the wait.
public protocol FingerprintGuide: Sendable {
  /// Called when the wait begins; the notice stays until its end.
  ///
  /// A guide may stop `attempt`. It offers the passcode only when `policy` does
  /// (``AuthenticationPolicy/fallbackTitle``).
  func begin(_ policy: AuthenticationPolicy, _ attempt: AuthenticationAttempt) -> any FingerprintNotice
}

/// The notice of one guide during one wait.
public protocol FingerprintNotice: Sendable {
  /// Shows how the wait goes on; called in the thread that waits.
  func show(_ progress: FingerprintProgress)
  /// Takes the notice away. When this returns, the terminal or screen is free for a prompt.
  func end()
}

/// Shows nothing and never stops an attempt.
public struct SilentFingerprintGuide: FingerprintGuide {
  /// A guide that shows nothing.
  public init() {}

  /// A notice that shows nothing; the attempt goes on.
  public func begin(
    _ policy: AuthenticationPolicy, _ attempt: AuthenticationAttempt
  ) -> any FingerprintNotice { Self.silence }

  static var silence: any FingerprintNotice { Silence() }

  private struct Silence: FingerprintNotice {
    func show(_ progress: FingerprintProgress) {}
    func end() {}
  }
}

/// Why a reader gave no answer. A finger that is not recognised is an answer.
@nonexhaustive
public enum FingerprintError: Error, Equatable, Sendable {
  /// No reader, or no service that drives one.
  case noReader
  /// The library through which readers are used is not installed. There may be a reader.
  case noLibrary
  /// No finger of this user is enrolled.
  case notEnrolled
  /// Another program holds the reader, such as the screen's lock.
  case busy
  /// The system does not let this user use it.
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

extension Duration {
  /// For `poll(2)`: rounded up, so that no wait ends early; never negative, at most a day.
  var pollMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let wholeSeconds = min(seconds, 86_400)
    return Int32(wholeSeconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
public import UserAuthentication

/// A reader with scripted answers: for tests of code that authenticates.
public final class ScriptedFingerprintReader: FingerprintReader {
  /// What happens when a finger is waited for.
  public enum Event: Sendable {
    /// An enrolled finger.
    case match
    /// A finger that is not enrolled.
    case noMatch
    /// No answer yet; the next event follows at once.
    case scanAgain(FingerprintProgress.ScanProblem)
    /// The reader ends the wait with this error.
    case failure(FingerprintError)
    /// No finger: the wait ends when the attempt is stopped, or the time is over.
    case nothing
  }

  private struct Script {
    var events: [Event]
    var verificationCount = 0
  }

  private let enrolment: Result<Bool, FingerprintError>
  private let script: Mutex<Script>

  /// - Parameters:
  ///   - enrolment: what ``hasEnrolledFinger()`` answers.
  ///   - events: in order; after the last one, the reader is disconnected.
  public init(enrolment: Result<Bool, FingerprintError> = .success(true), events: [Event] = []) {
    self.enrolment = enrolment
    script = Mutex(Script(events: events))
  }

  /// How many fingers have been waited for so far.
  public var verificationCount: Int { script.withLock { $0.verificationCount } }

  /// The answer that the script was made with.
  public func hasEnrolledFinger() throws(FingerprintError) -> Bool { try enrolment.get() }

  /// Plays the next event; see ``FingerprintReader``.
  public func verify(
    timeout: Duration, attempt: AuthenticationAttempt, progress: (FingerprintProgress) -> Void
  ) throws(FingerprintError) -> Bool {
    script.withLock { $0.verificationCount += 1 }
    progress(.waiting)
    while true {
      if attempt.stop != nil { throw .stopped }
      let event: Event? = script.withLock { $0.events.isEmpty ? nil : $0.events.removeFirst() }
      switch event {
      case .match: return true
      case .noMatch: return false
      case .scanAgain(let problem): progress(.scanAgain(problem))
      case .failure(let error): throw error
      case .nothing: throw Self.wait(timeout, attempt)
      case nil: throw .disconnected
      }
    }
  }

  private static func wait(_ timeout: Duration, _ attempt: AuthenticationAttempt) -> FingerprintError {
    let end = ContinuousClock.now.advanced(by: timeout)
    while true {
      var wait = pollfd(fd: attempt.descriptor, events: Int16(POLLIN), revents: 0)
      let count = poll(&wait, 1, milliseconds(end - ContinuousClock.now))
      if count > 0 { return .stopped }
      if count == 0 { return .timedOut }
      guard errno == EINTR else { return .failed }
    }
  }

  /// Rounded up, so that no wait ends early.
  private static func milliseconds(_ duration: Duration) -> Int32 {
    Int32(clamping: max(0, duration.components.seconds * 1_000 + 999))
  }
}

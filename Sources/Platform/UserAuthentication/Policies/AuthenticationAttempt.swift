// SPDX-License-Identifier: Apache-2.0
//
// The handle that stops one evaluation from elsewhere: a button, a key on the terminal, a lock of the
// session. A reader waits on its descriptor beside its own.

internal import Glibc
internal import Synchronization

/// A running evaluation that other code may stop. It cannot be reused after a stop: make a new one for the
/// next evaluation.
public final class AuthenticationAttempt: Sendable {
  /// How an evaluation was stopped.
  public enum Stop: Sendable {
    /// Ends the evaluation without an answer.
    case cancelled
    /// Ask for the passcode instead of the finger. If the policy does not offer the passcode, this counts as
    /// cancelled.
    case fallback
  }

  private let state = Mutex<Stop?>(nil)
  private let signal: WakeSocket

  /// - Throws: ``AuthenticationError/readerUnavailable(_:)`` when the process has no descriptors left.
  public init() throws(AuthenticationError) {
    guard let signal = WakeSocket() else { throw .readerUnavailable(.failed) }
    self.signal = signal
  }

  /// Ends the evaluation: nobody is authenticated. A prompt that is open already has its own way out. Call it
  /// from any thread, as often as you like.
  public func cancel() { request(.cancelled) }

  /// Stops waiting for a finger and asks for the passcode.
  public func useFallback() { request(.fallback) }

  /// How the evaluation was stopped; nil while it goes on.
  public var stop: Stop? { state.withLock { $0 } }

  /// Readable from the moment that there is a ``stop``. For `poll(2)` only: never read or close it.
  public var descriptor: Int32 { signal.descriptor }

  private func request(_ stop: Stop) {
    let isFirst = state.withLock { state in
      defer { if state != .cancelled { state = stop } }
      return state == nil
    }
    if isFirst { signal.wake() }
  }
}

/// A descriptor that one thread polls and others make readable.
struct WakeSocket: ~Copyable, Sendable {
  /// The end to poll.
  let descriptor: Int32
  private let writeEnd: Int32

  /// Nil when there are no descriptors left.
  init?() {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
    descriptor = ends[0]
    writeEnd = ends[1]
  }

  deinit {
    close(descriptor)
    close(writeEnd)
  }

  borrowing func wake() {
    var byte: UInt8 = 1
    unsafe _ = write(writeEnd, &byte, 1)
  }

  /// Makes the descriptor unreadable again.
  borrowing func clear() {
    var byte: UInt8 = 0
    while unsafe read(descriptor, &byte, 1) == 1 {}
  }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The handle that ends a wait for a touch from another thread. It cannot be used again after that.
public final class SecurityKeyAttempt: Sendable {
  private struct State {
    var isCancelled = false
    /// Tells the device that waits now.
    var tell: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// An attempt that was not cancelled.
  public init() {}

  /// Ends the wait, now and later: the call throws `SecurityKeyError.cancelled`. Returns when nothing waits any more.
  ///
  /// A key forgets a cancellation while it has no request, and a call begins with exchanges about the PIN: it is told again
  /// until the wait ends.
  public func cancel() {
    while tellOnce() { usleep(50_000) }
  }

  /// Whether a call was waiting. Under the lock, so that the device is not closed meanwhile.
  private func tellOnce() -> Bool {
    state.withLock { state in
      state.isCancelled = true
      state.tell?()
      return state.tell != nil
    }
  }

  /// Whether ``cancel()`` was called.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Runs `work`, during which a cancellation calls `tell`.
  /// - Throws: `SecurityKeyError.cancelled` if it was cancelled before.
  func telling<R>(
    _ tell: @escaping @Sendable () -> Void, _ work: () throws(SecurityKeyError) -> R
  ) throws(SecurityKeyError) -> R {
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.tell = tell }
      return state.isCancelled
    }
    guard !isCancelled else { throw .cancelled }
    defer { state.withLock { $0.tell = nil } }
    return try work()
  }
}

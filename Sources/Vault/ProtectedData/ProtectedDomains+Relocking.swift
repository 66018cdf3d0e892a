// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension ProtectedDomains {
  /// Registers a component to be told of every relock, for the lifetime of this value.
  public func register(_ participant: any RelockParticipant) {
    participants.withLock { $0.append(participant) }
  }

  /// Locks (PD-23): blocks access at once, lets every participant erase its copies, then erases every key.
  /// The state is *locked* only if all of that succeeded.
  ///
  /// Waits for a running access. You may call it in any state.
  /// - Throws: `.restartRequired` when a participant failed: nothing opens again in this process.
  public func relock() throws(ProtectedDataError) {
    relockCount.add(1, ordering: .sequentiallyConsistent)
    defer { relockCount.subtract(1, ordering: .sequentiallyConsistent) }
    var isComplete = true
    // All participants are told, even after one has failed.
    for participant in participants.withLock({ $0 }) {
      do { try participant.relock() } catch { isComplete = false }
    }
    if !isComplete { latch.fall() }
    core.withLock { $0.session = nil }
    guard !latch.isDown else { throw Self.logged(.restartRequired, "relock") }
  }
}

/// A component that keeps protected data, or something that depends on it, and must erase it on relock
/// (PD-23).
public protocol RelockParticipant: Sendable {
  /// Erases all of it. Access to protected data already throws `.locked` then.
  /// - Throws: anything, if a copy may be left: then nothing opens again in this process.
  func relock() throws
}

/// Set when a relock fails; it cannot be cleared in this process (PD-23). It is not stored.
public final class RestartLatch: Sendable {
  /// The latch of this process. Tests make their own.
  public static let process = RestartLatch()

  private let fallen = Atomic(false)

  /// A latch of your own: for tests.
  public init() {}

  /// Whether it is set.
  public var isDown: Bool { fallen.load(ordering: .sequentiallyConsistent) }

  func fall() { fallen.store(true, ordering: .sequentiallyConsistent) }
}

// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension ProtectedDomains {
  /// Has somebody told of every relock, for as long as these protected data are there.
  public func register(_ participant: any RelockParticipant) {
    participants.withLock { $0.append(participant) }
  }

  /// Locks (PD-23): access is blocked at once, everybody who takes part lets go of what he has, then every key
  /// is erased. Only when all of that succeeded is the state *locked*.
  ///
  /// A running access is waited for. May be called in any state.
  /// - Throws: `.restartRequired` when a participant failed: nothing opens again in this process.
  public func relock() throws(ProtectedDataError) {
    relockCount.add(1, ordering: .sequentiallyConsistent)
    defer { relockCount.subtract(1, ordering: .sequentiallyConsistent) }
    var isComplete = true
    // All are told, also after one has failed.
    for participant in participants.withLock({ $0 }) {
      do { try participant.relock() } catch { isComplete = false }
    }
    if !isComplete { latch.fall() }
    core.withLock { $0.session = nil }
    guard !latch.isDown else { throw Self.logged(.restartRequired, "relock") }
  }
}

/// Somebody who keeps something that was read from protected data, or depends on it (PD-23).
public protocol RelockParticipant: Sendable {
  /// Lets go of all of it. Protected data answer *locked* by then.
  /// - Throws: anything, when something may be left: then nothing opens again in this process.
  func relock() throws
}

/// Falls once, when a relock was not complete, and stays down until the process ends (PD-23). Nothing of it is
/// stored.
public final class RestartLatch: Sendable {
  /// The one of this process. Tests make their own.
  public static let process = RestartLatch()

  private let fallen = Atomic(false)

  /// A latch of your own: for tests.
  public init() {}

  /// Whether it has fallen.
  public var isDown: Bool { fallen.load(ordering: .sequentiallyConsistent) }

  func fall() { fallen.store(true, ordering: .sequentiallyConsistent) }
}

// SPDX-License-Identifier: Apache-2.0
//
// What waits for an open slot: a choice between the continuations of an owner key, and keys that not everybody has.

public import Histories
public import Remotes

extension Synchronizer {
  /// The continuations of the account between which its user has to choose; nil if there is one.
  public var ownerFork: OwnerForkView? { history.ownerFork }

  /// Whether a slot has to be opened before everybody can read and write everything.
  public var needsSlot: Bool { history.needsSlot }

  /// The user says which continuation is right. It is said on each device.
  ///
  /// - Parameters:
  ///   - fork: of ``ownerFork``.
  ///   - branch: one of its branches.
  ///   - secret: opens a slot of the account.
  ///   - remote: where it is.
  ///   - progress: as of ``run(_:at:progress:)``.
  /// - Returns: how the run ended that follows; and whether the slot is one of the chosen continuation, so that everybody
  ///   got the keys that they lacked.
  /// - Throws: `SyncError.wrongSecret`, `.remote`, `.refused`; else as a run.
  public func settle(
    _ fork: OwnerForkView, on branch: ControlID, with secret: AccountSecret, at remote: any Remote,
    progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> (report: SyncReport, isOfBranch: Bool) {
    let slot = try openSlot(with: secret, at: remote)
    let outcome = try change(.settle(at: fork.at, on: branch), with: slot)
    guard history.ownerFork?.at != fork.at else { throw SyncError.refused(outcome) }
    // A choice alone changes no row.
    try alone { try save([]) }
    return (try run(.sync, at: remote, progress: progress), outcome == .complete)
  }

  /// Gives everybody the keys that they lack.
  /// - Throws: `SyncError.wrongSecret`, `.remote`, `.refused`; else as a run.
  public func handOutKeys(
    with secret: AccountSecret, at remote: any Remote, progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> SyncReport {
    let slot = try openSlotAndPull(with: secret, at: remote, progress: progress)
    if history.needsSlot {
      let outcome = try change(.handOutKeys, with: slot)
      guard outcome == .complete else { throw SyncError.refused(outcome) }
    }
    return try run(.sync, at: remote, progress: progress)
  }
}

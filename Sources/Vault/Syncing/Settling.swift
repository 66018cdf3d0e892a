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
    try noteSettled(fork, on: branch)
    let isOfBranch = try outcome == .complete || handsOutKeys(with: secret, at: remote)
    return (try run(.sync, at: remote, progress: progress), isOfBranch)
  }

  /// After a choice the same secret may open a slot that the chosen continuation brought.
  private func handsOutKeys(with secret: AccountSecret, at remote: any Remote) throws -> Bool {
    do {
      return try change(.handOutKeys, with: openSlot(with: secret, at: remote)) == .complete
    } catch SyncError.wrongSecret { return false }
  }

  /// Gives everybody the keys that they lack.
  /// - Parameter choice: which continuation of the account is right, if the slot shows several; nil for none of them.
  /// - Returns: how the run ended that follows; and whether the slot is one of the chosen continuation, as of `settle`.
  /// - Throws: `SyncError.wrongSecret`, `.remote`, `.refused`; else as a run.
  public func handOutKeys(
    with secret: AccountSecret, at remote: any Remote,
    choice: (OwnerForkView) throws -> ControlID? = { _ in nil },
    progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> (report: SyncReport, isOfBranch: Bool) {
    let slot = try openSlotAndPull(with: secret, at: remote, progress: progress)
    guard history.needsSlot else { return (try run(.sync, at: remote, progress: progress), true) }
    let (outcome, hasChosen) = try change(.handOutKeys, with: slot, choice)
    guard outcome == .complete || (hasChosen && outcome == .notOwner) else {
      throw SyncError.refused(outcome)
    }
    return (try run(.sync, at: remote, progress: progress), outcome == .complete)
  }

  /// Carries out a change. Control operations that only the slot opens stay closed after a change that is refused; if they
  /// show several continuations of the account, the user chooses now.
  /// - Returns: also whether the user has chosen.
  func change(
    _ change: AccountChange, with slot: OpenedSlot, _ choice: (OwnerForkView) throws -> ControlID?
  ) throws -> (outcome: Outcome, hasChosen: Bool) {
    let outcome = try self.change(change, with: slot)
    guard outcome == .ownerForked, try settleForks(with: slot, choice) else { return (outcome, false) }
    return (try self.change(change, with: slot), true)
  }

  /// The user says which of the continuations are right that a slot has shown.
  /// - Returns: whether there were any, and all were chosen.
  @discardableResult
  func settleForks(
    with slot: OpenedSlot, _ choice: (OwnerForkView) throws -> ControlID?
  ) throws -> Bool {
    var hasChosen = false
    while let fork = history.ownerFork {
      guard let branch = try choice(fork) else { return false }
      _ = try change(.settle(at: fork.at, on: branch), with: slot)
      guard history.ownerFork?.at != fork.at else { throw SyncError.refused(.ownerForked) }
      try noteSettled(fork, on: branch)
      hasChosen = true
    }
    return hasChosen
  }

  /// A choice stands.
  private func noteSettled(_ fork: OwnerForkView, on branch: ControlID) throws {
    try noteTold(of: fork)
    changed(.settle(at: fork.at, on: branch))
    // A choice alone changes no row.
    try alone { try save([]) }
  }
}

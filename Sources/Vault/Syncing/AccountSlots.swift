// SPDX-License-Identifier: Apache-2.0
//
// The slots of an account: opened on a device that has it, added and removed. A change of slots brings a new owner key,
// so that whoever has a former passphrase can change nothing any more.

public import Histories
public import Primitives
public import Remotes
internal import Secrets

extension Synchronizer {
  /// The slots in force, the first made first.
  public var slots: [SlotView] { history.slots }

  /// Whether a slot in force opens with a passphrase or words.
  /// - Throws: `SyncError.remote`; `KeychainError`, `Argon2idError`.
  public func opens(with secret: AccountSecret, at remote: any Remote) throws -> Bool {
    do {
      let slot = try openSlot(with: secret, at: remote)
      return history.slots.contains { $0.id == slot.id }
    } catch SyncError.wrongSecret { return false }
  }

  /// Opens a slot: one in force whose object is here, or one that another device has added since.
  /// - Throws: `SyncError.wrongSecret`, `.notThere`, `.remote`.
  func openSlot(with secret: AccountSecret, at remote: any Remote) throws -> OpenedSlot {
    let address = try address()
    let slots = history.slots
    let records = slots.compactMap(\.record)
    if let slot = try AccountLink.open(records, address, secret) { return slot }
    do {
      return try AccountLink.openSlot(
        at: remote, address, with: secret, without: Set(records.map(\.id)))
    } catch let error as SyncError {
      // Offline, all slots that are known are the answer.
      if case .remote = error, !slots.isEmpty, records.count == slots.count { throw SyncError.wrongSecret }
      throw error
    }
  }

  /// Adds a slot to the account. A change of the owner key comes with `removing`.
  ///
  /// - Parameters:
  ///   - new: what opens the new slot; nil to remove alone.
  ///   - removing: chooses the slots that leave, of those that are in force after what is new was got.
  ///   - isOwn: whether `new` is the passphrase of this coffer.
  ///   - costs: of a passphrase.
  ///   - secret: opens a slot in force.
  ///   - progress: as of ``run(_:at:progress:)``.
  /// - Returns: how the run ended that told the others.
  /// - Throws: `SyncError.wrongSecret`, `.slotNotReadBack`, `.remote`, `.refused`; `Argon2idError`; else as a run.
  public func changeSlots(
    adding new: AccountSecret?, removing chosen: ([SlotView]) -> [SlotID], isOwn: Bool = false,
    costs: Argon2idParameters,
    with secret: AccountSecret, at remote: any Remote, progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> SyncReport {
    let slot = try openSlot(with: secret, at: remote)
    let prepared = try new.map {
      try NewSlot($0, urlSecret: address().secret, costs: costs, machine: machine)
    }
    try pull(at: remote, progress: progress)
    let removing = chosen(slots)
    var entries: [SlotEntry] = []
    if let prepared {
      guard let anchor = history.lastOperation else { throw SyncError.notThere }
      let (record, entry) = prepared.make(
        owner: slot.owner, account: account, anchor: anchor, at: now, machine: &machine)
      try prepared.writeAndReadBack(record, account, remote)
      entries = [entry]
    }
    let change: AccountChange =
      removing.isEmpty
      ? entries.first.map(AccountChange.addSlot) ?? .handOutKeys
      : .replaceSlots(removing: removing, adding: entries)
    let outcome = try self.change(change, with: slot)
    guard outcome == .complete else { throw SyncError.refused(outcome) }
    if isOwn, let entry = entries.first { try noteEqualPassphrase(of: entry.id) }
    return try run(.sync, at: remote, progress: progress)
  }

  /// The passphrase of this coffer opens the account already.
  /// - Throws: as `openSlot`.
  public func noteOwnPassphrase(_ secret: AccountSecret, at remote: any Remote) throws {
    try noteEqualPassphrase(of: openSlot(with: secret, at: remote).id)
  }

  /// Gets what is new before a change of the account.
  /// - Throws: `SyncError.remote`, `.refused` when that did not end well; else as a run.
  func pull(at remote: any Remote, progress: (SyncReport) -> Bool) throws {
    let before = try run(.sync, at: remote, progress: progress)
    guard before.outcome == .complete || before.outcome == .noSafeEpoch else {
      throw before.remoteError.map { SyncError.remote($0) } ?? SyncError.refused(before.outcome)
    }
  }
}

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
    guard !awaitsApproval else { throw SyncError.notApproved }
    // Another device may have changed the slots. Offline, those that are known are the answer.
    _ = try run(.sync, at: remote)
    do {
      let slot = try openSlot(with: secret, at: remote)
      return history.slots.contains { $0.id == slot.id }
    } catch SyncError.wrongSecret { return false }
  }

  /// Whether a slot opens with a passphrase or words, be it in force or not.
  /// - Throws: as ``opens(with:at:)``.
  public func opensSlot(with secret: AccountSecret, at remote: any Remote) throws -> Bool {
    do { _ = try openSlot(with: secret, at: remote) } catch SyncError.wrongSecret { return false }
    return true
  }

  /// Opens a slot in force whose object is here; nil if the secret opens none of them. If the secret is a passphrase of this
  /// coffer, it notes that it opens both.
  private func openKnownSlot(with secret: AccountSecret) throws -> OpenedSlot? {
    let slot = try AccountLink.open(history.slots.compactMap(\.record), address(), secret)
    if let slot, secret.isOwnPassphrase { try noteEqualPassphrase(of: slot.id) }
    return slot
  }

  /// Opens a slot: one in force whose object is here, or one that another device has added since.
  /// - Throws: `SyncError.wrongSecret`, `.slotsDamaged`, `.notThere`, `.remote`.
  func openSlot(with secret: AccountSecret, at remote: any Remote) throws -> OpenedSlot {
    if let slot = try openKnownSlot(with: secret) { return slot }
    let address = try address()
    let slots = history.slots
    let records = slots.compactMap(\.record)
    do {
      return try AccountLink.openSlot(
        at: remote, address, with: secret, without: Set(records.map(\.id)))
    } catch let error as SyncError {
      // Offline, all slots that are known are the answer.
      if case .remote = error, !slots.isEmpty, records.count == slots.count { throw SyncError.wrongSecret }
      switch error {
      case .wrongSecret, .slotsDamaged: break
      default: throw error
      }
      guard try hasLaterCard(than: address, at: remote) else { throw error }
    }
    return try openSlot(with: secret, at: remote)
  }

  /// Whether another device has made a new card: gets what is new.
  private func hasLaterCard(than address: AccountAddress, at remote: any Remote) throws -> Bool {
    _ = try run(.sync, at: remote)
    return try self.address().secret.withBytes { later in
      address.secret.withBytes { !constantTimeEqual($0, later) }
    }
  }

  /// Adds a slot to the account. A change of the owner key comes with `removing`.
  ///
  /// - Parameters:
  ///   - new: what opens the new slot; nil to remove alone.
  ///   - removing: chooses the slots that leave, of those that are in force after what is new was got.
  ///   - changesCard: whether the account gets a new card. Then all other passphrases leave: they open with the former
  ///     card alone.
  ///   - costs: of a passphrase.
  ///   - secret: opens a slot in force.
  ///   - progress: as of ``run(_:at:progress:)``.
  /// - Returns: how the run ended that told the others.
  /// - Throws: `SyncError.wrongSecret`, `.slotNotReadBack`, `.remote`, `.refused`; `Argon2idError`; else as a run.
  public func changeSlots(
    adding new: AccountSecret?, removing chosen: ([SlotView]) -> [SlotID],
    changesCard: Bool = false, costs: Argon2idParameters,
    with secret: AccountSecret, at remote: any Remote, progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> SyncReport {
    let slot = try openSlotAndPull(with: secret, at: remote, progress: progress)
    let newSecret = changesCard ? machine.randomSecret(AccountAddress.secretByteCount) : nil
    let prepared = try new.map {
      try NewSlot($0, urlSecret: newSecret ?? address().secret, costs: costs, machine: machine)
    }
    let removing = changesCard ? slots.filter { $0.kind == .passphrase }.map(\.id) : chosen(slots)
    var entries: [SlotEntry] = []
    if let prepared {
      guard let anchor = history.lastOperation else { throw SyncError.notThere }
      let (record, entry) = prepared.make(
        owner: slot.owner, account: account, anchor: anchor, at: now, machine: &machine)
      try prepared.writeAndReadBack(record, account, remote)
      entries = [entry]
    }
    let change: AccountChange =
      removing.isEmpty && newSecret == nil
      ? entries.first.map(AccountChange.addSlot) ?? .handOutKeys
      : .replaceSlots(removing: removing, adding: entries, urlSecret: newSecret)
    let outcome = try self.change(change, with: slot)
    guard outcome == .complete else { throw SyncError.refused(outcome) }
    if new?.isOwnPassphrase == true, let entry = entries.first { try noteEqualPassphrase(of: entry.id) }
    return try run(.sync, at: remote, progress: progress)
  }

  /// Notes that a passphrase of this coffer opens the account, if it does. Asks the remote nothing: what it knows is what
  /// this device knows.
  /// - Returns: whether it does.
  public func noteOwnPassphrase(_ secret: AccountSecret) throws -> Bool {
    try openKnownSlot(with: secret) != nil
  }

  /// Opens a slot, then gets what is new: a wrong passphrase is told before anything is asked for. If another device has
  /// replaced the slot meanwhile, the same secret may open the new one.
  /// - Throws: as `openSlot` and `pull`.
  func openSlotAndPull(
    with secret: AccountSecret, at remote: any Remote, progress: (SyncReport) -> Bool
  ) throws -> OpenedSlot {
    let slot = try openSlot(with: secret, at: remote)
    try pull(at: remote, progress: progress)
    return history.slots.contains { $0.id == slot.id } ? slot : try openSlot(with: secret, at: remote)
  }

  /// Gets what is new before a change of the account.
  /// - Throws: `SyncError.stopped`, `.remote`, `.refused` when that did not end well; else as a run.
  func pull(at remote: any Remote, progress: (SyncReport) -> Bool) throws {
    let before = try run(.sync, at: remote, progress: progress)
    guard before.outcome == .complete || before.outcome == .noSafeEpoch else {
      guard !before.isStopped else { throw SyncError.stopped }
      if let error = before.remoteError { throw SyncError.remote(error) }
      throw awaitsApproval ? SyncError.notApproved : .refused(before.outcome)
    }
  }
}

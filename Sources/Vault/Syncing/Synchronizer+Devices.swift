// SPDX-License-Identifier: Apache-2.0
//
// What a user decides about the devices of the account.

public import Enclaves
public import Histories
internal import Primitives
public import Remotes

extension Synchronizer {
  /// This device.
  public var device: DeviceID { history.device }

  /// All devices of the account, this one first.
  public var devices: [DeviceView] { history.devices }

  /// Which other devices removed what a run removed here; who removed most first.
  public func removals(in report: SyncReport) -> [DeviceRemovals] {
    history.removals(of: report.removed)
  }

  /// Which other devices removed what is in the trash here: what came in the last 30 days.
  public var recentRemovals: [DeviceRemovals] {
    let days: UInt64 = 30 * 86_400
    return history.removals(since: now > days ? now - days : 0)
  }

  /// Takes a device out of the account: what it sends from now on has no effect, and a new key begins that it does not get.
  /// What is new is got first, so that nothing of the device is lost that anybody has.
  ///
  /// - Parameters:
  ///   - device: another device.
  ///   - since: what came of it from then on does not count either, in seconds since 1970.
  ///     With it the remote need not answer.
  ///   - secret: opens a slot of the account.
  ///   - remote: where it is.
  ///   - progress: as of ``run(_:at:progress:)``.
  /// - Returns: how the run ended that told the others; if that was not complete, a later one tells them.
  /// - Throws: `SyncError.wrongSecret`, `.remote`, `.refused`; else as a run.
  public func revoke(
    _ device: DeviceID, since: Int64? = nil, with secret: AccountSecret, at remote: any Remote,
    progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> SyncReport {
    let slot: OpenedSlot
    do {
      slot = try openSlotAndPull(with: secret, at: remote, progress: progress)
    } catch let error as SyncError {
      guard since != nil, case .remote = error else { throw error }
      slot = try openSlot(with: secret, at: remote)
    }
    let heads = since.map { history.heads(of: device, before: UInt64(clamping: $0)) }
    let outcome = try change(.revoke([device], heads: heads), with: slot)
    guard outcome == .complete else { throw SyncError.refused(outcome) }
    return try run(.sync, at: remote, progress: progress)
  }

  /// What of a device that is here would have no effect, if it was revoked since a time.
  public func cutOff(of device: DeviceID, since: Int64) -> CutOff {
    history.cutOff(of: device, beyond: history.heads(of: device, before: UInt64(clamping: since)))
  }

  /// Whether something of a device that counts would have no effect, if it was revoked since a time.
  public func cutsOffMore(of device: DeviceID, since: Int64) -> Bool {
    history.cutsOff(of: device, beyond: history.heads(of: device, before: UInt64(clamping: since)))
  }

  /// The user says that what a device removed or replaced, and what is held here, is right.
  public func confirm(_ device: DeviceID) throws {
    try carryOut(.confirm(device, at: now))
    // A replacement that was held changes no row when it comes into force.
    try alone { try save([]) }
  }

  /// Gives this device a new identifier with new keys, and leaves the old one to whoever else has it, or to the
  /// revocation that took it out. What waits here, and what of the old one does not count, is said again.
  ///
  /// The new keys are in the keychain before anything is changed; one transaction then makes them this device's. If a
  /// process ends before that, nothing was changed; after it, the next run tells the others.
  ///
  /// - Parameters:
  ///   - secret: opens a slot of the account.
  ///   - enclave: makes the keys.
  ///   - name: what it is called from now on; nil: as before.
  ///   - remote: where the account is.
  ///   - choice: which continuation of the account is right, if it has several; nil for none of them.
  ///   - progress: as of ``run(_:at:progress:)``.
  /// - Returns: how the run ended that told the others.
  /// - Throws: `SyncError.wrongSecret`, `.remote`, `.refused`; `KeychainError`; else as a run.
  public func rejoin(
    with secret: AccountSecret, enclave: any Enclave, name: String? = nil, at remote: any Remote,
    choice: (OwnerForkView) throws -> ControlID? = { _ in nil },
    progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> SyncReport {
    let slot = try openSlot(with: secret, at: remote)
    let before = try run(.sync, at: remote, progress: progress)
    guard !before.isStopped else { throw SyncError.stopped }
    switch before.outcome {
    case .complete, .cloned, .revoked, .notMember, .noSafeEpoch: break
    default: throw before.remoteError.map { SyncError.remote($0) } ?? SyncError.refused(before.outcome)
    }
    let former = machine
    var outcome = try renew(in: enclave, name: name, with: slot)
    // Nobody else waits while the user chooses.
    if outcome == .ownerForked, try settleForks(with: slot, choice) {
      outcome = try renew(in: enclave, name: name, with: slot)
    }
    guard machine.keys.pair != former.keys.pair else { throw SyncError.refused(outcome) }
    let report = try run(.sync, at: remote, progress: progress)
    // Another process that rejoins after this has its keys where these were.
    try alone { try items.removeKeys(former.keys.pair) { _ in former.keys.enclave } }
    return report
  }

  /// Makes new keys, and lets this device go on with them under a new identifier; without that, nothing is changed. Nobody
  /// else writes meanwhile, who would make such keys too.
  private func renew(in enclave: any Enclave, name: String?, with slot: OpenedSlot) throws -> Outcome {
    try alone {
      let former = machine
      let pair = former.keys.pair.other
      // Of an attempt that ended early.
      try items.removeKeys(pair) { _ in enclave }
      let keys = try items.makeKeys(in: enclave, as: pair)
      let entry = DeviceEntry(
        id: DeviceID(beginningOf: machine.random(DeviceID.byteCount)), signingKey: keys.signing.publicKey,
        agreementKey: keys.agreement.publicKey, level: keys.level, name: name ?? history.deviceName,
        replaces: history.device)
      machine = DeviceMachine(keys: keys, contents: contents)
      let outcome = Result { try change(.rejoin(entry), with: slot) }
      if history.device != entry.id {
        machine = former
        try items.removeKeys(pair) { _ in enclave }
      }
      return try outcome.get()
    }
  }
}

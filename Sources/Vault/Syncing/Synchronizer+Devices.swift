// SPDX-License-Identifier: Apache-2.0
//
// What a user decides about the other devices of the account.

public import Histories
public import Remotes

extension Synchronizer {
  /// Takes a device out of the account: what it sends from now on has no effect, and a new key begins that it does not get.
  /// What is new is got first, so that nothing of the device is lost that anybody has.
  ///
  /// - Parameters:
  ///   - device: another device.
  ///   - secret: opens a slot of the account.
  ///   - remote: where it is.
  ///   - progress: as of ``run(_:at:progress:)``.
  /// - Returns: how the run ended that told the others; if that was not complete, a later one tells them.
  /// - Throws: `SyncError.wrongSecret`, `.remote`, `.refused`; else as a run.
  public func revoke(
    _ device: DeviceID, with secret: AccountSecret, at remote: any Remote,
    progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> SyncReport {
    let slot = try AccountLink.openSlot(at: remote, address(), with: secret)
    let before = try run(.sync, at: remote, progress: progress)
    guard before.outcome == .complete || before.outcome == .noSafeEpoch else {
      throw before.remoteError.map { SyncError.remote($0) } ?? SyncError.refused(before.outcome)
    }
    let outcome = try change(.revoke([device], heads: nil), with: slot)
    guard outcome == .complete else { throw SyncError.refused(outcome) }
    return try run(.sync, at: remote, progress: progress)
  }

  /// The user says that what a device removed or replaced, and what is held here, is right.
  public func confirm(_ device: DeviceID) throws { try carryOut(.confirm(device)) }
}

// SPDX-License-Identifier: Apache-2.0
//
// A coffer becomes a device of an account: it gets the log, enters itself with an opened slot, and takes everything. Two
// machines often have one host's name, so that a device may get another one than it asks for.

internal import Histories
internal import Remotes

extension Synchronizer {
  /// Gets the account's log, enters this device with an opened slot, and takes everything.
  /// - Parameter choice: which continuation of the account is right; nil for none of them.
  func join(
    with slot: OpenedSlot, at remote: any Remote,
    choice: (OwnerForkView) throws -> ControlID?, progress: (SyncReport) -> Bool
  ) throws -> SyncReport {
    let first = try run(.sync, at: remote, progress: progress)
    guard !first.isStopped else { throw SyncError.stopped }
    if let error = first.remoteError, first.outcome == .unreachable { throw SyncError.remote(error) }
    guard history.isThere else { throw SyncError.notThere }
    // Only a member may do this; the slot opens the log, which says what devices are called.
    _ = try change(.handOutKeys, with: slot)
    // What the other devices chose is in no log.
    try settleForks(with: slot, choice)
    let outcome = try change(.approve(history.deviceEntry.named(unlike: takenNames)), with: slot)
    guard outcome == .complete else { throw SyncError.refused(outcome) }
    return try run(.sync, at: remote, progress: progress)
  }
}

extension DeviceEntry {
  /// The same device; if its name is taken, with the first free number behind it: laptop-2.
  func named(unlike taken: [String]) -> DeviceEntry {
    guard taken.contains(name) else { return self }
    for number in 2... {
      let suffix = "-\(number)"
      var base = name
      while !DeviceEntry.isName(base + suffix), !base.isEmpty { base.removeLast() }
      guard !taken.contains(base + suffix) else { continue }
      return DeviceEntry(
        id: id, signingKey: signingKey, agreementKey: agreementKey, level: level, name: base + suffix,
        replaces: replaces)
    }
    return self
  }
}

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
    _ entry: DeviceEntry, with slot: OpenedSlot, at remote: any Remote,
    choice: (OwnerForkView) throws -> ControlID?, progress: (SyncReport) -> Bool
  ) throws -> SyncReport {
    takesLocalChanges = false
    let first = try run(.sync, at: remote, progress: progress)
    if let error = first.remoteError, first.outcome == .unreachable { throw SyncError.remote(error) }
    guard history.isThere else { throw SyncError.notThere }
    // Only a member may do this; the slot opens the log, which says what devices are called.
    _ = try change(.handOutKeys, with: slot)
    // What the other devices chose is in no log.
    while let fork = history.ownerFork, let branch = try choice(fork) {
      _ = try change(.settle(at: fork.at, on: branch), with: slot)
      guard history.ownerFork?.at != fork.at else { throw SyncError.refused(.ownerForked) }
    }
    let names = history.devices.filter { !$0.isRevoked }.map(\.name)
    let outcome = try change(.approve(entry.named(unlike: names)), with: slot)
    guard outcome == .complete else { throw SyncError.refused(outcome) }
    var report = try run(.sync, at: remote, progress: progress)
    guard report.outcome == .complete else { return report }
    takesLocalChanges = true
    let (newCount, changedCount) = (report.newCount, report.changedCount)
    report = try run(.sync, at: remote, progress: progress)
    report.newCount += newCount
    report.changedCount += changedCount
    return report
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

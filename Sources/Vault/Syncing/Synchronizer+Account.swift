// SPDX-License-Identifier: Apache-2.0
//
// Where the account is, and how a device comes into it.

public import Histories
internal import Remotes

extension Synchronizer {
  /// The account's name.
  public var account: AccountID { history.account }

  /// Where the account is, and what whoever joins it must have.
  /// - Throws: `KeychainError`.
  public func address() throws -> AccountAddress {
    AccountAddress(place: try items.place(), account: account, secret: try items.secret())
  }

  /// Gets the account's log, enters this device with an opened slot, and takes everything.
  func join(
    _ entry: DeviceEntry, with slot: OpenedSlot, at remote: any Remote, progress: (SyncReport) -> Bool
  ) throws -> SyncReport {
    takesLocalChanges = false
    let first = try run(.sync, at: remote, progress: progress)
    if let error = first.remoteError, first.outcome == .unreachable { throw SyncError.remote(error) }
    guard history.isThere else { throw SyncError.notThere }
    let outcome = try change(.approve(entry), with: slot)
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

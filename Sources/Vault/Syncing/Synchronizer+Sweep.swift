// SPDX-License-Identifier: Apache-2.0
//
// Deleting packs of which every content was removed or replaced long enough ago (Specs/sync.md, "Sweeping").

internal import Histories
public import Remotes

/// Packs that a sweep may delete.
public struct DeadPacks: Sendable {
  /// How many there are.
  public let count: Int
  /// The bytes of all of them.
  public let byteCount: Int

  init(_ requests: [Request], _ history: History) {
    let names = requests.compactMap { if case .delete(let name) = $0 { name } else { nil } }
    count = names.count
    byteCount = history.listedByteCount(of: names)
  }
}

extension Synchronizer {
  /// Gets what is new, sends what waits, and deletes packs whose contents nobody needs. What was deleted is gone for all
  /// devices.
  /// - Parameters:
  ///   - remote: where the account is, with the right to delete.
  ///   - allows: whether these packs may be deleted. It is not called when there are none.
  ///   - progress: called after each request; false stops, and another sweep goes on.
  /// - Returns: how it ended: with `Outcome.sweepRefused` while something is wrong or held, or the clocks differ. It is
  ///   complete, with nothing deleted, when `allows` said no.
  /// - Throws: as a run, and what `allows` throws.
  public func sweep(
    at remote: any Remote, allows: (DeadPacks) throws -> Bool, progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> SyncReport {
    var report = try run(.sweep, at: remote, deletes: allows, progress: progress)
    guard report.outcome == .complete else { return report }
    do {
      try JoinRequests(remote, address()).deleteVoid(at: now, known: Set(history.devices.map(\.id)))
    } catch SyncError.remote(let error) {
      report.outcome = .unreachable
      report.remoteError = error
    }
    return report
  }
}

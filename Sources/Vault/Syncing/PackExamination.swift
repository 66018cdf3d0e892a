// SPDX-License-Identifier: Apache-2.0
//
// Reading packs whole and comparing them with their names, which no list of a remote can stand for.

internal import Histories
public import Remotes

/// What was found in packs that were read.
public struct PackExamination: Sendable {
  /// Packs in which contents are looked for.
  public let packCount: Int
  /// Packs that were read.
  public internal(set) var readCount = 0
  /// Bytes in them.
  public internal(set) var byteCount = 0
  /// Packs that are not what their names say.
  public internal(set) var damagedCount = 0
  /// Packs that are not there.
  public internal(set) var absentCount = 0
  /// Whether it came to its end.
  public internal(set) var isComplete = false
}

extension Synchronizer {
  /// Whether anything of the account's control log is at a remote.
  /// - Throws: `SyncError.remote`.
  public func isThere(at remote: any Remote) throws -> Bool {
    var requests = RemoteRequests(remote, account: history.account, isReadOnly: true)
    guard case .listed(let objects, _) = requests.answer(.list(.control)) else {
      throw SyncError.remote(requests.lastError ?? .unreachable)
    }
    return !objects.isEmpty
  }

  /// Reads a share of the packs, others each time, and compares each with the hash in its name. The next run of purpose
  /// `verify` puts what is here of damaged ones into new packs.
  /// - Parameters:
  ///   - percent: 0 to 100; rounded up to whole packs.
  ///   - remote: where the account is.
  ///   - progress: called after each pack; false stops.
  /// - Throws: `SyncError.remote`.
  public func examinePacks(
    percent: Int, at remote: any Remote, progress: (SyncReport) -> Bool
  ) throws -> PackExamination {
    precondition(0...100 ~= percent, "a share has 0 to 100 percent")
    let packs = history.neededPacks
    var damaged: Set<ObjectHash> = []
    var examination = PackExamination(packCount: packs.count)
    let queue = RequestQueue(RemoteRequests(remote, account: history.account, isReadOnly: true))
    queue.add(packs.shuffled().prefix((packs.count * percent + 99) / 100).map(Request.get))
    var report = SyncReport(outcome: .unreachable)
    while case .get(.pack(_, let hash))? = queue.next {
      switch queue.answerNext() {
      case .got(let object):
        examination.byteCount += object.bytes.count
        guard object.hash != hash else { break }
        examination.damagedCount += 1
        damaged.insert(hash)
      case .missing:
        examination.absentCount += 1
        damaged.insert(hash)
      default: throw SyncError.remote(queue.lastError ?? .unreachable)
      }
      examination.readCount += 1
      report.requestCount = queue.count
      report.byteCount = queue.byteCount
      guard progress(report) else { return examination }
    }
    examination.isComplete = true
    note(damaged: damaged)
    return examination
  }
}

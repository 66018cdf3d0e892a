// SPDX-License-Identifier: Apache-2.0
//
// Contents out of packs, in the order in which their reader wants them. Contents that follow each other are in one pack
// mostly, which is got once; the packs of the next ones are asked for ahead.

internal import Histories
internal import Remotes
internal import Secrets

/// Reads contents out of packs, and asks a remote other things on the way.
struct PackReader {
  private let history: History
  /// For what nobody expected.
  private var requests: RemoteRequests
  private var ahead: RequestQueue
  /// The places in that queue at which packs are, the last one of each.
  private var places: [ObjectName: Int] = [:]
  private var last: (name: ObjectName, pack: OpenedPack?)?
  private var report = SyncReport(outcome: .unreachable)
  private let progress: (SyncReport) -> Bool

  /// - Parameters:
  ///   - expected: the contents that will be read, in this order; some may be left out.
  ///   - byteCount: of these contents, about; nil if nobody knows.
  ///   - progress: called after each request; false stops.
  init(
    _ history: History, _ remote: any Remote, expecting expected: [ContentName], byteCount: Int?,
    _ progress: @escaping (SyncReport) -> Bool
  ) {
    self.history = history
    self.progress = progress
    report.expectedByteCount = byteCount
    requests = RemoteRequests(remote, account: history.account, isReadOnly: true)
    ahead = RequestQueue(requests)
    var packs: [ObjectName] = []
    for content in expected {
      guard let pack = history.packs(holding: content).first, pack != packs.last else {
        continue
      }
      packs.append(pack)
      places[pack] = packs.count
    }
    ahead.add(packs.map(Request.get))
  }

  /// Asks for something that nobody expected.
  /// - Throws: `SyncError.remote`, `.stopped`.
  mutating func ask(_ request: Request) throws -> Answer { try told(requests.answer(request)) }

  /// - Throws: `SyncError.partMissing` when no pack has it; as ``ask(_:)``.
  mutating func read(_ content: ContentName) throws -> SharedSecretBytes {
    for name in history.packs(holding: content) {
      if last?.name != name {
        guard case .got(let object) = try get(name) else { continue }
        last = (name, history.opened(object, as: name))
      }
      if let pack = last?.pack, let frame = history.content(content, in: pack) { return frame }
    }
    throw SyncError.partMissing
  }

  private mutating func get(_ name: ObjectName) throws -> Answer {
    guard let place = places[name], place > ahead.count else { return try ask(.get(name)) }
    while true {
      let isWanted = ahead.next == .get(name)
      let answer = try told(ahead.answerNext())
      if isWanted { return answer }
    }
  }

  private mutating func told(_ answer: Answer) throws -> Answer {
    report.requestCount = requests.count + ahead.count
    report.byteCount = requests.byteCount + ahead.byteCount
    guard progress(report) else { throw SyncError.stopped }
    if case .failed = answer {
      throw SyncError.remote(ahead.lastError ?? requests.lastError ?? .unreachable)
    }
    return answer
  }
}

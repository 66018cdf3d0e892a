// SPDX-License-Identifier: Apache-2.0

import Foundation
import Histories
import Primitives
import Remotes
import Synchronization
import Testing

@testable import Syncing

@Suite("Requests that are under way at once")
struct RequestQueueTests {
  private let account = AccountID(beginningOf: [UInt8](repeating: 1, count: 16))

  private func packs(_ count: Int) -> [ObjectName] {
    (0..<count).map {
      .pack(DeviceID(beginningOf: [UInt8](repeating: 2, count: 16)), ObjectHash(hashing: [UInt8($0)]))
    }
  }

  private func queue(_ remote: any Remote) -> RequestQueue {
    RequestQueue(RemoteRequests(remote, account: account))
  }

  @Test(
    "Four reads are under way at once and no more, and answers come in the order of the requests",
    .timeLimit(.minutes(60)))
  func fourReads() throws {
    let remote = RecordingRemote(meeting: 4)
    let queue = queue(remote)
    let names = packs(12)
    queue.add(names.map { .get($0) })
    for name in names {
      #expect(queue.next == .get(name))
      guard case .got(let object) = queue.answerNext() else { return #expect(Bool(false), "no answer") }
      #expect(RecordingRemote.bytes("\(Hexadecimal.text(account.bytes))/\(name.path)") == object.bytes)
    }
    #expect(queue.next == nil && queue.count == 12 && queue.byteCount > 12)
    #expect(remote.mostAtOnce == 4)
  }

  @Test(
    "After one that was quick, packs are put four at once, and what names them comes after the last",
    .timeLimit(.minutes(60)))
  func fourPacks() throws {
    let remote = RecordingRemote(meeting: 4, alone: 1)
    let queue = queue(remote)
    let pack = [UInt8](repeating: 1, count: 1 << 20)
    queue.add(packs(6).map { .put($0, pack) } + [.put(.format, [3])])
    var putCounts: [Int] = []
    while queue.next != nil {
      guard case .done = queue.answerNext() else { return #expect(Bool(false), "no answer") }
      putCounts.append(remote.log.count)
    }
    #expect(putCounts[0] == 1, "the first goes alone")
    #expect(remote.mostAtOnce == 4 && remote.log.count == 7 && queue.byteCount == 6 * pack.count + 1)
  }

  @Test("On a slow line one pack goes after the other")
  func slowLine() {
    let (pack, four) = (16 << 20, RequestQueue.limit)
    // 1, 4 and 100 MiB a second, alone and with three others.
    for (seconds, limit) in [(16.0, 1), (4.0, four), (0.16, four)] {
      #expect(RequestQueue.putLimit(1, after: pack, in: .seconds(seconds), sharing: 1) == limit)
      #expect(RequestQueue.putLimit(four, after: pack, in: .seconds(4 * seconds), sharing: 4) == limit)
    }
    // A small one tells nothing.
    #expect(RequestQueue.putLimit(1, after: 1_000, in: .milliseconds(1), sharing: 1) == 1)
    #expect(RequestQueue.putLimit(four, after: 1_000, in: .seconds(9), sharing: 1) == four)
  }

  @Test("What writes waits until all before it is answered, and nothing after it is asked before")
  func writesAlone() throws {
    let remote = RecordingRemote()
    let queue = queue(remote)
    let names = packs(5)
    queue.add([.get(names[0]), .stat(names[1]), .put(.format, [1]), .get(names[3]), .delete(names[4])])
    var after: [Set<String>] = []
    while queue.next != nil {
      _ = queue.answerNext()
      after.append(remote.kinds)
    }
    #expect(after[1].isSubset(of: ["get", "stat"]))
    #expect(after[2] == ["get", "stat", "put"] && remote.log.last == "delete")
    #expect(remote.log.dropFirst(2) == ["put", "get", "delete"])
  }

  @Test("A read that fails is that request's answer alone, and its error is kept")
  func failure() throws {
    let names = packs(3)
    let failing = "\(Hexadecimal.text(account.bytes))/\(names[1].path)"
    let queue = queue(RecordingRemote(failing: failing))
    queue.add(names.map { .get($0) })
    var failed: [Bool] = []
    while queue.next != nil {
      if case .failed = queue.answerNext() { failed.append(true) } else { failed.append(false) }
    }
    #expect(failed == [false, true, false] && queue.lastError == .unreachable)
  }

  @Test("A queue that is given up waits for what is under way")
  func givenUp() throws {
    let remote = RecordingRemote()
    do {
      let queue = queue(remote)
      queue.add(packs(9).map { .get($0) })
      _ = queue.answerNext()
    }
    #expect(remote.underWay == 0 && (1...RequestQueue.limit).contains(remote.log.count))
  }
}

/// A remote that has every object, and notes how many requests are under way.
private final class RecordingRemote: Remote {
  private struct State {
    var log: [String] = []
    var underWay = 0
    var mostAtOnce = 0
  }

  private let state = Mutex(State())
  private let meeting: Int
  private let alone: Int
  private let failing: String?

  /// - Parameters:
  ///   - meeting: requests wait until so many are under way.
  ///   - alone: so many of the first do not.
  ///   - failing: an object that is not to be had.
  init(meeting: Int = 1, alone: Int = 0, failing: String? = nil) {
    self.meeting = meeting
    self.alone = alone
    self.failing = failing
  }

  static func bytes(_ name: String) -> [UInt8] { Array(name.utf8) }

  var log: [String] { state.withLock { $0.log } }
  var kinds: Set<String> { Set(log) }
  var underWay: Int { state.withLock { $0.underWay } }
  var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

  private func note<R>(_ kind: String, _ body: () throws(RemoteError) -> R) throws(RemoteError) -> R {
    let isAlone = state.withLock {
      $0.log.append(kind)
      $0.underWay += 1
      $0.mostAtOnce = max($0.mostAtOnce, $0.underWay)
      return $0.log.count <= alone
    }
    // Ends when enough came once; a queue that asks for one after the other runs into the test's time limit.
    while !isAlone, state.withLock({ $0.mostAtOnce < meeting }) { sched_yield() }
    defer { state.withLock { $0.underWay -= 1 } }
    return try body()
  }

  func list(_ folder: String, _ body: (RemoteObject) -> Void) throws(RemoteError) -> UInt64? {
    try note("list") { () throws(RemoteError) in nil }
  }
  func get(_ name: String, range: Range<Int>?) throws(RemoteError) -> [UInt8]? {
    try note("get") { () throws(RemoteError) in
      if name == failing { throw .unreachable }
      return Self.bytes(name)
    }
  }
  func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) {
    try note("put") { () throws(RemoteError) in }
  }
  func stat(_ name: String) throws(RemoteError) -> Int? {
    try note("stat") { () throws(RemoteError) in nil }
  }
  func delete(_ name: String) throws(RemoteError) {
    try note("delete") { () throws(RemoteError) in }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Couriers
import Foundation
import Glibc
import RemoteConformance
import Remotes
import S3Server
import Secrets
import Testing

@Suite("A service on the network as a remote")
struct CourierConformanceTests {
  @Test("It does what every remote does", arguments: RemoteConformance.allCases)
  func conformance(check: RemoteConformance) throws {
    let server = try S3Server()
    try check.run(on: try server.remote())
    #expect(server.keys == [])
  }

  @Test("Below a prefix it does so too, and sees nothing beside it")
  func prefix() throws {
    let server = try S3Server()
    for key in ["a/b/format", "a/b-c/format", "a/format", "format", "a/b/c d/../x"] { server.store(key, [1]) }
    let before = server.keys
    let remote = try server.remote(prefix: "a/b/c d")
    for check in [RemoteConformance.listing, .missing, .names, .deleting] { try check.run(on: remote) }
    #expect(try remote.list("").objects == [])
    #expect(server.keys == before)
  }

  @Test("A list of many objects comes page by page, each object once, with the server's dates")
  func pages() throws {
    let server = try S3Server()
    let names = (0..<2_500).map { "account/pack/\(100_000 + $0)" }
    for name in names { server.store(name, [1, 2]) }
    for name in ["account/pack/UPPER", "account/pack/.hidden", "account/"] { server.store(name, []) }
    let remote = try server.remote()
    for (pageCount, requestCount) in [(1_000, 3), (99, 26)] {
      server.change { $0.pageCount = pageCount }
      let before = server.requests.count
      let list = try remote.list("account")
      #expect(list.objects.map(\.name) == names)
      #expect(server.requests.count - before == requestCount)
      let now = UInt64(time(nil))
      #expect(list.time.map { now - 3_600...now + 100 ~= $0 } == true)
      #expect(list.objects.allSatisfy { $0.byteCount == 2 })
      #expect(list.objects.allSatisfy { $0.date.map { now - 3_600...now ~= $0 } == true })
    }
  }

  @Test("Connections are used again")
  func connections() throws {
    let server = try S3Server()
    let remote = try server.remote()
    for index in 0..<50 { try remote.put("account/slots/\(index)", [1]) }
    #expect(server.connectionCount == 1 && server.keys.count == 50)
  }

  @Test("Four requests are under way at once, and no more", .timeLimit(.minutes(60)))
  func fourAtOnce() throws {
    let server = try S3Server()
    let remote = try server.remote()
    let meeting = Meeting(count: 4)
    server.change { $0.onRequest = { _ in meeting.wait() } }
    let group = DispatchGroup()
    for index in 0..<20 {
      DispatchQueue(label: "asker \(index)").async(group: group) {
        #expect(throws: Never.self) { try remote.put("account/pack/\(index)", [2]) }
      }
    }
    group.wait()
    #expect(server.connectionCount == 4 && server.keys.count == 20)
  }

  @Test("A server that does not know ranges gives the part that was asked for")
  func withoutRanges() throws {
    let server = try S3Server()
    server.change { $0.knowsRanges = false }
    let remote = try server.remote()
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
    try remote.put("account/a", bytes)
    for range in [0..<1, 5..<70, 2_999_990..<3_000_010, 3_000_000..<3_000_001, 0..<3_000_000] {
      #expect(try remote.get("account/a", range: range) == Array(bytes[range.clamped(to: 0..<bytes.count)]))
    }
  }

  @Test("A longer object than ours is cut off, and has its length")
  func longObject() throws {
    let server = try S3Server()
    server.store("account/a", [UInt8](repeating: 7, count: RemoteObject.byteCountLimit + 3))
    let remote = try server.remote()
    #expect(try remote.stat("account/a") == RemoteObject.byteCountLimit + 3)
    #expect(try remote.get("account/a")?.count == RemoteObject.byteCountLimit)
    #expect(try remote.get("account/a", range: 0..<Int.max)?.count == RemoteObject.byteCountLimit)
    // The connection that was cut off is not used for another answer.
    #expect(try remote.get("account/b") == nil)
  }

  @Test("Without the server's time a list has no dates")
  func undated() throws {
    let server = try S3Server()
    server.store("account/a", [1])
    server.change { $0.hasDate = false }
    let list = try server.remote().list("")
    #expect(list.time == nil && list.objects == [RemoteObject(name: "account/a", byteCount: 1, date: nil)])
  }

  @Test("What a server lists late is there by its name")
  func lateLists() throws {
    let server = try S3Server()
    server.change { $0.listsBefore = 2 }
    let remote = try server.remote()
    try remote.put("account/a", [1])
    for _ in 0..<2 {
      #expect(try remote.list("").objects == [])
      #expect(try remote.stat("account/a") == 1)
    }
    #expect(try remote.list("").objects.map(\.name) == ["account/a"])
  }
}

/// Threads wait here until there are enough of them.
private final class Meeting: @unchecked Sendable {
  private let condition = NSCondition()
  private let count: Int
  private var (waiting, round) = (0, 0)

  init(count: Int) { self.count = count }

  func wait() {
    condition.lock()
    defer { condition.unlock() }
    let own = round
    waiting += 1
    if waiting == count {
      (waiting, round) = (0, round + 1)
      condition.broadcast()
    }
    while round == own { condition.wait() }
  }
}

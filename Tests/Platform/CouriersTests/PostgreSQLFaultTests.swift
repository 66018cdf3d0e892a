// SPDX-License-Identifier: Apache-2.0
//
// A connection to a database that breaks: a request is made again, and objects stay whole.

import Couriers
import Dispatch
import Foundation
import PostgreSQLServer
import Remotes
import Testing

@Suite("A database that goes away", .enabled(if: PostgreSQLServer.isInstalled, PostgreSQLServer.absence))
struct PostgreSQLFaultTests {
  private static let bytes = (0..<400).map { UInt8(truncatingIfNeeded: $0 &* 7) }
  private let server: PostgreSQLServer

  init() throws { server = try PostgreSQLServer.shared.get() }

  @Test("A connection that is cut at any byte of a request or its answer is made again, and nothing is torn")
  func cutRequests() throws {
    let proxy = try CuttingProxy(to: server.port)
    let remote = try courierRemote(server.place(port: proxy.port))
    let name = "cut/\(UInt32.random(in: 0...UInt32.max))/a"
    try remote.put(name, Self.bytes)
    defer { try? remote.delete(name) }
    let requests: [(Int, () throws -> Void)] = [
      (700, { try remote.put(name, Self.bytes) }),
      (200, { () throws in #expect(try remote.get(name) == Self.bytes) }),
      (200, { () throws in #expect(try remote.list("cut").objects.map(\.name).contains(name)) }),
      (200, { () throws in #expect(try remote.stat(name) == Self.bytes.count) }),
    ]
    for (byteCount, request) in requests {
      // The statements are prepared by then.
      try request()
      for isToServer in [true, false] {
        for count in stride(from: 0, to: isToServer ? byteCount : 500, by: 29) {
          proxy.cut([.init(isToServer: isToServer, byteCount: count)])
          try request()
        }
      }
    }
    proxy.cut([])
    #expect(try server.sql("SELECT count(*) FROM coffer.object WHERE name LIKE 'cut/%'") == "1\n")
  }

  @Test("So is one that is cut while it is made, also several times")
  func cutLogins() throws {
    let proxy = try CuttingProxy(to: server.port)
    let remote = try courierRemote(server.place(port: proxy.port))
    let name = "cut-logins/a"
    try remote.put(name, Self.bytes)
    defer { try? remote.delete(name) }
    for isToServer in [true, false] {
      for count in stride(from: 0, to: 1_200, by: 61) {
        proxy.cut([.init(isToServer: true, byteCount: 1), .init(isToServer: isToServer, byteCount: count)])
        #expect(try remote.get(name) == Self.bytes, "cut after \(count) bytes")
      }
    }
    // Six times in a row is too often; the next request tries again.
    proxy.cut((0..<8).map { _ in .init(isToServer: true, byteCount: 3) })
    #expect(throws: RemoteError.serviceUnreachable) { try remote.stat(name) }
    proxy.cut([])
    #expect(try remote.stat(name) == Self.bytes.count)
  }

  @Test("Several threads use several connections, and the server ends them all")
  func severalConnections() throws {
    try server.addUser("eve", in: "coffer_writer")
    let remote = try courierRemote(server.place(account: nil, user: "eve"))
    for round in 0..<3 {
      DispatchQueue.concurrentPerform(iterations: 8) { thread in
        #expect(throws: Never.self) { try remote.put("several/\(round)/\(thread)", [UInt8(thread)]) }
      }
      let ended = try server.sql(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'eve'")
      #expect(ended != "0\n")
    }
    #expect(try remote.list("several").objects.count == 24)
  }

  @Test(
    "A server that is killed comes back, and has every object that it acknowledged", .timeLimit(.minutes(60)))
  func killed() throws {
    let server = try PostgreSQLServer()
    let remote = try courierRemote(server.place())
    var acknowledged: [String: [UInt8]] = [:]
    for round in 0..<2 {
      for index in 0..<10 {
        let (name, bytes) = ("killed/\(round)/\(index)", [UInt8](repeating: UInt8(index), count: 20_000))
        try remote.put(name, bytes)
        acknowledged[name] = bytes
      }
      try server.kill9()
      #expect(throws: RemoteError.serviceUnreachable) { try remote.stat("killed/0/0") }
      try server.start()
      for (name, bytes) in acknowledged { #expect(try remote.get(name) == bytes) }
      #expect(try remote.list("killed").objects.count == acknowledged.count)
    }
  }
}

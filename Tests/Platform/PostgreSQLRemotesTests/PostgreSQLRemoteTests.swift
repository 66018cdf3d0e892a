// SPDX-License-Identifier: Apache-2.0
//
// What is asked of a database and what its answers become, without one: a transport that answers as told.

import CourierProtocol
import Primitives
import Remotes
import Secrets
import Synchronization
import Testing

@testable import PostgreSQLRemotes

private typealias Rows = [[[UInt8]?]]

/// Answers from a list, the last for ever, and keeps what was asked.
private final class ScriptedTransport: PostgreSQLTransport {
  private let answers: Mutex<[Result<Rows, PostgreSQLTransportError>]>
  private let asked = Mutex<[(PostgreSQLStatement, [[UInt8]])]>([])

  init(_ answers: [Result<Rows, PostgreSQLTransportError>]) { self.answers = Mutex(answers) }

  var requests: [(PostgreSQLStatement, [[UInt8]])] { asked.withLock { $0 } }

  func rows(
    _ statement: PostgreSQLStatement, _ parameters: [[UInt8]]
  ) throws(PostgreSQLTransportError) -> [[[UInt8]?]] {
    asked.withLock { $0.append((statement, parameters)) }
    return try answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }.get()
  }
}

private func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
  (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

@Suite("A table of PostgreSQL as a remote")
struct PostgreSQLRemoteTests {
  private func remote(_ transport: ScriptedTransport) -> PostgreSQLRemote {
    PostgreSQLRemote(
      account: "ada", transport: transport, retries: CourierRetries(firstSeconds: 1) { _ in true })
  }

  private func refused(_ state: String, _ constraint: String? = nil) -> Result<Rows, PostgreSQLTransportError>
  {
    .failure(.refused(state: state, constraint: constraint))
  }

  private func row(_ name: String) -> [[UInt8]?] {
    [number(1_000, 8), Array(name.utf8), number(7, 4), number(900, 8)]
  }

  @Test("An object is put with its hash, and a list asks for what is between two names")
  func parameters() throws {
    let transport = ScriptedTransport([.success([]), .success([[number(1_000, 8), nil, nil, nil]])])
    let remote = remote(transport)
    try remote.put("a/b", Array("hi".utf8))
    let put = try #require(transport.requests.last)
    #expect(put.0 == .put)
    #expect(
      put.1 == [
        Array("ada".utf8), Array("a/b".utf8), SHA256.hash(Array("hi".utf8).rawSpan), Array("hi".utf8),
      ])
    for (folder, continuation, after, before) in [
      ("", "", "", "{"), ("a/b", "", "a/b/", "a/b0"), ("a", "a/k", "a/k", "a0"),
    ] {
      let page = try remote.page(folder, continuation: continuation)
      #expect(page.objects.isEmpty && page.time == 1_000 && page.continuation == "")
      #expect(transport.requests.last?.1 == ["ada", after, before].map { Array($0.utf8) })
    }
  }

  @Test("A list goes on after the last name of a full page, and is refused when it goes back")
  func pages() throws {
    let names = (0...1_000).map { "a/\(10_000 + $0)" }
    let full = ScriptedTransport([.success(names.map(row))])
    let page = try remote(full).page("a", continuation: "")
    #expect(page.objects.map(\.name) == Array(names.dropLast()) && page.continuation == names[999])
    #expect(page.objects.first == RemoteObject(name: names[0], byteCount: 7, date: 900))
    for rows in [
      [row("a/b"), row("a/b")], [row("a/c"), row("a/b")], [row("a/")], [],
      [[nil, Array("a/b".utf8), nil, nil]],
      [[number(1, 8), Array("a/b".utf8), nil, number(1, 8)]], [[]],
      [[number(1, 8), Array("a/b".utf8), number(-1, 4), number(1, 8)]],
      names.map { _ in [number(1, 8)] }, [row("a/b"), [number(1, 8), nil, nil, nil]],
    ] as [Rows] {
      #expect(throws: RemoteError.invalidAnswer, "\(rows)") {
        try remote(ScriptedTransport([.success(rows)])).page("a", continuation: "")
      }
    }
  }

  @Test("A range is asked for as far as objects go, and more than was asked for is refused")
  func ranges() throws {
    let limit = RemoteObject.byteCountLimit
    for (range, start, count) in [
      (nil, 1, limit), (0..<0, 1, 0), (5..<9, 6, 4), (7..<Int.max, 8, limit),
      (Int.max - 1..<Int.max, limit + 1, 1),
    ] as [(Range<Int>?, Int, Int)] {
      let transport = ScriptedTransport([.success([[[]]])])
      #expect(try remote(transport).get("a", range: range) == [])
      #expect(transport.requests.first?.1.suffix(2) == [number(start, 4), number(count, 4)])
    }
    #expect(throws: RemoteError.invalidAnswer) {
      try remote(ScriptedTransport([.success([[[1, 2]]])])).get("a", range: 0..<1)
    }
    #expect(throws: RemoteError.invalidAnswer) { try remote(ScriptedTransport([.success([[nil]])])).get("a") }
    #expect(try remote(ScriptedTransport([.success([])])).get("a") == nil)
  }

  @Test(
    "Errors that last are said at once, with what the user can do about them",
    arguments: [
      ("28P01", nil, .refused(.permission)), ("28000", nil, .refused(.permission)),
      ("42501", nil, .refused(.permission)), ("25006", nil, .refused(.readOnly)),
      ("3D000", nil, .refused(.unprepared)), ("42P01", nil, .refused(.unprepared)),
      ("42704", nil, .refused(.unprepared)), ("42703", nil, .refused(.unprepared)),
      ("53100", nil, .full), ("53400", nil, .full), ("XX001", nil, .inputOutput(code: 5)),
      ("58030", nil, .inputOutput(code: 5)), ("XX000", nil, .invalidAnswer), ("22023", nil, .invalidAnswer),
      ("23514", "name_has_hash", .refused(.name)), ("23514", "name_is_ours", .refused(.name)),
      ("23514", "body_is_short", .refused(.tooLarge)), ("23514", "other", .invalidAnswer),
    ] as [(String, String?, RemoteError)])
  func lasting(state: String, constraint: String?, error: RemoteError) {
    let transport = ScriptedTransport([refused(state, constraint)])
    #expect(throws: error) { try remote(transport).put("a", [1]) }
    #expect(transport.requests.count == 1)
  }

  @Test(
    "Errors that pass are not seen",
    arguments: [
      ("57P01", nil), ("57P03", nil), ("57014", nil), ("53300", nil), ("53200", nil), ("40001", nil),
      ("40P01", nil), ("08006", nil), ("55P03", nil), ("23514", "body_has_hash"),
    ] as [(String, String?)])
  func passing(state: String, constraint: String?) throws {
    let five = Array(repeating: refused(state, constraint), count: 5)
    let transport = ScriptedTransport(five + [.success([])])
    try remote(transport).put("a", [1])
    #expect(transport.requests.count == 6)
    let six = ScriptedTransport(five + [refused(state, constraint)])
    #expect(throws: RemoteError.serviceUnreachable) { try remote(six).put("a", [1]) }
  }

  @Test("A server that was never reached is not waited for; one that answered is, whatever it said")
  func acquaintance() throws {
    let away = ScriptedTransport([.failure(.unreachable)])
    #expect(throws: RemoteError.serviceUnreachable) { try remote(away).stat("a") }
    #expect(away.requests.count == 1)
    for first in [.success([]), refused("42501")] as [Result<Rows, PostgreSQLTransportError>] {
      let transport = ScriptedTransport([first, .failure(.unreachable)])
      let remote = remote(transport)
      _ = try? remote.stat("a")
      #expect(throws: RemoteError.serviceUnreachable) { try remote.stat("a") }
      #expect(transport.requests.count == 7)
    }
    for (error, expected) in [
      (.interrupted, .serviceUnreachable), (.untrusted, .untrusted), (.invalid, .invalidAnswer),
    ] as [(PostgreSQLTransportError, RemoteError)] {
      #expect(throws: expected) { try remote(ScriptedTransport([.failure(error)])).stat("a") }
    }
  }

  @Test("Names that are not ours never reach the server")
  func names() throws {
    let transport = ScriptedTransport([.success([])])
    let remote = remote(transport)
    for name in ["", "A", "a/../b", "a'--", "a%"] {
      #expect(throws: RemoteError.refused(.name)) { try remote.put(name, [1]) }
      #expect(try remote.get(name) == nil && remote.stat(name) == nil)
      try remote.delete(name)
      if !name.isEmpty { #expect(try remote.page(name, continuation: "").objects.isEmpty) }
    }
    #expect(transport.requests.isEmpty)
  }

  @Test("A pin is SHA-256 of the key, in base64")
  func pins() {
    // SHA-256 of "hi".
    let pin = "sha256//j0NDRmSPa5bfid2pAcUXaxCm2Dlh3TwayItZstwyeqQ="
    #expect(ServerPin.isMet(pin, by: Array("hi".utf8)))
    #expect(!ServerPin.isMet(pin, by: Array("ho".utf8)) && !ServerPin.isMet(pin, by: []))
    #expect(!ServerPin.isMet("", by: []))
  }
}

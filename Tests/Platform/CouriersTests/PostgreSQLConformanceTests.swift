// SPDX-License-Identifier: Apache-2.0

import Couriers
import Foundation
import PostgreSQLServer
import RemoteConformance
import Remotes
import Testing

@Suite("PostgreSQL as a remote", .enabled(if: PostgreSQLServer.isInstalled, PostgreSQLServer.absence))
struct PostgreSQLConformanceTests {
  private let server: PostgreSQLServer

  init() throws { server = try PostgreSQLServer.shared.get() }

  @Test("It does what every remote does", arguments: RemoteConformance.allCases)
  func conformance(check: RemoteConformance) throws { try check.run(on: try courierRemote(server.place())) }

  @Test("A list of many objects comes page by page, each object once, with the server's dates")
  func pages() throws {
    let remote = try courierRemote(server.place())
    try server.sql(
      """
      INSERT INTO coffer.object (account, name, hash, body)
      SELECT 'ada', 'pages/p/' || n, sha256('ab'), 'ab' FROM generate_series(10000, 12499) AS n
      """)
    defer { _ = try? server.sql("DELETE FROM coffer.object WHERE name LIKE 'pages/%'") }
    let list = try remote.list("pages")
    #expect(list.objects.map(\.name) == (10_000..<12_500).map { "pages/p/\($0)" })
    let now = UInt64(time(nil))
    #expect(list.time.map { now - 3_600...now + 100 ~= $0 } == true)
    #expect(list.objects.allSatisfy { $0.byteCount == 2 && $0.date.map { now - 3_600...now ~= $0 } == true })
    // A folder whose name goes on is not in it.
    try remote.put("pages-b/p/10000", [1])
    defer { try? remote.delete("pages-b/p/10000") }
    #expect(try remote.list("pages").objects.count == 2_500)
    #expect(try remote.list("pages/p/1").objects.isEmpty)
  }

  @Test("A check finds what each role may do, and the server's clock")
  func check() throws {
    for (user, mayDelete) in [("ada", false), ("ada_sweeper", true)] {
      let remote = try courierRemote(server.place(user: user))
      let check = try RemoteCheck.run(on: remote, now: { UInt64(time(nil)) }, pause: { _ in })
      #expect(check?.faults == [] && check?.mayDelete == mayDelete && check?.listDelay == .zero)
      #expect(check?.clockLead.map { -300...300 ~= $0 } == true)
    }
    _ = try server.sql("DELETE FROM coffer.object WHERE name LIKE 'check/%'")
  }

  @Test("The last object that was put under a name is read, also one that was there before")
  func overwriting() throws {
    let remote = try courierRemote(server.place())
    for bytes in [[1], [2], [1], [3], [2]] as [[UInt8]] {
      try remote.put("overwriting/a", bytes)
      #expect(try remote.get("overwriting/a") == bytes)
    }
    #expect(try remote.list("overwriting").objects.count == 1)
    try remote.delete("overwriting/a")
    #expect(try remote.list("overwriting").objects.isEmpty && remote.get("overwriting/a") == nil)
  }

  @Test("The largest object passes, whole and in part")
  func largest() throws {
    let remote = try courierRemote(server.place())
    let bytes = [UInt8](repeating: 0xA5, count: RemoteObject.byteCountLimit - 3) + [1, 2, 3]
    try remote.put("largest/a", bytes)
    defer { try? remote.delete("largest/a") }
    #expect(try remote.get("largest/a") == bytes)
    let end = bytes.count - 5..<bytes.count + 5
    #expect(try remote.get("largest/a", range: end) == [0xA5, 0xA5, 1, 2, 3])
  }

  @Test("A body that was torn is refused, and so is one with another hash than its name has")
  func torn() throws {
    let remote = try courierRemote(server.place())
    let name = "torn/slots/" + String(repeating: "ab", count: 32)
    #expect(throws: RemoteError.refused(.name)) { try remote.put(name, [1]) }
    #expect(throws: RemoteError.refused(.name)) {
      try remote.put("torn/control/0000000000000001-" + String(repeating: "ab", count: 32), [1])
    }
    #expect(throws: (any Error).self) {
      try server.sql(
        "INSERT INTO coffer.object (account, name, hash, body) VALUES ('ada', 'torn/a', sha256('abc'), 'ab')")
    }
    #expect(try remote.list("torn").objects.isEmpty)
    // SHA-256 of "hi".
    let right = "torn/slots/8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"
    try remote.put(right, Array("hi".utf8))
    defer { try? remote.delete(right) }
    #expect(try remote.get(right) == Array("hi".utf8))
  }

  @Test("What rotted in the table is put back by a device, which cannot change anything else")
  func rotten() throws {
    let remote = try courierRemote(server.place(account: nil, user: "ada"))
    try remote.put("rotten/a", Array("hi".utf8))
    defer { _ = try? server.sql("DELETE FROM coffer.object WHERE name LIKE 'rotten/%'") }
    let date = try server.sql("SELECT created FROM coffer.object WHERE name = 'rotten/a'")
    try server.sql(
      """
      BEGIN;
      ALTER TABLE coffer.object DROP CONSTRAINT body_has_hash;
      UPDATE coffer.object SET body = 'ho' WHERE name = 'rotten/a';
      ALTER TABLE coffer.object ADD CONSTRAINT body_has_hash CHECK (sha256(body) = hash) NOT VALID;
      COMMIT;
      """)
    #expect(try remote.get("rotten/a") == Array("ho".utf8))
    try remote.put("rotten/a", Array("hi".utf8))
    #expect(try remote.get("rotten/a") == Array("hi".utf8))
    #expect(try server.sql("SELECT created FROM coffer.object WHERE name = 'rotten/a'") == date)
    for change in [
      "created = now()", "body = 'ho'", "hash = sha256('ho')", "name = 'rotten/b'", "number = 1",
    ] {
      #expect(throws: (any Error).self, "\(change)") {
        try server.sql("SET ROLE ada; UPDATE coffer.object SET \(change) WHERE name = 'rotten/a'")
      }
    }
    #expect(throws: (any Error).self) {
      try server.sql(
        """
        SET ROLE ada;
        INSERT INTO coffer.object (account, name, hash, body, created)
        VALUES ('ada', 'rotten/c', sha256('c'), 'c', '2000-01-01')
        """)
    }
    // Nor is it the beginning of a transaction that waits.
    let isLater = try server.sql(
      """
      SET ROLE ada;
      BEGIN;
      DO $$ BEGIN PERFORM pg_sleep(0.2); END $$;
      INSERT INTO coffer.object (account, name, hash, body) VALUES ('ada', 'rotten/d', sha256('d'), 'd');
      SELECT created - now() >= interval '0.2 s' FROM coffer.object WHERE name = 'rotten/d';
      ROLLBACK;
      """)
    #expect(isLater.trimmingCharacters(in: .whitespacesAndNewlines) == "t")
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// What a database does not let a device do, and what is said then; and whom the courier trusts.

import Couriers
import Foundation
import PostgreSQLServer
import Remotes
import Testing

@Suite("A database that refuses", .enabled(if: PostgreSQLServer.isInstalled, PostgreSQLServer.absence))
struct PostgreSQLRefusalTests {
  private let server: PostgreSQLServer

  init() throws { server = try PostgreSQLServer.shared.get() }

  private func expect(_ error: RemoteError, _ place: PostgreSQLPlace, line: Int = #line) throws {
    let remote = try courierRemote(place)
    let location = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
    #expect(throws: error, sourceLocation: location) { try remote.put("refused/a", [1]) }
    #expect(throws: error, sourceLocation: location) { try remote.list("") }
  }

  @Test("A wrong password, an unknown user, and a database, an account or a table that is missing")
  func refused() throws {
    try expect(.refused(.permission), server.place(password: "wrong"))
    try expect(.refused(.permission), server.place(user: "nobody"))
    try expect(.refused(.unprepared), server.place(database: "missing"))
    try expect(.refused(.unprepared), server.place(account: "missing"))
    try expect(.refused(.unprepared), server.place(account: "-"))
    // A database without the table.
    try expect(.refused(.unprepared), server.place(database: "postgres"))
  }

  @Test("What is not a server of PostgreSQL, or nobody at all")
  func others() throws {
    let server = self.server
    let greeter = try LoopbackListener { connection in
      connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
      connection.awaitEnd()
    }
    try expect(.invalidAnswer, server.place(isEncrypted: true, port: greeter.port, pin: server.pin))
    try expect(.invalidAnswer, server.place(port: greeter.port))
    try expect(.serviceUnreachable, server.place(port: PostgreSQLServer.freePort()))
  }

  @Test("Rows of another role are neither seen nor made, and a member of a role has that role's rows")
  func tenants() throws {
    for (name, groups) in [("bea", "coffer_writer"), ("bea_phone", "bea")] {
      try server.addUser(name, in: groups)
    }
    let bea = try courierRemote(server.place(account: nil, user: "bea"))
    let phone = try courierRemote(server.place(account: "bea", user: "bea_phone"))
    let ada = try courierRemote(server.place())
    try bea.put("tenants/a", [1])
    try ada.put("tenants/b", [2])
    #expect(try phone.list("tenants").objects.map(\.name) == ["tenants/a"])
    #expect(try bea.get("tenants/b") == nil && ada.get("tenants/a") == nil)
    // One name for two roles is two objects.
    try phone.put("tenants/b", [3])
    #expect(try ada.get("tenants/b") == [2] && bea.get("tenants/b") == [3])
    // With another role's name in the place.
    let thief = try courierRemote(server.place(account: "ada", user: "bea"))
    #expect(try thief.list("").objects.isEmpty)
    #expect(try thief.get("tenants/b") == nil)
    #expect(throws: RemoteError.refused(.permission)) { try thief.put("tenants/c", [1]) }
    #expect(throws: RemoteError.refused(.permission)) { try thief.put("tenants/b", [2]) }
    #expect(try ada.list("tenants").objects.map(\.name) == ["tenants/b"])
    try ada.delete("tenants/b")
  }

  @Test("A device does not delete")
  func deleting() throws {
    let device = try courierRemote(server.place(account: nil, user: "ada"))
    try device.put("deleting/a", [1])
    #expect(throws: RemoteError.refused(.permission)) { try device.delete("deleting/a") }
    #expect(try device.get("deleting/a") == [1])
    try courierRemote(server.place()).delete("deleting/a")
    #expect(try device.get("deleting/a") == nil)
  }

  @Test(
    "Names of roles and databases that need quotes, and a password with any character, are taken as they are")
  func oddNames() throws {
    let (role, database) = ("Mixed \"Case\"; DROP ä", "Data 'base'/x")
    try server.addUser(role, in: "coffer_writer")
    let quoted = database.replacing("\"", with: "\"\"")
    try server.sql("CREATE DATABASE \"\(quoted)\"", database: "postgres")
    // It may be run again.
    for _ in 1...2 { try server.sql(RemotePolicy.postgreSQL, database: database) }
    let place = try server.place(database: database, account: nil, user: role)
    let url = RemotePlace.postgreSQL(place).url()
    let read = try url.withBytes { try RemotePlace(url: $0) }
    guard case .postgreSQL(let read) = read else { throw RemotePlaceError.scheme }
    let remote = try courierRemote(read)
    try remote.put("odd/a", [1])
    #expect(try remote.list("").objects.map(\.name) == ["odd/a"])
    #expect(try server.sql("SELECT account FROM coffer.object", database: database).contains("Mixed"))
  }

  @Test("Rights that are withdrawn are missed at the next request, and are back when they are given back")
  func withdrawn() throws {
    try server.addUser("cyd", in: "coffer_writer")
    let remote = try courierRemote(server.place(account: nil, user: "cyd"))
    try remote.put("withdrawn/a", [1])
    try server.sql("REVOKE coffer_writer FROM cyd")
    #expect(throws: RemoteError.refused(.permission)) { try remote.put("withdrawn/b", [1]) }
    #expect(throws: RemoteError.refused(.permission)) { try remote.list("") }
    try server.sql("GRANT coffer_writer TO cyd")
    try remote.put("withdrawn/b", [1])
    // A password counts at the next login.
    try server.sql(
      """
      ALTER ROLE cyd PASSWORD 'another';
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'cyd'
      """)
    #expect(throws: RemoteError.refused(.permission)) { try remote.stat("withdrawn/a") }
    try server.sql("ALTER ROLE cyd PASSWORD '\(PostgreSQLServer.password)'")
    #expect(try remote.stat("withdrawn/a") == 1)
    try server.sql("ALTER ROLE cyd NOLOGIN; ALTER ROLE cyd SET default_transaction_read_only = on")
    #expect(throws: RemoteError.refused(.permission)) {
      try courierRemote(server.place(account: nil, user: "cyd")).list("")
    }
    try server.sql("ALTER ROLE cyd LOGIN")
    let reader = try courierRemote(server.place(account: nil, user: "cyd"))
    #expect(try reader.get("withdrawn/a") == [1])
    #expect(throws: RemoteError.refused(.readOnly)) { try reader.put("withdrawn/c", [1]) }
  }

  // MARK: TLS

  @Test("The pinned key is trusted, whatever the certificate says; another key is not")
  func pinned() throws {
    for host in ["127.0.0.1", "localhost"] {
      let remote = try courierRemote(server.place(isEncrypted: true, host: host, pin: server.pin))
      try remote.put("pinned/a", [1])
      #expect(try remote.get("pinned/a") == [1])
      #expect(
        try server.sql("SELECT count(*) > 0 FROM pg_stat_ssl WHERE ssl").trimmingCharacters(in: .newlines)
          == "t")
      try remote.delete("pinned/a")
    }
    let other = "sha256//" + String(repeating: "A", count: 43) + "="
    try expect(.untrusted, server.place(isEncrypted: true, user: "unsaid", pin: other))
    // It did not come to a login: the user was not named.
    #expect(try !server.log().contains("unsaid"))
    try expect(.refused(.permission), server.place(isEncrypted: true, user: "unsaid", pin: server.pin))
    #expect(try server.log().contains("unsaid"))
  }

  @Test("Without a pin, a certificate that no authority vouches for is not trusted")
  func unknownAuthority() throws {
    try expect(.untrusted, server.place(isEncrypted: true))
    try expect(.untrusted, server.place(isEncrypted: true, host: "localhost"))
  }
}

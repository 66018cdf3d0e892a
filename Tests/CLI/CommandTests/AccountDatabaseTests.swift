// SPDX-License-Identifier: Apache-2.0
//
// Two devices and a database of PostgreSQL between them, by the commands alone.

import Foundation
import PostgreSQLServer
import Remotes
import Testing

@Suite(
  "The account at a database", .enabled(if: PostgreSQLServer.isInstalled, PostgreSQLServer.absence))
struct AccountDatabaseTests {
  @Test("An account is made, restored and kept equal there; rights that are withdrawn are said with 11")
  func bothWays() throws {
    let server = try PostgreSQLServer.shared.get()
    try server.addUser("household", in: "coffer_writer")
    let devices = try TwoDevices(messages: ["Lease"], hasAccount: false)
    func write(_ place: PostgreSQLPlace) throws {
      let url = RemotePlace.postgreSQL(place).url()
      let bytes = url.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
      try devices.place.write(String(decoding: bytes, as: UTF8.self) + "\n", to: "url")
      let file = devices.place.folder.appending(path: "url").path()
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    }
    let add = ["remote", "add", "--url-file", "url", "--name", "laptop", "--phrase-file", "words"]
    func refuse(_ run: Place.Outcome, _ code: String) {
      #expect(run.status == 11 && run.error.contains("\"code\":\"\(code)\""), "\(run)")
      for word in ["household", PostgreSQLServer.password, "p%2Fa", "127.0.0.1"] {
        #expect(!run.error.contains(word), "\(run)")
      }
    }

    try write(server.place(account: nil, user: "household", password: "wrong"))
    refuse(try devices.first(add + ["--json"]), "remote_refused")
    try write(server.place(database: "postgres", account: nil, user: "household"))
    let unprepared = try devices.first(add + ["--json"])
    refuse(unprepared, "remote_refused")
    #expect(unprepared.error.contains("coffer remote policy postgresql"), "\(unprepared)")
    #expect(try devices.first(["remote", "show"]).status == 6)

    try write(server.place(account: nil, user: "household"))
    let added = try devices.first(add)
    #expect(added.status == 0, "\(added)")
    #expect(added.error.contains("At postgresql://127.0.0.1:\(server.port)/coffer?tls=off now"), "\(added)")
    #expect(try devices.first(["remote", "card", "--out", "card"]).status == 0)
    let restored = try devices.restore()
    #expect(restored.status == 0 && restored.error.contains("1 message restored."), "\(restored)")
    #expect(try devices.second(["message", "add", "--title", "Boat"], input: "b").status == 0)
    let lists = try devices.lists()
    #expect(lists.0 == lists.1 && lists.0.contains("Boat") && lists.0.contains("Lease"), "\(lists)")

    #expect(try devices.first(["message", "add", "--title", "Third"], input: "3").status == 0)
    try server.sql("REVOKE coffer_writer FROM household")
    refuse(try devices.first(["sync", "--json"]), "remote_refused")
    #expect(try devices.first(["list"]).output.contains("Third"))
    try server.sql("GRANT coffer_writer TO household")
    let after = try devices.lists()
    #expect(after.0 == after.1 && after.0.contains("Third"), "\(after)")
    let verified = try devices.first(["remote", "verify", "--read", "100"])
    #expect(verified.status == 0, "\(verified)")
  }

  @Test("The policies are printed; a URL of a database is no argument")
  func policies() throws {
    let place = try Place()
    let sql = try place.run(["remote", "policy", "postgresql"])
    #expect(sql.status == 0 && sql.output == RemotePolicy.postgreSQL + "\n")
    let json = try place.run(["remote", "policy", "s3", "photos/a"])
    #expect(try json.status == 0 && json.output == RemotePolicy.s3(bucket: "photos", prefix: "a") + "\n")
    for (words, status) in [
      (["s3"], 2), (["postgresql", "photos"], 2), (["mysql"], 2), (["s3", "p"], 7), (["s3", "photos/"], 7),
    ] as [([String], Int32)] {
      #expect(try place.run(["remote", "policy"] + words).status == status, "\(words)")
    }
    let argument = try place.run(["remote", "add", "postgresql://u:S3CR3T@example.org/d", "--json"])
    #expect(argument.status == 2 && !argument.error.contains("S3CR3T"), "\(argument)")
  }
}

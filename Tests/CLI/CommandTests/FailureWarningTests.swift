// SPDX-License-Identifier: Apache-2.0
//
// Messages that fail to open by the dozen and by the hundred: what the user and programs are told, from
// the command in which it happens to the examination that ends it.

import Foundation
import Testing

@Suite("Messages that do not open")
struct FailureWarningTests {
  private let place: Place
  private let pass: [String]

  /// A coffer with 110 messages.
  init() throws {
    place = try Place()
    try place.makeCoffer()
    pass = ["--passphrase-file", place.folder.path() + "/pass"]
    let folder = place.folder.appending(path: "messages")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for number in 1...110 { try place.write("message \(number)", to: "messages/\(number).txt") }
    let run = try place.run(["message", "import", "directory", folder.path()] + pass)
    try #require(run.status == 0, "\(run.error)")
  }

  private static let found = "data corruption detected; restore from backup"

  @Test("More than ten warn at once, then in every command, until an examination has named them")
  func warning() throws {
    try place.damageMessages(10)
    let few = try place.run(["message", "list"] + pass)
    #expect(few.status == 5 && !few.error.contains("warning"), "\(few.error)")
    try place.damageMessages(11)
    let list = try place.run(["message", "list"] + pass)
    #expect(list.status == 5)
    #expect(list.error.contains("warning: \(Self.found): 11 messages did not open\n"), "\(list.error)")

    // On a pipe, without remarks, and in JSON.
    let status = try place.run(["--quiet", "vault", "status"] + pass)
    #expect(status.status == 0)
    #expect(
      status.error == """
        warning: \(Self.found): 11 messages did not open
        hint: 'coffer doctor --deep' names the messages, and ends this warning

        """)
    let audit = try place.run(["--json", "audit"] + pass)
    #expect(audit.status == 0)
    #expect(audit.output.contains(#"{"count":11,"event":"failures_warned""#))
    #expect(
      audit.error == """
        {"warning":{"code":"messages_unreadable","count":11,"hint":"'coffer doctor --deep' names the messages, \
        and ends this warning","message":"\(Self.found): 11 messages did not open"}}

        """)
    let opened = try place.run(["status", "--json"] + pass)
    #expect(opened.output.contains(#""unexaminedFailures":11"#), "\(opened.output)")
    #expect(try place.run(["status"] + pass).output.contains("warning    11 messages did not open"))
    let recovery = try place.run(["recovery", "drill", "--phrase-file", place.folder.path() + "/words"])
    #expect(recovery.status == 0 && recovery.error.contains("warning: "))

    // A look that names no message ends nothing.
    #expect(try place.run(["doctor"] + pass).error.contains("warning: "))
    let deep = try place.run(["doctor", "--deep", "--json"] + pass)
    #expect(deep.status == 5)
    #expect(
      deep.output.contains("11 messages did not open since the last deep examination"), "\(deep.output)")
    let after = try place.run(["audit"] + pass)
    #expect(after.error.isEmpty && after.output.contains("failures looked at: 11"), "\(after.error)")
  }

  @Test("More than a hundred lock the vault: a session ends in words, a passphrase shows what happened")
  func lock() throws {
    let runtime = FileManager.default.temporaryDirectory.appending(path: "fw-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: runtime) }
    let environment = ["XDG_RUNTIME_DIR": runtime.path()]
    func run(_ arguments: [String]) throws -> Place.Outcome {
      try place.runProcess(arguments, environment: environment)
    }
    try #require(try run(["unlock"] + pass).status == 0)
    defer { _ = try? run(["lock", "--all"]) }
    try place.damageMessages(103)
    let list = try run(["message", "list"])
    #expect(list.status == 5)
    #expect(
      list.error.contains("\(Self.found): 103 messages did not open, and the vault has locked itself"),
      "\(list.error)")
    let commands = [
      ["message", "list"], ["message", "add", "-"], ["vault", "status"], ["capture", "list"],
    ]
    for command in commands {
      let refused = try run(["--json"] + command)
      #expect(refused.status == 3 && refused.output.isEmpty, "\(command)")
      #expect(refused.error.contains(#"{"error":{"code":"vault_locked""#), "\(refused.error)")
      #expect(refused.error.contains("more than 100 messages did not open within an hour"))
    }
    // Authentication opens it again, and forgets nothing.
    let unlocked = try run(["unlock"] + pass)
    #expect(unlocked.status == 0)
    #expect(
      unlocked.error.contains("warning: \(Self.found): 103 messages did not open\n"), "\(unlocked.error)")
    #expect(try run(["vault", "status"]).status == 0)
    let deep = try run(["doctor", "--deep"])
    #expect(deep.status == 5 && deep.output.contains("103 messages do not open"))
    let audit = try run(["audit"])
    #expect(audit.error.isEmpty)
    #expect(audit.output.contains("messages did not open, and the vault locked itself: 103"))
  }
}

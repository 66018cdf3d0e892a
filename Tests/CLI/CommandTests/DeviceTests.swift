// SPDX-License-Identifier: Apache-2.0
//
// What a user decides about the devices and slots of an account, from the command line.

import Foundation
import Testing

@Suite("Devices and slots of an account")
struct DeviceTests {
  @Test("What a revoked device removed comes back, quarantine lists it, and what it added can be taken in")
  func quarantine() throws {
    let devices = try TwoDevices(messages: ["Lease", "Boat"])
    #expect(try devices.restore().status == 0)
    #expect(try devices.first(["sync"]).status == 0)
    #expect(try devices.first(["sync", "quarantine"]).error == "No revocation has cut anything off.\n")
    for title in ["Lease", "Boat"] {
      #expect(try devices.second(["message", "remove", title, "--yes"]).status == 0)
    }
    #expect(try devices.second(["message", "add", "--title", "Plant"], input: "planted").status == 0)
    #expect(try devices.second(["sync"]).status == 0)
    #expect(try devices.first(["sync"]).status == 0)
    #expect(try devices.first(["list"]).output.contains("Lease") == false)

    #expect(try devices.first(["device", "revoke", "desktop", "--since", "soon", "--yes"]).status == 2)
    let revoked = try devices.first(["device", "revoke", "desktop", "--since", "2020-01-01", "--yes"])
    #expect(revoked.status == 0, "\(revoked)")
    #expect(revoked.error.contains("3 changes of it have no effect: 'coffer sync quarantine'"), "\(revoked)")
    let list = try devices.first(["list"]).output
    #expect(list.contains("Lease") && list.contains("Boat") && !list.contains("Plant"))
    #expect(
      try devices.first(["sync", "status"]).output.contains("cut off    3 changes of a revoked device"))

    let listed = try devices.first(["sync", "quarantine"]).output
    #expect(listed.split(separator: "\n").count == 3 && listed.contains("removed Boat"), "\(listed)")
    let answer = try devices.first(["sync", "quarantine", "--json"]).output
    #expect(answer.contains(#""isRevoked":true"#) && answer.contains(#""kind":"version""#), "\(answer)")
    let line = try #require(listed.split(separator: "\n").first { $0.hasSuffix("Plant") })
    let id = try #require(line.split(separator: " ").first)
    for (words, status): ([String], Int32) in [
      (["take"], 2), (["give", "1234"], 2), (["take", "abc"], 6), (["take", "00000000"], 6),
    ] {
      let refused = try devices.first(["sync", "quarantine"] + words)
      #expect(refused.status == status, "\(words): \(refused)")
    }
    let taken = try devices.first(["sync", "quarantine", "take", "all"])
    #expect(taken.status == 0 && taken.error == "1 message taken in; 'coffer sync' sends it.\n", "\(taken)")
    for words in [["take", "all"], ["take", String(id.suffix(12)), "all"]] {
      #expect(try devices.first(["sync", "quarantine"] + words).status == 6, "\(words)")
    }
    #expect(try devices.first(["show", "Plant"]).output.contains("planted"))
    #expect(try devices.first(["sync"]).error.contains("1 sent"))
    let audit = try devices.first(["audit", "--json"]).output
    let events = ["account_made", "device_revoked", "quarantine_taken"]
    #expect(events.allSatisfy(audit.contains), "\(audit)")
    #expect(try devices.second(["audit"]).output.contains("  account joined\n"))
  }

  @Test("A copied device says that it was copied, and goes on as a new one")
  func rejoin() throws {
    let devices = try TwoDevices(messages: ["Lease"])
    func copy(_ arguments: [String], input: String = "") throws -> Place.Outcome {
      try devices.first(["--home", "copy"] + arguments, input: input)
    }
    let folder = devices.place.folder
    try FileManager.default.copyItem(
      at: folder.appending(path: "coffer"), to: folder.appending(path: "copy"))
    #expect(try devices.first(["message", "add", "--title", "Here"], input: "h").status == 0)
    #expect(try copy(["message", "add", "--title", "There"], input: "t").status == 0)
    #expect(try devices.first(["sync"]).status == 0)
    let cloned = try copy(["sync"])
    #expect(cloned.status == 9 && cloned.error.contains("'coffer device rejoin'"), "\(cloned)")
    #expect(try copy(["device", "rejoin"]).status == 3)
    #expect(try copy(["device", "rejoin", "--yes", "--name", ""]).status == 2)
    let joined = try copy(["device", "rejoin", "--yes", "--name", "The copy"])
    #expect(joined.status == 0 && joined.error.contains("1 change sent again."), "\(joined)")
    let other = try devices.first(["sync", "--json"])
    #expect(other.status == 7 && other.error.contains("device_revoked"), "\(other)")
    let back = try devices.first(["device", "rejoin", "--yes", "--json"])
    #expect(back.status == 0 && back.output.contains(#""former":""#), "\(back)")
    #expect(try copy(["sync"]).status == 0)
    for list in [try devices.first(["list"]).output, try copy(["list"]).output] {
      #expect(["Lease", "Here", "There"].allSatisfy(list.contains), "\(list)")
    }
    let list = try devices.first(["device", "list"]).output
    #expect(list.split(separator: "\n").count == 3 && list.contains("revoked"), "\(list)")
    #expect(list.contains("The copy"), "\(list)")
    #expect(try copy(["audit"]).output.contains("  account joined again\n"))
  }

  @Test("A passphrase that was changed here is given to the account, and slots come and go")
  func slots() throws {
    let devices = try TwoDevices(messages: ["Lease"])
    try devices.place.write("Nine-Lanterns-Above-The-Weir-2026\n", to: "new")
    func run(_ arguments: [String]) throws -> Place.Outcome { try devices.place.run(arguments) }
    #expect(try !devices.first(["sync", "status"]).output.contains("passphrase"))
    let changed = try devices.first(["passphrase", "change", "--new-passphrase-file", "new"])
    #expect(changed.status == 0 && changed.error.contains("'coffer account passphrase'"), "\(changed)")
    let new = ["--passphrase-file", "new"]
    #expect(try run(["sync", "status"] + new).output.contains("passphrase the account has another one"))
    let refused = try run(["device", "rejoin", "--yes"] + new)
    #expect(refused.status == 4 && refused.error.contains("'coffer account passphrase'"), "\(refused)")

    let wrong = try run(["account", "passphrase", "--former-passphrase-file", "new"] + new)
    #expect(wrong.status == 4, "\(wrong)")
    let given = try run(["account", "passphrase", "--former-passphrase-file", "pass"] + new)
    #expect(given.status == 0 && given.error.contains("the former one no longer opens it"), "\(given)")
    let again = try run(["account", "passphrase"] + new)
    #expect(
      again.status == 0 && again.error == "The account opens with this passphrase already.\n", "\(again)")
    #expect(try !run(["sync", "status"] + new).output.contains("passphrase"))
    // Whoever restores needs the new one.
    let old = try devices.restore(["--card-file", "card", "--json"])
    #expect(old.status == 7 && old.error.contains("not_owner") && !devices.hasSecond, "\(old)")

    let added = try run(["slot", "add", "recovery", "--recovery-phrase-out", "words3"] + new)
    #expect(added.status == 0 && added.error.contains("'coffer account slots add words'"), "\(added)")
    let known = try run(["account", "slots", "add", "words", "--phrase-file", "words"] + new)
    #expect(known.status == 7 && known.error.contains("already"), "\(known)")
    let words = try run(["account", "slots", "add", "words", "--phrase-file", "words3"] + new)
    #expect(words.status == 0, "\(words)")
    let listed = try run(["account", "slots"] + new).output
    #expect(listed.split(separator: "\n").count == 3, "\(listed)")
    let json = try run(["account", "slots", "list", "--json"] + new).output
    let ids = json.matches(of: /"id":"([0-9a-f]{32})","kind":"([a-z]+)"/)
    let former = try #require(ids.first { $0.2 == "words" }).1
    #expect(try run(["account", "slots", "remove", "abc", "--yes"] + new).status == 6)
    #expect(try run(["account", "slots", "remove", String(former.prefix(8))] + new).status == 3)
    let removed = try run(["account", "slots", "remove", String(former.prefix(8)), "--yes"] + new)
    #expect(removed.status == 0, "\(removed)")
    for (file, status): (String, Int32) in [("words", 4), ("words3", 0)] {
      let drill = try run(["recovery", "drill", "--remote", "--phrase-file", file])
      #expect(drill.status == status || (file == "words" && drill.status == 7), "\(drill)")
    }
    let rest = try run(["account", "slots", "--json"] + new).output
      .matches(of: /"id":"([0-9a-f]{32})"/).map { String($0.1) }
    #expect(try run(["account", "slots", "remove", rest[0], "--yes", "--phrase-file", "words3"]).status == 0)
    let last = try run(["account", "slots", "remove", rest[1], "--yes", "--phrase-file", "words3", "--json"])
    #expect(last.status == 7 && last.error.contains("last_slot"), "\(last)")
    // Of what was refused there is no line.
    let audit = try run(["audit"] + new).output
    #expect(audit.matches(of: /what opens the account changed\n/).count == 4, "\(audit)")
  }

  @Test("Two continuations are shown and one is chosen, on each device")
  func settle() throws {
    let devices = try TwoDevices(messages: ["Lease"])
    #expect(try devices.restore().status == 0)
    #expect(try devices.first(["sync"]).status == 0)
    let nothing = try devices.first(["account", "settle"])
    #expect(nothing.status == 0 && nothing.error == "There is nothing to settle.\n", "\(nothing)")
    // Each adds words and removes the first slot, and does not hear of the other.
    let files = FileManager.default
    let (stick, other) = (devices.stick, devices.place.folder.appending(path: "other"))
    try files.copyItem(at: stick, to: other)
    func change(_ home: String) throws {
      let slots = try devices.first(["--home", home, "account", "slots", "--json"]).output
      let words = try #require(slots.firstMatch(of: /"id":"([0-9a-f]{32})","kind":"words"/)).1
      let removed = try devices.first(["--home", home, "account", "slots", "remove", String(words), "--yes"])
      #expect(removed.status == 0, "\(removed)")
    }
    try change("coffer")
    try files.moveItem(at: stick, to: devices.place.folder.appending(path: "away"))
    try files.moveItem(at: other, to: stick)
    try change("second")
    let away = devices.place.folder.appending(path: "away")
    for name in try files.subpathsOfDirectory(atPath: away.path())
    where !files.fileExists(atPath: stick.appending(path: name).path()) {
      try files.copyItem(at: away.appending(path: name), to: stick.appending(path: name))
    }
    let forked = try devices.first(["sync", "--json"])
    #expect(forked.status == 5 && forked.error.contains("owner_forked"), "\(forked)")
    let asked = try devices.first(["account", "settle"])
    #expect(asked.status == 3 && asked.output.contains("continuation 2"), "\(asked)")
    #expect(asked.output.contains("removed a slot: words"), "\(asked)")
    #expect(try devices.first(["account", "settle", "--branch", "3"]).status == 2)
    for home in ["coffer", "second"] {
      let chosen = try devices.first(["--home", home, "account", "settle", "--branch", "1", "--json"])
      #expect(chosen.status == 0 && chosen.output.contains(#""isChosen":true"#), "\(chosen)")
    }
    let (one, two) = try devices.lists()
    #expect(one == two && one.contains("Lease"))
  }

  @Test("A second device of one name gets a number; status has a line; a restore asks nothing in vain")
  func leftovers() throws {
    let devices = try TwoDevices(messages: ["Lease"])
    let restored = try devices.second([
      "remote", "restore", "--name", "laptop", "--recovery-phrase-out", "words2", "--card-file", "card",
    ])
    #expect(restored.error.contains("Devices: laptop-2, laptop."), "\(restored)")
    #expect(try devices.second(["status"]).output.contains("remote     complete "))
    #expect(try devices.second(["message", "add", "--title", "New"], input: "n").status == 0)
    #expect(try devices.second(["message", "remove", "Lease", "--yes"]).status == 0)
    let status = try devices.second(["status"])
    #expect(status.output.contains("remote     2 changes wait: 'coffer sync'; complete "), "\(status)")
    #expect(try devices.second(["status", "--json"]).output.contains(#""remote":{"lastComplete":""#))
    #expect(try devices.second(["status", "--json"]).output.contains(#""waiting":2"#))
    // Neither a card nor a passphrase is asked for.
    let twice = try devices.place.run(["--home", "second", "remote", "restore", "--json"])
    #expect(twice.status == 9 && twice.error.contains("has_remote"), "\(twice)")
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Two homes and one folder, as two devices and a stick.

import Foundation
import Testing

/// A coffer in `coffer` with an account in the folder `stick`, and a second home.
struct TwoDevices {
  let place: Place

  /// - Parameter hasAccount: whether the account is made, and its card in the file `card`.
  init(messages: [String] = [], hasAccount: Bool = true) throws {
    place = try Place()
    try place.makeCoffer()
    try FileManager.default.createDirectory(at: stick, withIntermediateDirectories: false)
    for title in messages {
      try #require(try first(["message", "add", "--title", title], input: "text of \(title)").status == 0)
    }
    guard hasAccount else { return }
    let added = try add()
    try #require(added.status == 0, "\(added.error)")
    try #require(try first(["remote", "card", "--out", "card"]).status == 0)
  }

  var stick: URL { place.folder.appending(path: "stick") }

  /// Runs on the first device, opened with its passphrase.
  func first(_ arguments: [String], input: String = "") throws -> Place.Outcome {
    try place.run(arguments + ["--passphrase-file", "pass"], input: input)
  }

  /// Runs on the second one.
  func second(_ arguments: [String], input: String = "") throws -> Place.Outcome {
    try first(["--home", "second"] + arguments, input: input)
  }

  func add(_ options: [String] = []) throws -> Place.Outcome {
    try first(
      ["remote", "add", "folder://\(stick.path())", "--name", "laptop", "--phrase-file", "words"] + options)
  }

  func restore(_ options: [String] = ["--card-file", "card"]) throws -> Place.Outcome {
    try second(["remote", "restore", "--name", "desktop", "--recovery-phrase-out", "words2"] + options)
  }

  var hasSecond: Bool {
    FileManager.default.fileExists(atPath: place.folder.appending(path: "second").path())
  }

  /// The lists of both devices after each has synchronised until nothing is left to do.
  func lists() throws -> (String, String) {
    for home in ["coffer", "second", "coffer", "second"] {
      let synced = try first(["--home", home, "sync"])
      #expect(synced.status == 0, "\(home): \(synced.error)")
    }
    return (
      try first(["message", "list", "--json"]).output, try second(["message", "list", "--json"]).output
    )
  }
}

@Suite("The account of several devices")
struct AccountTests {
  @Test("What is restored elsewhere is the same list, and each change travels both ways")
  func bothWays() throws {
    let devices = try TwoDevices(messages: ["Lease", "Boat"])
    let restored = try devices.restore()
    #expect(restored.status == 0, "\(restored.error)")
    #expect(restored.error.contains("2 messages restored.\nDevices: desktop, laptop.\n"), "\(restored.error)")
    let before = try devices.lists()
    #expect(before.0 == before.1 && before.0.contains("Lease"))
    // Nothing to do is not worth a word.
    #expect(try devices.first(["sync"]).error == "")

    let steps: [(String, (TwoDevices) throws -> Place.Outcome)] = [
      ("\"title\":\"Lease 2026\"", { try $0.second(["message", "set", "Lease", "--title", "Lease 2026"]) }),
      ("\"tags\":[\"home\"]", { try $0.first(["message", "set", "Boat", "--tag", "home"]) }),
      ("\"title\":\"Third\"", { try $0.second(["message", "add", "--title", "Third"], input: "3") }),
      ("Lease\"", { try $0.first(["message", "restore", "Lease", "1"]) }),
    ]
    for (sign, step) in steps {
      let done = try step(devices)
      #expect(done.status == 0, "\(sign): \(done.error)")
      let lists = try devices.lists()
      #expect(lists.0 == lists.1 && lists.0.contains(sign), "\(sign): \(lists)")
    }
    #expect(try devices.first(["message", "remove", "Boat", "--yes"]).status == 0)
    let removed = try devices.lists()
    #expect(removed.0 == removed.1 && !removed.0.contains("Boat"), "\(removed)")
    #expect(try devices.second(["trash", "list"]).output.contains("Boat"))
    #expect(try devices.second(["trash", "restore", "Boat"]).status == 0)
    let back = try devices.lists()
    #expect(back.0 == back.1 && back.0.contains("Boat"), "\(back)")

    // Both have the same history now, and say so with the same words.
    let statuses = try [devices.first(["sync", "status"]), devices.second(["sync", "status"])]
    let words = statuses.map { $0.output.split(separator: "\n").last { $0.hasPrefix("history") } }
    #expect(words[0] != nil && words[0] == words[1], "\(statuses)")
    #expect(
      statuses[0].output.contains("laptop (this one)\n           desktop, last news "), "\(statuses[0])")
  }

  @Test("Nothing in the folder is a title, a text, a tag, an id or a device's name")
  func sealed() throws {
    let devices = try TwoDevices(messages: ["Barometer"])
    let id = try devices.first(["message", "list", "--json"]).output.matches(of: /"id":"([0-9a-f-]+)"/)
    let digits = try #require(id.first).1.replacing("-", with: "")
    let found = try FileManager.default.subpathsOfDirectory(atPath: devices.stick.path())
    var files = 0
    for path in found {
      #expect(!path.contains(digits))
      let file = devices.stick.appending(path: path)
      guard let bytes = try? Data(contentsOf: file) else { continue }
      files += 1
      let raw = stride(from: 0, to: digits.count, by: 2).compactMap { offset -> UInt8? in
        UInt8(digits.dropFirst(offset).prefix(2), radix: 16)
      }
      #expect(raw.count == 16)
      for secret in [
        Data("Barometer".utf8), Data("text of".utf8), Data("laptop".utf8), Data(raw), Data(digits.utf8),
      ] {
        #expect(bytes.range(of: secret) == nil, "\(path)")
      }
    }
    #expect(files >= 5, "\(found)")
  }

  @Test("By the words a new passphrase is set, and the account stays with the old one")
  func byWords() throws {
    let devices = try TwoDevices(messages: ["Lease"])
    try devices.place.write("Nine-Lanterns-Above-The-Weir-2026\n", to: "new")
    let restored = try devices.place.run([
      "--home", "second", "remote", "restore", "--card-file", "card", "--phrase-file", "words",
      "--new-passphrase-file", "new", "--json",
    ])
    #expect(restored.status == 0 && restored.output.contains("\"made\":true,\"messages\":1"), "\(restored)")
    let list = try devices.place.run(["--home", "second", "list", "--passphrase-file", "new"])
    #expect(list.output.contains("Lease"), "\(list)")
    let drill = try devices.place.run([
      "--home", "second", "recovery", "drill", "--remote", "--phrase-file", "words",
    ])
    #expect(drill.status == 0 && drill.error == "A restore would bring all 1 message.\n", "\(drill)")
  }

  @Test("A wrong or mistyped card, and a wrong passphrase, leave nothing behind")
  func wrongCards() throws {
    let devices = try TwoDevices(messages: ["Lease"])
    let card = try String(contentsOf: devices.place.folder.appending(path: "card"), encoding: .utf8)
      .trimmingCharacters(in: .newlines)
    func isRefused(_ text: String, _ status: Int32, _ code: String) throws {
      try devices.place.write(text + "\n", to: "other")
      let run = try devices.restore(["--card-file", "other", "--json"])
      #expect(run.status == status && run.error.contains("\"code\":\"\(code)\""), "\(text): \(run)")
      // No word of an error repeats the secret.
      #expect(!run.error.contains(card.suffix(20)) && !devices.hasSecond)
    }
    let last = card.last == "0" ? "1" : "0"
    try isRefused(card.dropLast() + last, 4, "bad_card")
    try isRefused(String(card.dropLast()), 4, "bad_card")
    try isRefused("folder://\(devices.stick.path())", 4, "bad_card")
    try isRefused("ftp://example.org/?account=\(String(card.suffix(69)))", 7, "malformed_url")
    try isRefused(card.replacing("/stick", with: "/nowhere"), 11, "remote_unreachable")
    try FileManager.default.createDirectory(
      at: devices.place.folder.appending(path: "empty"), withIntermediateDirectories: false)
    try isRefused(card.replacing("/stick", with: "/empty"), 6, "no_account_there")

    try devices.place.write("Another-Heron-Crosses-2026\n", to: "wrong")
    let wrong = try devices.place.run([
      "--home", "second", "remote", "restore", "--card-file", "card", "--passphrase-file", "wrong",
      "--recovery-phrase-out", "words2",
    ])
    #expect(wrong.status == 4 && wrong.error.contains("wrong passphrase: with this card"), "\(wrong)")
    #expect(!devices.hasSecond)
    // A line that the paper broke is no mistake.
    let half = card.index(card.startIndex, offsetBy: card.count / 2)
    try devices.place.write(" \(card[..<half])\n  \(card[half...])\n", to: "broken")
    #expect(try devices.restore(["--card-file", "broken"]).status == 0)
  }

  @Test("A folder that is missing or was emptied stops a sync, and nothing is removed here")
  func places() throws {
    let devices = try TwoDevices(messages: ["Lease"])
    let files = FileManager.default
    let away = devices.place.folder.appending(path: "away")
    try files.moveItem(at: devices.stick, to: away)
    let missing = try devices.first(["sync", "--json"])
    #expect(missing.status == 11 && missing.error.contains("remote_unreachable"), "\(missing)")
    #expect(!files.fileExists(atPath: devices.stick.path()), "a mount point is never made")
    try files.createDirectory(at: devices.stick, withIntermediateDirectories: false)
    let empty = try devices.first(["sync", "--json"])
    #expect(empty.status == 11 && empty.error.contains("remote_empty"), "\(empty)")
    #expect(try files.contentsOfDirectory(atPath: devices.stick.path()).isEmpty)
    #expect(try devices.first(["list"]).output.contains("Lease"))
    try files.removeItem(at: devices.stick)
    try files.moveItem(at: away, to: devices.stick)
    #expect(try devices.first(["sync"]).status == 0)
    // A place that was emptied is filled again on demand alone.
    for name in try files.contentsOfDirectory(atPath: devices.stick.path()) {
      try files.removeItem(at: devices.stick.appending(path: name))
    }
    for examining in ["verify", "sweep"] {
      let refused = try devices.first(["remote", examining, "--json"])
      #expect(refused.status == 11 && refused.error.contains("remote_empty"), "\(refused)")
    }
    #expect(try files.contentsOfDirectory(atPath: devices.stick.path()).isEmpty)
    #expect(try devices.first(["remote", "verify", "--fill"]).status == 0)
    #expect(try devices.first(["sync"]).status == 0)
  }

  @Test("Erase says that the place of an account keeps what was sent")
  func erase() throws {
    let devices = try TwoDevices(messages: ["Lease"])
    let erased = try devices.first(["erase", "--yes", "--force"])
    #expect(erased.status == 0 && erased.error.contains("still has what was sent"), "\(erased)")
    #expect(try devices.restore().status == 0)
    #expect(try devices.second(["list"]).output.contains("Lease"))
  }

  @Test("What remote add refuses, and says which secret was wrong")
  func refusedAdds() throws {
    let devices = try TwoDevices(hasAccount: false)
    func code(_ run: Place.Outcome) -> String {
      run.error.matches(of: /"code":"([a-z_]+)"/).first.map { String($0.1) } ?? run.error
    }
    let noFolder = try devices.first([
      "remote", "add", "folder:///nonexistent/stick", "--phrase-file", "words", "--json",
    ])
    #expect(noFolder.status == 11 && code(noFolder) == "remote_unreachable")
    let secretArgument = try devices.first(["remote", "add", "s3://K:S3CR3T@example.org/bucket", "--json"])
    #expect(secretArgument.status == 2 && !secretArgument.error.contains("S3CR3T"), "\(secretArgument)")
    let none = try devices.first(["sync", "--json"])
    #expect(none.status == 6 && code(none) == "no_remote")
    try devices.place.write(
      "legal winner thank year wave sausage worth useful legal winner thank yellow\n", to: "others")
    let words = try devices.first([
      "remote", "add", "folder://\(devices.stick.path())", "--phrase-file", "others", "--json",
    ])
    #expect(words.status == 4 && words.error.contains("the passphrase is right"), "\(words)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: devices.stick.path()).isEmpty)

    #expect(try devices.add().status == 0)
    let again = try devices.add(["--json"])
    #expect(again.status == 9 && code(again) == "has_remote")
    #expect(try devices.first(["remote", "forget", "--yes"]).status == 0)
    let there = try devices.add(["--json"])
    #expect(there.status == 9 && code(there) == "account_there", "\(there)")
    #expect(try devices.add(["--another"]).status == 0)
  }

  @Test("A pack that rots is found by reading, and a lost one is put back")
  func verify() throws {
    let devices = try TwoDevices(messages: ["Lease"])
    let whole = try devices.first(["remote", "verify", "--read", "100"])
    #expect(whole.status == 0 && whole.error.contains("read and compared: 1"), "\(whole)")
    let names = try FileManager.default.subpathsOfDirectory(atPath: devices.stick.path())
    let name = try #require(names.first { $0.contains("/pack/") && $0.count > 130 })
    let pack = devices.stick.appending(path: name)
    let bytes = try Data(contentsOf: pack)
    var other = bytes
    other[other.count / 2] ^= 1
    try other.write(to: pack)
    let damaged = try devices.first(["remote", "verify", "--read", "100", "--json"])
    #expect(damaged.status == 5 && damaged.error.contains("remote_tampered"), "\(damaged)")
    #expect(damaged.output.contains(#""putBack":1"#), "\(damaged)")
    // Its content is in another pack now, which a restore finds.
    let again = try devices.first(["remote", "verify", "--read", "100"])
    #expect(again.status == 0 && again.error.contains("All is there: 1 pack"), "\(again)")
    #expect(try devices.restore().status == 0)
    #expect(try devices.second(["list"]).output.contains("Lease"))
  }

  @Test("A device that was revoked reads nothing new and sends nothing, and the others go on")
  func revoked() throws {
    let devices = try TwoDevices(messages: ["Lease"])
    #expect(try devices.restore().status == 0)
    #expect(try devices.first(["sync"]).status == 0)
    let list = try devices.first(["device", "list"])
    #expect(list.status == 0 && list.output.contains("desktop") && list.output.contains("laptop (this one)"))
    for (name, code) in [("laptop", "this_device"), ("nobody", "no_such_device")] {
      let refused = try devices.first(["device", "revoke", name, "--yes", "--json"])
      #expect(refused.error.contains(code), "\(refused)")
    }
    #expect(try devices.first(["device", "revoke", "desktop"]).status == 3)
    let revoked = try devices.first(["device", "revoke", "desktop", "--yes"])
    #expect(revoked.status == 0, "\(revoked)")
    #expect(try devices.first(["audit"]).output.contains("  device of the account revoked\n"))
    #expect(try devices.first(["message", "add", "--title", "After"], input: "secret").status == 0)
    #expect(try devices.first(["sync"]).status == 0)
    let other = try devices.second(["message", "add", "--title", "Too late"], input: "text")
    #expect(other.status == 0)
    let synced = try devices.second(["sync", "--json"])
    #expect(synced.status == 7 && synced.error.contains("device_revoked"), "\(synced)")
    #expect(try !devices.second(["list"]).output.contains("After"))
    #expect(try devices.first(["sync"]).status == 0)
    #expect(try !devices.first(["list"]).output.contains("Too late"))
    #expect(try devices.first(["device", "list", "--json"]).output.contains(#""isRevoked":true"#))
    // It comes back as another device, with what it had.
    #expect(try devices.second(["remote", "forget", "--yes"]).status == 0)
    #expect(try devices.restore().status == 0)
    let (one, two) = try devices.lists()
    #expect(one == two && one.contains("Too late") && one.contains("After"))
  }

  @Test("What a device removes of others by hundreds waits until it is confirmed")
  func held() throws {
    let devices = try TwoDevices()
    let many = (0..<150).map { "From a@b Thu Jan  1 00:00:00 2026\nSubject: m\($0)\n\ntext\n\n" }.joined()
    try devices.place.write(many, to: "many.mbox")
    #expect(try devices.first(["message", "import", "mbox", "many.mbox"]).status == 0)
    #expect(try devices.first(["sync"]).status == 0)
    #expect(try devices.restore().status == 0)
    #expect(try devices.second(["message", "remove", "--search", "text", "--yes"]).status == 0)
    #expect(try devices.second(["sync"]).status == 0)
    let held = try devices.first(["sync", "--json"])
    #expect(held.status == 0 && held.error.contains("changes_held"), "\(held)")
    #expect(try devices.first(["list", "--limit", "1000", "--json"]).output.contains("m149"))
    #expect(try devices.first(["device", "confirm", "desktop"]).status == 0)
    #expect(try devices.first(["list", "--limit", "1000", "--json"]).output.contains("m149") == false)
    #expect(try devices.first(["sync", "--json"]).error.contains("changes_held") == false)
  }
}

// SPDX-License-Identifier: Apache-2.0

import AgentLeash
import CofferKit
import Enclaves
import Foundation
import Keychains
import PseudoTerminals
import Secrets
import Testing

@Suite("The command on a terminal")
struct TerminalTests {
  @Test("Three wrong passphrases end in exit code 4, and a slip is forgiven")
  func wrongPassphrase() throws {
    let place = try Place()
    try place.makeCoffer()
    let wrong = try CommandOnTerminal(["audit"], in: place)
    try wrong.answer("passphrase: ", "Eight-Herons-Cross-The-Fjord-2026")
    try wrong.terminal.expect("wrong passphrase; 2 tries left")
    try wrong.answer("passphrase: ", "")
    try wrong.terminal.expect("the passphrase is empty; 1 try left")
    try wrong.answer("passphrase: ", "no")
    let (status, shown) = wrong.end()
    #expect(status == 4)
    #expect(shown.contains("coffer: wrong passphrase"))
    #expect(wrong.terminal.isCooked)

    let slip = try CommandOnTerminal(["audit"], in: place)
    try slip.answer("passphrase: ", "no")
    try slip.answer("passphrase: ", Place.passphrase)
    try slip.declineSession()
    #expect(slip.end().status == 0)
  }

  @Test("After a session has ended, the next command says so before it asks; without one nothing is said")
  func endedSession() throws {
    let place = try Place()
    let leash = try AgentLeash(folder: place.folder.path())
    try place.makeCoffer()
    for hasEnded in [false, true] {
      let asked = try CommandOnTerminal(["audit"], in: place)
      let before = try asked.terminal.expect("passphrase: ")
      #expect(before.contains("The session has ended.") == hasEnded, "\(before)")
      asked.terminal.type("\u{3}")
      _ = asked.end()
      let pass = place.folder.path() + "/pass"
      let unlocked = try place.runProcess(["unlock", "--passphrase-file", pass])
      #expect(unlocked.error.contains("It locks by itself after 5 min"), "\(unlocked.error)")
      #expect(try place.runProcess(["lock"]).status == 0)
    }
    withExtendedLifetime(leash) {}
  }

  @Test("A message that is typed says how it ends, and a pipe is read without a word")
  func typedMessage() throws {
    let place = try Place()
    try place.makeCoffer()
    let typed = try CommandOnTerminal(["message", "add", "--passphrase-file", "pass"], in: place)
    try typed.answer(
      "Type or paste the message, then Return and Control-D.", "The key is under the mat.\n\u{04}")
    #expect(typed.end().status == 0)
    let piped = try place.run(["message", "add", "--passphrase-file", "pass"], input: "The mat is gone.\n")
    #expect(piped.status == 0 && piped.error.isEmpty, "\(piped.error)")
  }

  @Test("A file that is missing is blamed on the option that names it")
  func missingFiles() throws {
    let place = try Place()
    try place.makeCoffer()
    let change = try place.run([
      "passphrase", "change", "--passphrase-file", "pass", "--new-passphrase-file", "none",
    ])
    #expect(change.status == 2)
    #expect(
      change.error == """
        coffer: there is no file 'none' to read the new passphrase from
        hint: check --new-passphrase-file

        """)
    let pin = try place.run(["audit", "--pin-file", "none"])
    #expect(pin.status == 2)
    #expect(pin.error == "coffer: there is no file 'none' to read the PIN from\nhint: check --pin-file\n")
  }

  @Test("Times on a terminal are local and name their zone; elsewhere they are RFC 3339")
  func localTimes() throws {
    let place = try Place()
    try place.makeCoffer()
    for arguments in [["status"], ["slot", "list"], ["audit"], ["vault", "status"]] {
      let arguments = arguments + ["--passphrase-file", "pass"]
      let shown = try CommandOnTerminal(arguments, in: place, environment: ["TZ": "XYZ-3"]).end().shown
      #expect(shown.contains(/20\d\d-\d\d-\d\d \d\d:\d\d XYZ/) && !shown.contains(/\dZ/), "\(shown)")
      let piped = try place.runProcess(arguments, environment: ["TZ": "XYZ-3"]).output
      #expect(piped.contains(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/) && !piped.contains("XYZ"), "\(piped)")
    }
  }

  @Test("A capture that is not a picture is remarked on")
  func captures() throws {
    let place = try Place()
    try place.makeCoffer()
    try place.write("localhost\n", to: "hostname")
    let added = try CommandOnTerminal(["capture", "add", "hostname", "--passphrase-file", "pass"], in: place)
      .end()
    #expect(added.status == 0)
    #expect(
      added.shown.contains("It has no preview: 'hostname' is not a JPEG or PNG picture."), "\(added.shown)")
  }

  @Test("A misspelt recovery phrase is asked for again")
  func misspeltPhrase() throws {
    let place = try Place()
    try place.makeCoffer()
    let phrase = try String(contentsOf: place.folder.appending(path: "words"), encoding: .utf8)
      .trimmingCharacters(in: .newlines)
    let drill = try CommandOnTerminal(["recovery", "drill"], in: place)
    try drill.answer(
      "recovery phrase: ", "zzz " + phrase.split(separator: " ").dropFirst().joined(separator: " "))
    try drill.terminal.expect("word 1 is not in the list of words; 2 tries left")
    try drill.answer("recovery phrase: ", phrase)
    #expect(drill.end().status == 0)
  }

  @Test("Erasing says how much there is, asks twice, and a no keeps everything")
  func erasing() throws {
    let place = try Place()
    try place.makeCoffer()
    #expect(try place.run(["add", "--passphrase-file", "pass"], input: "The mat is gone.\n").status == 0)
    let made = try place.run(
      ["identity", "generate", "--user-id", "Ada <ada@example.org>", "--passphrase-file", "pass"])
    #expect(made.status == 0, "\(made.error)")
    let contents = "1 message, 0 captures and 1 identity"
    let unproven = try CommandOnTerminal(["erase"], in: place, columns: 200)
    try unproven.answer("passphrase, to erase the coffer: ", Place.passphrase)
    let refused = unproven.end()
    #expect(refused.status == 7)
    #expect(refused.shown.contains("--force destroys \(contents) without it"), "\(refused.shown)")
    let question = "Destroy the coffer in \(place.home.path()), with \(contents)? [y/N]: "
    let kept = try CommandOnTerminal(["erase", "--force"], in: place, columns: 200)
    try kept.answer(question, "y")
    try kept.answer("Really? [y/N]: ", "n")
    #expect(kept.end().status == 7)
    #expect(place.hasCoffer)
    let erased = try CommandOnTerminal(["erase", "--force"], in: place, columns: 200)
    try erased.answer(question, "y")
    try erased.answer("Really? [y/N]: ", "yes")
    #expect(erased.end().status == 0)
    #expect(!place.hasCoffer)
  }

  /// Columns of a line of letters and Chinese characters.
  private func columns(_ line: some StringProtocol) -> Int {
    line.unicodeScalars.reduce(0) { $0 + (0x4E00...0x9FFF ~= $1.value ? 2 : 1) }
  }

  @Test("A list fits the terminal and obeys nothing that stands in a title", arguments: [80, 60, 132])
  func list(width: UInt16) throws {
    let place = try Place()
    try place.makeCoffer()
    let titles = [
      "\u{1B}]0;owned\u{7}\u{1B}[31mred \u{202E}turned\u{2066} \u{9B}2J\r\nnext line",
      String(repeating: "long ", count: 40), String(repeating: "\u{6F22}\u{5B57}", count: 40), "short",
    ]
    for title in titles {
      let added = try place.run(
        ["message", "add", "--title", title, "--tag", "home", "--tag", String(repeating: "tag", count: 30)]
          + ["--passphrase-file", "pass"], input: "x")
      #expect(added.status == 0)
    }
    let plain = try CommandOnTerminal(
      ["message", "list", "--passphrase-file", "pass"], in: place, environment: ["NO_COLOR": "1"],
      columns: width)
    let (status, shown) = plain.end()
    #expect(status == 0)
    let lines = shown.split(separator: "\r\n")
    #expect(lines.count == titles.count)
    for line in lines {
      #expect(columns(line) <= Int(width), "\(line)")
      #expect(
        !line.unicodeScalars.contains { $0.properties.generalCategory == .control || $0.value == 0x202E })
      #expect(line.contains("home"))
    }
    #expect(shown.contains("short"))

    // With colours, which are the only sequences.
    let coloured = try CommandOnTerminal(
      ["message", "list", "--passphrase-file", "pass"], in: place, columns: width)
    let shownColoured = coloured.end().shown
    #expect(shownColoured.contains("\u{1B}[2m"))
    #expect(shownColoured.replacing(/\u{1B}\[[0-9]*m/, with: "") == shown)
  }

  @Test("A message on a terminal keeps its lines and loses its control characters")
  func show() throws {
    let place = try Place()
    try place.makeCoffer()
    let added = try place.run(
      ["message", "add", "--title", "T", "--passphrase-file", "pass"],
      input: "one\r\n\u{1B}[2Jtwo\tthree\u{202E}\n")
    let id = added.output.trimmingCharacters(in: .newlines)
    let show = try CommandOnTerminal(
      ["message", "show", id, "--passphrase-file", "pass"], in: place, environment: ["NO_COLOR": "1"])
    let shown = show.end().shown
    #expect(shown.hasSuffix("\r\none\r\n\u{FFFD}[2Jtwo\tthree\u{FFFD}\r\n"))
    #expect(!shown.contains("\u{1B}"))
  }

  @Test("In a narrow terminal errors, questions and rows of a status are broken between words")
  func narrow() throws {
    let place = try Place()
    try place.makeCoffer()
    func shown(_ arguments: [String]) throws -> [String] {
      let end = try CommandOnTerminal(
        arguments, in: place, environment: ["NO_COLOR": "1", "COFFER_HOME": "coffer"], columns: 40
      ).end().shown
      return end.split(separator: "\r\n").map(String.init)
    }
    let error = try shown(["show", "the lease", "--passphrase-file", "pass"])
    #expect(
      error == [
        "coffer: no message is called", "  'the lease', and no id ends so",
        "hint: 'coffer message list' shows them;", "  'coffer message search' looks into",
        "  them",
      ], "\(error)")
    let status = try shown(["status"])
    #expect(status.allSatisfy { columns($0) <= 40 }, "\(status)")
    #expect(
      status[1...2] == ["state      locked; 'coffer unlock'", "           starts a session"], "\(status)")
    // With --json each answer is one line.
    let json = try shown(["show", "the lease", "--passphrase-file", "pass", "--json"])
    #expect(json.count == 1 && json[0].hasPrefix("{\"error\":{"), "\(json)")
    let question = try CommandOnTerminal(
      ["erase", "--force"], in: place, environment: ["COFFER_HOME": "coffer"], columns: 40)
    let asked = try question.answer("[y/N]: ", "n")
    #expect(
      asked.hasPrefix("Destroy the coffer in coffer, with 0\r\n"), "\(asked)")
    #expect(question.end().status == 7)
  }

  @Test("A rotation that goes on does not advise to go on; other commands do")
  func rotationHint() throws {
    let place = try Place()
    try place.makeCoffer()
    #expect(try place.run(["add", "--passphrase-file", "pass"], input: "The mat is gone.\n").status == 0)
    let passphrase = try Passphrase(utf8: SecretBytes(copying: Array(Place.passphrase.utf8).span.bytes))
    let locked = try LockedCoffer(home: place.home.path(), machine: Machine(enclaves: [SoftwareEnclave()]))
    let coffer = try locked.unlock(SlotCredential(passphrase))
    // Stopped after its first step.
    #expect(try coffer.rotateVaultKey { _ in false } == nil)
    coffer.close()
    let hint = "hint: a rotation was started and not finished"
    for (arguments, isTold) in [
      (["list"], true), (["vault", "rotate", "--resume"], false), (["list"], false),
    ] {
      let end = try CommandOnTerminal(arguments + ["--passphrase-file", "pass"], in: place).end()
      #expect(end.status == 0 && end.shown.contains(hint) == isTold, "\(arguments): \(end.shown)")
    }
  }

  @Test("A capture on a terminal fits it, with the size that the list shows")
  func capture() throws {
    let place = try Place()
    try place.makeCoffer()
    try place.write(String(repeating: "photo", count: 3_000), to: "meter.jpg")
    let pass = ["--passphrase-file", "pass"]
    #expect(try place.run(["capture", "add", "meter.jpg"] + pass).status == 0)
    let environment = ["NO_COLOR": "1"]
    let list = try CommandOnTerminal(["capture", "list"] + pass, in: place, environment: environment).end()
    let size = try #require(list.shown.firstMatch(of: /\d+ kB/)).output
    let id = try #require(list.shown.firstMatch(of: #/  ([0-9a-f]{8})  /#)).1
    let shown = try CommandOnTerminal(
      ["capture", "show", String(id)] + pass, in: place, environment: environment
    ).end().shown.split(separator: "\r\n")
    #expect(shown.allSatisfy { $0.count <= 80 }, "\(shown)")
    #expect(shown.contains("size       \(size)"), "\(shown)")
    #expect(shown.contains { $0.wholeMatch(of: #/           [0-9a-f]{64}/#) != nil }, "\(shown)")
  }
}

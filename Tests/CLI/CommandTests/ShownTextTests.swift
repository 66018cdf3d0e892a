// SPDX-License-Identifier: Apache-2.0
//
// What a terminal gets to see of what comes from elsewhere, and what is left on it.

import Foundation
import PseudoTerminals
import Testing

@testable import CofferCommands

@Suite("What reaches a terminal")
struct ShownTextTests {
  /// Escape sequences, a bell, a direction mark and an invisible character, as a folder may be named.
  private static let hostile = "n\u{1B}[31m\u{1B}]0;owned\u{7}X\u{202E}\u{E0041}'$(touch ran)"

  private static let pass = ["--passphrase-file", "pass"]

  @Test("The coffer's path is obeyed nowhere: not in answers, remarks, errors, hints and questions")
  func hostilePath() throws {
    let place = try Place()
    try place.write(Place.passphrase + "\n", to: "pass")
    let home = place.folder.appending(path: Self.hostile)
    let environment = ["COFFER_HOME": home.path(percentEncoded: false), "NO_COLOR": "1"]
    func run(_ arguments: [String]) throws -> (status: Int32, shown: String) {
      let outcome = try CommandOnTerminal(arguments, in: place, environment: environment).end()
      #expect(!outcome.shown.contains("\u{1B}") && !outcome.shown.contains("\u{7}"), "\(arguments)")
      #expect(!outcome.shown.contains("\u{202E}") && !outcome.shown.contains("\u{E0041}"), "\(arguments)")
      return outcome
    }
    #expect(try run(["status"]).status == 6)
    let made = try run(["init", "--kdf", "pbkdf2", "--recovery-phrase-out", "words"] + Self.pass)
    #expect(made.status == 0 && made.shown.contains("n\u{FFFD}[31m"))
    #expect(try run(["status"]).shown.contains("home       "))
    #expect(try run(["init"] + Self.pass + ["--recovery-phrase-out", "more"]).status == 9)
    let file = home.appending(path: "coffer.db").path(percentEncoded: false)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    #expect(try run(["doctor"]).status == 5)

    // What the hint says to paste does what it says, and runs nothing of the name.
    let report = try place.run(["doctor", "--json"], environment: environment)
    struct Answer: Decodable {
      struct Body: Decodable { let hint: String }
      let error: Body
    }
    let hint = try JSONDecoder().decode(Answer.self, from: Data(report.error.utf8)).error.hint
    let line = try #require(hint.components(separatedBy: " closes it").first)
    let shell = place.process(URL(filePath: "/bin/bash"), ["-c", line], [:])
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(!FileManager.default.fileExists(atPath: place.folder.appending(path: "ran").path()))

    let question = try CommandOnTerminal(["erase", "--force"], in: place, environment: environment)
    let asked = try question.terminal.expect("? [y/N]: ")
    #expect(!asked.contains("\u{1B}]0;") && !asked.contains("\u{202E}"))
    question.terminal.type("n\r")
    #expect(question.end().status == 7)
  }

  @Test(
    "A word to be pasted is one word of a shell",
    arguments: [
      "plain/path-1.db", "", "it's", "a b", "$(touch ran)", "`x`", "'\u{301}; touch ran; '", "\u{1B}[2J",
      "Zürich", "\u{202E}\\'",
    ])
  func shellWords(word: String) throws {
    let quoted = ShellWord.quoted(word)
    #expect(!quoted.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
    let place = try Place()
    let shell = place.process(URL(filePath: "/bin/bash"), ["-c", "printf %s -- \(quoted) | tail -c +3"], [:])
    let output = Pipe()
    shell.standardOutput = output
    try shell.run()
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    shell.waitUntilExit()
    #expect(!FileManager.default.fileExists(atPath: place.folder.appending(path: "ran").path()))
    #expect(String(decoding: printed, as: UTF8.self) == word)
  }

  @Test("A document that is passed on keeps every character but white space and what would be obeyed")
  func oneLine() {
    #expect(
      JSON.oneLine(" {\"a\" : 1,\n\t\"a\":123456789012345678}\r\n") == #"{"a" : 1,  "a":123456789012345678}"#)
    #expect(JSON.oneLine("{\"x\":\"\u{202E}\u{E0041}\u{9B}Å\"}") == #"{"x":"\u202e\udb40\udc41\u009bÅ"}"#)
    let numbers = #"{"b":-0,"c":1e400,"t":[0,1,1.0,true]}"#
    #expect(JSON.oneLine(numbers) == numbers)
  }

  @Test(
    "Raw content goes to a terminal when it is plain text, else only by force",
    arguments: [
      ("plain Åland\n\ttext\n", true), ("\u{1B}]0;owned\u{7}", false), ("a\u{202E}b", false),
      ("bytes\u{0}", false), ("bell\u{7}", false),
    ])
  func raw(content: String, isPlain: Bool) throws {
    let place = try Place()
    try place.makeCoffer()
    let added = try place.run(["message", "add"] + Self.pass, input: content)
    let id = added.output.trimmingCharacters(in: .newlines)
    let show = ["message", "show", "--raw", id] + Self.pass
    let (status, shown) = try CommandOnTerminal(show, in: place).end()
    #expect(status == (isPlain ? 0 : 7))
    #expect(shown.contains(content.replacing("\n", with: "\r\n")) == isPlain)
    #expect(shown.contains("add --force") == !isPlain)
    #expect(try CommandOnTerminal(show + ["--force"], in: place).end().status == 0)
    #expect(try place.run(show).output == content)

    let export = ["message", "export", "mbox", "-"] + Self.pass
    let refused = try CommandOnTerminal(export, in: place).end()
    #expect(refused.status == 7 && !refused.shown.contains("From "))
    #expect(try CommandOnTerminal(export + ["--force"], in: place).end().shown.contains("From "))
    #expect(try place.run(export).output.contains("From "))
  }

  /// What is left on the first screen of all that was shown.
  private func scrollback(_ shown: String) -> String {
    shown.replacing(/(?s)\u{1B}\[\?1049h.*?\u{1B}\[\?1049l/, with: "")
  }

  @Test(
    "The words of a recovery phrase leave nothing on the screen: right, wrong, or given up",
    arguments: ["drill", "recover", "cancel", "dumb"])
  func words(way: String) throws {
    let place = try Place()
    try place.makeCoffer()
    let phrase = try String(contentsOf: place.folder.appending(path: "words"), encoding: .utf8)
      .trimmingCharacters(in: .newlines)
    try place.write("Eight-Herons-Cross-The-Fjord-2026\n", to: "new")
    let wrong = "zzz " + phrase.split(separator: " ").dropFirst().joined(separator: " ")
    let command = try CommandOnTerminal(
      way == "recover" ? ["recover", "--new-passphrase-file", "new"] : ["recovery", "drill"], in: place,
      environment: way == "dumb" ? ["TERM": "dumb"] : [:], columns: 200)
    var shown = try command.answer("recovery phrase: ", wrong)
    shown += try command.terminal.expect("word 1 is not in the list of words; 2 tries left")
    if way == "cancel" {
      shown += try command.terminal.expect("recovery phrase: ")
      command.terminal.type(phrase + "\u{3}")
    } else {
      shown += try command.answer("recovery phrase: ", phrase)
    }
    let (status, rest) = command.end()
    #expect(status == (way == "cancel" ? 3 : 0))
    shown += rest
    #expect(shown.contains("\u{1B}[?1049h") == (way != "dumb"))
    #expect(shown.ranges(of: "\u{1B}[?1049h").count == shown.ranges(of: "\u{1B}[?1049l").count)
    // Two words each: one alone may be a word of the command's own, such as "phrase", or part of one, such as "offer".
    let left = scrollback(shown)
    let words = phrase.split(separator: " ").dropFirst()
    for (word, next) in zip(words, words.dropFirst()) {
      #expect(!left.contains("\(word) \(next)"), "\(word) \(next)")
    }
    #expect(command.terminal.isCooked)
  }

  @Test("A signal while a recovery phrase is typed leaves no word, and the terminal as it was")
  func wordsAndSignal() throws {
    let place = try Place()
    try place.makeCoffer()
    let command = try CommandOnTerminal(["recovery", "drill"], in: place, columns: 200)
    var shown = try command.terminal.expect("recovery phrase: ")
    command.terminal.type("garden barometer")
    shown += try command.terminal.expect("barometer")
    try command.send(SIGTERM)
    let (status, rest) = command.end()
    #expect(status != 0)
    #expect(!scrollback(shown + rest).contains("garden"))
    #expect(command.terminal.isCooked)
  }

  @Test("An empty list says so only where there is nothing to list")
  func emptyList() throws {
    let place = try Place()
    try place.makeCoffer()
    let list = ["message", "list"] + Self.pass
    #expect(try CommandOnTerminal(list, in: place).end().shown.contains("no messages yet"))
    #expect(try place.run(["message", "add"] + Self.pass, input: "x").status == 0)
    #expect(try CommandOnTerminal(list + ["--limit", "0"], in: place).end().shown.isEmpty)
  }
}

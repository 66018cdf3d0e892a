// SPDX-License-Identifier: Apache-2.0

import Foundation
import PseudoTerminals
import Testing

@Suite("Making a coffer on a terminal")
struct InitOnTerminalTests {
  /// The words as the screen shows them, by their numbers.
  private func words(_ shown: String) -> [Int: String] {
    var words: [Int: String] = [:]
    for match in shown.matches(of: /([0-9]+)[.] ([a-z]+)/) { words[Int(match.1) ?? 0] = String(match.2) }
    return words
  }

  /// Waits for the words, says that they are written down, and gives them.
  private func takeWords(_ command: CommandOnTerminal) throws -> [Int: String] {
    try command.terminal.expect("Store recovery phrase safely; we cannot reset it.")
    let words = words(try command.answer("Have you written them down? [y/N]: ", "y"))
    #expect(words.count == 12)
    return words
  }

  private func askedNumber(_ command: CommandOnTerminal) throws -> Int {
    try command.terminal.expect("word ")
    return Int(try command.terminal.expect(": ").dropLast(2)) ?? 0
  }

  @discardableResult
  private func answerWords(_ command: CommandOnTerminal, _ words: [Int: String]) throws -> String {
    var shown = try command.terminal.expect("Type three of the words")
    var numbers: Set<Int> = []
    for _ in 1...3 {
      shown += try command.terminal.expect("word ")
      let number = Int(try command.terminal.expect(": ").dropLast(2)) ?? 0
      numbers.insert(number)
      command.terminal.type((words[number] ?? "none") + "\r")
      shown += try command.terminal.expect("\n")
    }
    #expect(numbers.count == 3)
    return shown
  }

  @Test("The passphrase offered and the words shown open the coffer, and go to the terminal alone")
  func offered() throws {
    let place = try Place()
    let errors = place.folder.appending(path: "errors")
    let command = try CommandOnTerminal(["init"], in: place, errors: errors)
    // An empty line decides nothing.
    try command.answer("to choose your own: ", "")
    try command.answer("to choose your own: ", "y")
    // Who has not written it down sees it again.
    try command.answer("to show that you have it: ", "something else")
    try command.terminal.expect("That was not the passphrase. Here it is again.")
    let passphrase = try command.takeOffered()

    // A wrong answer shows the words again.
    let words = try takeWords(command)
    _ = try askedNumber(command)
    command.terminal.type("nothing\r")
    try command.terminal.expect("That was not the right word. Here they are again.")
    #expect(try takeWords(command) == words)
    let answered = try answerWords(command, words)
    let rest = command.end()
    #expect(rest.status == 0)
    #expect(command.terminal.isCooked)
    // The words that were asked back stand on the second screen too.
    let last = try #require(answered.ranges(of: "\u{1B}[?1049h").last)
    #expect(!answered[last.upperBound...].contains("?1049l"))
    #expect(rest.shown.contains("\u{1B}[?1049l"))

    let said = try String(contentsOf: errors, encoding: .utf8)
    #expect(
      said == "Vault created successfully: \(place.home.path())\n"
        + "No TPM found. The keys for captures, protected data and private keys are in software: "
        + "only the passphrase protects them, and captures are marked 'unverified'.\n"
        + "Next: coffer unlock, then coffer message add, or coffer identity generate for OpenPGP.\n")
    let pass = try place.write(passphrase, to: "pass")
    #expect(try place.run(["audit", "--passphrase-file", pass]).output.hasSuffix("  coffer made\n"))
    let phrase = (1...12).compactMap { words[$0] }.joined(separator: " ")
    #expect(try place.run(["recovery", "drill", "--phrase-fd", "0"], input: phrase).status == 0)
  }

  @Test("A passphrase of one's own is measured, refused when weak, and typed twice; it is never shown")
  func own() throws {
    let place = try Place()
    let command = try CommandOnTerminal(["init"], in: place)
    var shown = try command.answer("to choose your own: ", "n")
    // The rules come before the first try.
    shown += try command.terminal.expect("At least 15 characters that are hard to guess")
    shown += try command.terminal.expect("new passphrase: ")
    command.terminal.type("Password12345")
    shown += try command.terminal.expect("[weak] ")
    shown += try command.terminal.expect("needs 2 more")
    command.terminal.type("678")
    shown += try command.terminal.expect("needs something harder to guess")
    command.terminal.type("\u{15}Password")
    shown += try command.terminal.expect("needs 7 more")
    // Each rule that is broken has a line.
    command.terminal.type("\r")
    shown += try command.terminal.expect(
      "needs at least 15 characters; this has 8\r\nis a common password or word\r\n")
    shown += try command.terminal.expect("new passphrase: ")
    command.terminal.type(Place.passphrase)
    shown += try command.terminal.expect("[strong] ")
    command.terminal.type("\r")
    shown += try command.answer("the same once more: ", "Seven")
    shown += try command.terminal.expect("these were not the same")
    shown += try command.answer("new passphrase: ", Place.passphrase)
    shown += try command.answer("the same once more: ", Place.passphrase)

    // Who has not written the words down sees them again.
    shown += try command.terminal.expect("Control-C gives up; nothing has been changed then.")
    shown += try command.answer("Have you written them down? [y/N]: ", "n")
    // Broken between words, as a screen of 80 columns has it.
    shown += try command.terminal.expect("if you forget the\r\npassphrase.")
    try answerWords(command, try takeWords(command))
    let (status, rest) = command.end()
    #expect(status == 0)
    #expect(rest.contains("Vault created successfully:"))
    #expect(!shown.contains("Herons") && !shown.contains("Password1"))

    let list = try CommandOnTerminal(["message", "list"], in: place)
    try list.answer("passphrase: ", Place.passphrase)
    try list.declineSession()
    let (listed, message) = list.end()
    #expect(listed == 0)
    #expect(message.contains("no messages yet"))
  }

  @Test("Control-C at any prompt leaves no coffer, and the terminal as it was", arguments: 0...4)
  func cancelled(at step: Int) throws {
    let place = try Place()
    let command = try CommandOnTerminal(["init"], in: place)
    var shown = ""
    let answers = [
      ("to choose your own: ", "n"), ("new passphrase: ", Place.passphrase),
      ("the same once more: ", Place.passphrase),
      ("written them down? [y/N]: ", "y"), ("word ", ""),
    ]
    for (prompt, answer) in answers.prefix(step) { shown += try command.answer(prompt, answer) }
    shown += try command.terminal.expect(answers[step].0)
    command.terminal.type("\u{3}")
    let (status, rest) = command.end()
    #expect(status == 3)
    #expect(rest.contains("coffer: cancelled"))
    #expect(command.terminal.isCooked)
    #expect(!place.hasCoffer)
    // As often as the second screen was entered it was left.
    shown += rest
    #expect(shown.ranges(of: "\u{1B}[?1049h").count == shown.ranges(of: "\u{1B}[?1049l").count)
  }

  @Test(
    "A signal while words are shown leaves no coffer, no word on the screen, and the terminal as it was",
    arguments: [SIGTERM, SIGHUP, SIGINT])
  func signalled(_ signal: Int32) throws {
    let place = try Place()
    let command = try CommandOnTerminal(["init"], in: place)
    var shown = try command.answer("to choose your own: ", "n")
    shown += try command.answer("new passphrase: ", Place.passphrase)
    shown += try command.answer("the same once more: ", Place.passphrase)
    shown += try command.terminal.expect("written them down? [y/N]: ")
    try command.send(signal)
    let (status, rest) = command.end()
    #expect(status != 0)
    shown += rest
    #expect(command.terminal.isCooked)
    #expect(!place.hasCoffer)
    // The second screen is cleared and left, and nothing is shown after that but setsid's own remark.
    #expect(rest.hasPrefix("\u{1B}[2J\u{1B}[?1049l"))
    #expect(!rest.contains("?1049h"))
    #expect(shown.ranges(of: "\u{1B}[?1049h").count == shown.ranges(of: "\u{1B}[?1049l").count)
    #expect(words(rest).isEmpty)
  }
}

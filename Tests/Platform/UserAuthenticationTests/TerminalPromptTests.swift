// SPDX-License-Identifier: Apache-2.0

import Foundation
import PseudoTerminals
import Secrets
import Testing

@testable import UserAuthentication

// Serialised, since suites in it change what signals do; where they are sent to a whole process, it is one of its own.
@Suite("Asking on the terminal", .serialized)
struct TerminalPromptTests {
  private static let plain = TerminalStyle(usesColours: false, clearsRows: true)

  @Test("A passphrase is taken without showing any of it, and the terminal is put back")
  func noEcho() throws {
    let terminal = try PseudoTerminal()
    let asked = Self.ask(terminal, PromptRequest("Passphrase", description: "To open the coffer."))
    #expect(try terminal.expect("Passphrase: ").contains("To open the coffer."))
    #expect(!terminal.isCooked)
    terminal.type("Zebra 7\u{E4}!\r")
    #expect(try asked.value() == .success("Zebra 7\u{E4}!"))
    #expect(terminal.isCooked)
    let shown = terminal.rest()
    for letter in "Zebra7\u{E4}!" { #expect(!shown.contains(letter)) }
  }

  @Test(
    "Keys edit the line",
    arguments: [
      ("abx\u{7F}c\r", "abc"), ("a\u{E4}\u{1F600}\u{7F}\u{7F}\u{8}z\r", "z"), ("wrong\u{15}right\r", "right"),
      ("one two  \u{17}2\r", "one 2"), ("a\u{1B}[A\u{1B}[3~\u{1B}OPb\r", "ab"),
      ("\u{7F}\u{17}\u{15}x\n", "x"),
      ("a\u{4}\u{1}b\r", "ab"), ("\r", ""),
    ])
  func editing(keys: String, expected: String) throws {
    let terminal = try PseudoTerminal()
    let asked = Self.ask(terminal, PromptRequest("Passphrase"))
    try terminal.expect("Passphrase: ")
    terminal.type(keys)
    #expect(try asked.value() == .success(expected))
    #expect(terminal.isCooked)
  }

  @Test(
    "Control-C, Control-D on an empty line, and Control-C in a half key sequence cancel",
    arguments: [
      "abc\u{3}", "\u{4}", "ab\u{15}\u{4}", "a\u{1B}[\u{3}",
    ])
  func cancelling(keys: String) throws {
    let terminal = try PseudoTerminal()
    let asked = Self.ask(terminal, PromptRequest("Passphrase"))
    try terminal.expect("Passphrase: ")
    terminal.type(keys)
    #expect(try asked.value() == .failure(.cancelled))
    #expect(terminal.isCooked)
  }

  @Test("Of a question with few answers these are seen, and nothing else that is typed")
  func answers() throws {
    for (typed, isSeen) in [("yes", true), ("N", true), ("my own phrase 99", false), ("yesterday", false)] {
      let terminal = try PseudoTerminal()
      let asked = Self.ask(terminal, PromptRequest("Use it?", answers: ["yes", "no"]))
      try terminal.expect("Use it?: ")
      terminal.type(typed)
      if isSeen { try terminal.expect(typed) }
      terminal.type("\r")
      #expect(try asked.value() == .success(typed))
      let shown = terminal.rest()
      for letters in ["phrase", "99", "yest"] { #expect(!shown.contains(letters)) }
    }
  }

  @Test("The meter's word follows what is typed")
  func meter() throws {
    let terminal = try PseudoTerminal()
    let meter: PromptRequest.Meter = { typed in
      switch typed.byteCount {
      case ...2: StrengthReading(.weak, word: "weak")
      case 3: StrengthReading(.medium, word: "medium")
      default: StrengthReading(.strong, word: "strong")
      }
    }
    let asked = Self.ask(
      terminal, PromptRequest("New passphrase", meter: meter),
      style: .init(usesColours: true, clearsRows: true))
    try terminal.expect("New passphrase: ")
    terminal.type("q")
    try terminal.expect("\r\u{1B}[KNew passphrase: \u{1B}[31m[weak] \u{1B}[0m")
    terminal.type("qq")
    try terminal.expect("\u{1B}[33m[medium] ")
    terminal.type("q")
    try terminal.expect("\u{1B}[32m[strong] ")
    terminal.type("\u{7F}")
    let shown = try terminal.expect("\u{1B}[33m[medium] ")
    #expect(!shown.contains("q"))
    terminal.type("\r")
    #expect(try asked.value() == .success("qqq"))
  }

  @Test(
    "Beside the meter is what is missing, as far as it fits",
    arguments: [
      (40, "New: [weak] needs 4 more, ..."), (80, "New: [weak] needs 4 more, upper case, a digit"),
      (24, "New: [weak] "),
    ])
  func missing(columns: UInt16, row: String) throws {
    let terminal = try PseudoTerminal(columns: columns)
    let asked = Self.ask(
      terminal,
      PromptRequest(
        "New",
        meter: { _ in StrengthReading(.weak, word: "weak", missing: ["4 more", "upper case", "a digit"]) }),
      style: .init(usesColours: false, clearsRows: true))
    try terminal.expect("New: ")
    terminal.type("a")
    let shown = try terminal.expect(row)
    terminal.type("\r")
    #expect(try asked.value() == .success("a"))
    #expect(!shown.contains("needs") || columns > 24)
  }

  @Test("Without colours and clearing, the row is overwritten with spaces")
  func dumbTerminal() throws {
    let terminal = try PseudoTerminal(columns: 40)
    let asked = Self.ask(
      terminal, PromptRequest("New", meter: { _ in StrengthReading(.weak, word: "weak") }),
      style: .init(usesColours: false, clearsRows: false))
    try terminal.expect("New: ")
    terminal.type("a")
    let row = try terminal.expect("New: [weak] ")
    #expect(row.contains(String(repeating: " ", count: 39)))
    #expect(!row.contains("\u{1B}"))
    terminal.type("\r")
    #expect(try asked.value() == .success("a"))
  }

  @Test("A shown line appears while it is typed, and only as much of it as fits")
  func shownLine() throws {
    let terminal = try PseudoTerminal(columns: 20)
    let asked = Background { () throws(PromptError) in
      try TerminalPrompt(path: terminal.path, style: Self.plain).askLine("Words")
        .withBytes { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    }
    try terminal.expect("Words: ")
    terminal.type("abandon")
    try terminal.expect("Words: abandon")
    terminal.type(" ability able")
    try terminal.expect("Words: ability able")
    terminal.type("\r")
    #expect(try asked.value() == .success("abandon ability able"))
  }

  @Test("A paste with line ends gives its first line, and the rest goes nowhere")
  func paste() throws {
    let terminal = try PseudoTerminal()
    let asked = Self.ask(terminal, PromptRequest("Passphrase"))
    try terminal.expect("Passphrase: ")
    terminal.type("first line\rrm -rf something\r")
    #expect(try asked.value() == .success("first line"))
    var wait = pollfd(fd: terminal.device, events: Int16(POLLIN), revents: 0)
    #expect(poll(&wait, 1, 0) == 0)
  }

  @Test("A line of more bytes than allowed is refused at its end")
  func tooLong() throws {
    let terminal = try PseudoTerminal()
    let asked = Self.ask(terminal, PromptRequest("PIN", byteCountLimit: 4))
    try terminal.expect("PIN: ")
    terminal.type("12345\u{1B}[A678\r")
    #expect(try asked.value() == .failure(.tooLong(byteCountLimit: 4)))
    #expect(terminal.isCooked)
  }

  @Test(
    "Only a clear yes confirms",
    arguments: [
      ("y\r", true), ("YES\r", true), ("\r", false), ("n\r", false), ("No\r", false),
    ])
  func confirming(keys: String, expected: Bool) throws {
    let terminal = try PseudoTerminal()
    let asked = Background { () throws(PromptError) in
      try TerminalPrompt(path: terminal.path, style: Self.plain).confirm("Erase?")
    }
    try terminal.expect("Erase? [y/N]: ")
    terminal.type(keys)
    #expect(try asked.value() == .success(expected))
  }

  @Test("The rest of an answer that is too long does not answer the next question; Control-C in it cancels")
  func restOfLine() throws {
    let terminal = try PseudoTerminal()
    let asked = Background { () throws(PromptError) in
      let prompt = TerminalPrompt(path: terminal.path, style: Self.plain)
      let first = try prompt.confirm("Keep?", isYesByDefault: true)
      _ = try prompt.confirm(first ? "Kept" : "Erase?")
      return first
    }
    try terminal.expect("Keep? [Y/n]: ")
    terminal.type("no thank you, not\r")
    try terminal.expect("answer y or n")
    terminal.type("n\r")
    try terminal.expect("Erase? [y/N]: ")
    terminal.type("yes, but not today\u{3}")
    #expect(try asked.value() == .failure(.cancelled))
  }

  @Test("An answer that is neither yes nor no is asked for again, and is no in the end")
  func neither() throws {
    let terminal = try PseudoTerminal()
    let asked = Background { () throws(PromptError) in
      let prompt = TerminalPrompt(path: terminal.path, style: Self.plain)
      return [
        try prompt.confirm("Keep?", isYesByDefault: true), try prompt.confirm("Erase?", isYesByDefault: true),
      ]
    }
    for keys in ["maybe\r", "yes, I want all of it\r", "n\r"] {
      try terminal.expect("Keep? [Y/n]: ")
      terminal.type(keys)
      if keys != "n\r" { try terminal.expect("answer y or n") }
    }
    for _ in 1...5 {
      try terminal.expect("Erase? [Y/n]: ")
      terminal.type("what?\r")
    }
    #expect(try asked.value() == .success([false, false]))
  }

  @Test("A question that is longer than a row is broken between words, and answered on its last row")
  func longQuestion() throws {
    let terminal = try PseudoTerminal(columns: 40)
    let prompt = TerminalPrompt(path: terminal.path, style: Self.plain)
    let asked = Background { () throws(PromptError) in
      try prompt.confirm("Destroy the coffer in /home/ada/coffer, with 12 messages and 3 captures?")
    }
    let shown = try terminal.expect("[y/N]: ")
    #expect(
      shown.split(separator: "\r\n").map(String.init) == [
        "Destroy the coffer in", "/home/ada/coffer, with 12 messages and", "\r\u{1B}[K3 captures? [y/N]: ",
      ], "\(shown.debugDescription)")
    terminal.type("y\r")
    #expect(try asked.value() == .success(true))
  }

  @Test("Control characters of a name do not reach the terminal")
  func printable() throws {
    let terminal = try PseudoTerminal()
    let asked = Self.ask(terminal, PromptRequest("Open \u{1B}]0;x\u{7}\u{9B}2J"))
    let shown = try terminal.expect("2J: ")
    #expect(!shown.contains("\u{7}") && !shown.contains("\u{9B}") && !shown.contains("\u{1B}]"))
    terminal.type("\r")
    #expect(try asked.value() == .success(""))
  }

  @Test(
    "A file that is not a terminal, and a missing file, do not count as a terminal",
    arguments: ["/dev/null", "/nonexistent"])
  func noTerminal(path: String) {
    let prompt = TerminalPrompt(path: path, style: Self.plain)
    #expect(!prompt.isAvailable)
    #expect(throws: PromptError.noTerminal) { try answer(prompt, PromptRequest("Passphrase")) }
  }

  @Test("A signal finds the terminal as it was, and the prompt goes on if the process does")
  func signals() async {
    // In a process of its own: prompts of other tests would hear the signal instead.
    await #expect(processExitsWith: .success) {
      let terminal = try PseudoTerminal()
      watchedDevice = terminal.device
      _ = signal(SIGTERM) { _ in
        var settings = termios()
        tcgetattr(watchedDevice, &settings)
        handlerRuns += 1
        sawEcho = settings.c_lflag & tcflag_t(ECHO) != 0
      }
      let asked = TerminalPromptTests.ask(terminal, PromptRequest("Passphrase"))
      try terminal.expect("Passphrase: ")
      kill(getpid(), SIGTERM)
      try terminal.expect("Passphrase: ")
      #expect(handlerRuns == 1)
      #expect(sawEcho)
      #expect(!terminal.isCooked)
      terminal.type("still here\r")
      #expect(try asked.value() == .success("still here"))
      #expect(terminal.isCooked)
    }
  }

  private static func ask(
    _ terminal: PseudoTerminal, _ request: PromptRequest, style: TerminalStyle = plain
  ) -> Background<String> {
    let prompt = TerminalPrompt(path: terminal.path, style: style)
    return Background { () throws(PromptError) in try answer(prompt, request) }
  }
}

/// For the handler of a signal, which can capture nothing.
private nonisolated(unsafe) var watchedDevice: Int32 = -1
private nonisolated(unsafe) var handlerRuns = 0
private nonisolated(unsafe) var sawEcho = false

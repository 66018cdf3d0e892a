// SPDX-License-Identifier: Apache-2.0
//
// `coffer browse` on a terminal: what it shows, that it gives the terminal back, and that it ends with the session.

import AgentLeash
import Foundation
import Glibc
import PseudoTerminals
import Testing

@Suite("Browsing on a terminal")
struct BrowseOnTerminalTests {
  private static let pass = ["--passphrase-file", "pass"]

  private func place() throws -> Place {
    let place = try Place()
    try place.makeCoffer()
    for title in ["Oak", "Pine", "Elm"] {
      let text = (1...60).map { "\(title) line \($0)" }.joined(separator: "\n")
      #expect(try place.run(["add", "--title", title] + Self.pass, input: text).status == 0)
    }
    return place
  }

  private func browse(_ place: Place, _ environment: [String: String] = [:]) throws -> CommandOnTerminal {
    try CommandOnTerminal(
      ["browse"] + Self.pass, in: place, environment: environment.merging(["NO_COLOR": "1"]) { own, _ in own }
    )
  }

  /// What is left on the first screen of all that was shown.
  private func scrollback(_ shown: String) -> String {
    shown.replacing(/(?s)\u{1B}\[\?1049h.*?\u{1B}\[\?1049l/, with: "")
  }

  @Test("Lists, reads, searches and ends; nothing of it stays on the first screen")
  func browsing() throws {
    let place = try place()
    let command = try browse(place)
    let terminal = command.terminal
    var shown = try terminal.expect("Enter reads")
    #expect(shown.contains("Messages: 1 to 3 of 3") && shown.contains("\u{1B}[?1049h"))
    #expect(shown.contains("Oak") && shown.contains("Elm") && !shown.contains("line 1"))
    terminal.type("j\r")
    shown += try terminal.expect("Pine line 16")
    shown += try terminal.expect("Esc: the list")
    terminal.type(" ")
    shown += try terminal.expect("Pine line 30")
    terminal.type("\u{1B}")
    shown += try terminal.expect("Enter reads")
    terminal.type("/oak\r")
    shown += try terminal.expect("Found for 'oak': 1 to 1 of 1")
    terminal.type("?")
    shown += try terminal.expect("any key: back")
    terminal.type("xq")
    let end = command.end()
    shown += end.shown
    #expect(end.status == 0 && terminal.isCooked)
    #expect(!scrollback(shown).contains("Pine") && !scrollback(shown).contains("Oak"))
    #expect(shown.ranges(of: "\u{1B}[?1049h").count == shown.ranges(of: "\u{1B}[?1049l").count)
  }

  @Test("The text can be changed in an editor, and a message removed after a question")
  func changing() throws {
    let place = try place()
    let command = try browse(place, ["EDITOR": "sed -i s/Elm/Ash/"])
    try command.terminal.expect("Enter reads")
    command.terminal.type("e")
    try command.terminal.expect("this is version 2.")
    try command.terminal.expect("Enter reads")
    command.terminal.type("\r")
    try command.terminal.expect("Ash line 1")
    command.terminal.type("d")
    try command.terminal.expect("Move this message to the trash?")
    command.terminal.type("y")
    try command.terminal.expect("It is in the trash")
    command.terminal.type("q")
    #expect(command.end().status == 0)
    #expect(try place.run(["list"] + Self.pass).output.split(separator: "\n").count == 2)
  }

  @Test("Signals give the terminal back", arguments: [SIGTERM, SIGHUP, SIGINT])
  func signals(signal: Int32) throws {
    let place = try place()
    defer { withExtendedLifetime(place) {} }
    let command = try browse(place)
    try command.terminal.expect("Enter reads")
    try command.send(signal)
    let end = command.end()
    #expect(end.status != 0 && end.shown.contains("\u{1B}[?1049l"))
    #expect(command.terminal.isCooked)
  }

  @Test("It ends when the session does")
  func locked() throws {
    let place = try place()
    let leash = try AgentLeash(folder: place.folder.path())
    defer { withExtendedLifetime(leash) {} }
    #expect(try place.runProcess(["unlock"] + Self.pass).status == 0)
    let command = try CommandOnTerminal(["browse"], in: place)
    try command.terminal.expect("Enter reads")
    #expect(try place.runProcess(["lock"]).status == 0)
    try command.terminal.expect("the session has ended")
    #expect(command.end().status == 3 && command.terminal.isCooked)
  }

  @Test("Without a terminal that has a second screen it says what to do instead")
  func refused() throws {
    let place = try place()
    let dumb = try browse(place, ["TERM": "dumb"]).end()
    #expect(dumb.status == 3 && dumb.shown.contains("coffer message list"))
    #expect(try place.run(["browse"] + Self.pass).status == 3)
    #expect(try place.run(["browse", "--json"] + Self.pass).status == 2)
  }
}

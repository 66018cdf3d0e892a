// SPDX-License-Identifier: Apache-2.0
//
// The session that the first command of a terminal offers.

import AgentLeash
import Foundation
import PseudoTerminals
import Testing

@Suite("The session that a command offers")
struct SessionOfferTests {
  private static let question = "Keep the coffer open until 5 min pass without a command? [y/N]: "

  private let place: Place
  private let leash: AgentLeash

  init() throws {
    place = try Place()
    leash = try AgentLeash(folder: place.folder.path())
    try place.makeCoffer()
  }

  /// Two commands one after the other on the same terminal.
  private func twice(_ command: String) throws -> CommandOnTerminal {
    let line = "'\(Place.coffer.path)' \(command)"
    return try CommandOnTerminal(
      ["-c", "\(line); \(line)"], in: place, program: URL(filePath: "/bin/bash"))
  }

  @Test("After a yes, the commands that follow ask for nothing, on other terminals too")
  func accepted() throws {
    let command = try twice("audit")
    try command.answer("passphrase: ", Place.passphrase)
    try command.answer(Self.question, "y")
    try command.terminal.expect("It is open; 'coffer lock' ends that.")
    let end = command.end()
    #expect(end.status == 0 && !end.shown.contains("passphrase: "), "\(end.shown)")
    #expect(try place.runProcess(["audit"]).status == 0)
    #expect(try place.runProcess(["lock"]).error == "Locked.\n")
  }

  @Test("After a no, how to be asked once is said, and the next command of the terminal offers nothing")
  func declined() throws {
    let command = try twice("audit")
    try command.answer("passphrase: ", Place.passphrase)
    try command.answer(Self.question, "")
    try command.terminal.expect("To be asked only once: coffer unlock")
    try command.answer("passphrase: ", Place.passphrase)
    let end = command.end()
    #expect(end.status == 0, "\(end.shown)")
    #expect(!end.shown.contains("[y/N]") && !end.shown.contains("asked only once"), "\(end.shown)")
    #expect(try place.runProcess(["audit"]).status == 3)
  }

  @Test("Control-C at the question cancels the command, and there is no session")
  func cancelled() throws {
    let command = try CommandOnTerminal(["message", "add", "--title", "Mat"], in: place)
    try command.answer("passphrase: ", Place.passphrase)
    try command.terminal.expect(Self.question)
    command.terminal.type("\u{3}")
    let end = command.end()
    #expect(end.status == 3 && end.shown.contains("coffer: cancelled"), "\(end.shown)")
    #expect(command.terminal.isCooked)
    #expect(try place.runProcess(["audit"]).status == 3)
    #expect(try place.runProcess(["list", "--passphrase-file", "pass"]).output.isEmpty)
  }

  @Test("The limits of the settings are those that the question names")
  func limits() throws {
    let set = try place.runProcess(["settings", "session-limit", "60", "--passphrase-file", "pass"])
    #expect(set.status == 0, "\(set.error)")
    let command = try CommandOnTerminal(["audit"], in: place)
    try command.answer("passphrase: ", Place.passphrase)
    try command.answer("Keep the coffer open for 1 min? [y/N]: ", "n")
    #expect(command.end().status == 0)
  }

  @Test(
    "Nothing is offered with --quiet or --json, with a passphrase from a file, or by a command that changes slots",
    arguments: [
      ["audit", "--quiet"], ["audit", "--json"], ["audit", "--passphrase-file", "pass"], ["erase"],
    ])
  func notOffered(_ arguments: [String]) throws {
    let command = try CommandOnTerminal(arguments, in: place)
    let prompt = arguments == ["erase"] ? "passphrase, to erase the coffer: " : "passphrase: "
    if arguments.count < 3 { try command.answer(prompt, Place.passphrase) }
    let end = command.end()
    #expect(
      !end.shown.contains("Keep the coffer open") && !end.shown.contains("asked only once"), "\(end.shown)")
  }
}

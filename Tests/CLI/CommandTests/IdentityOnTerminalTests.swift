// SPDX-License-Identifier: Apache-2.0
//
// What is asked on a terminal before an identity is deleted, revoked, backed up or taken from a file.

import Foundation
import PseudoTerminals
import Testing

@Suite("Identities on a terminal")
struct IdentityOnTerminalTests {
  /// A coffer with Ada, who is the default identity, and Bob.
  private func place() throws -> (place: Place, pass: String) {
    let place = try Place()
    try place.makeCoffer()
    let pass = place.folder.path() + "/pass"
    for userID in ["Ada Lovelace <ada@example.org>", "Bob"] {
      let made = try place.run(["identity", "generate", "--user-id", userID, "--passphrase-file", pass])
      #expect(made.status == 0, "\(made.error)")
    }
    return (place, pass)
  }

  private func names(_ place: Place, _ pass: String) throws -> [String] {
    try place.run(["identity", "list", "--passphrase-file", pass]).output.split(separator: "\n")
      .map { String($0.split(separator: "\t")[2]) }
  }

  @Test("Deleting 'me' says which identity that is, and wants its name and a yes")
  func delete() throws {
    let (place, pass) = try place()
    let arguments = ["identity", "delete", "me", "--no-backup", "--passphrase-file", pass]
    for (name, answer) in [("me", "y"), ("Bob", "y"), ("Ada Lovelace", "n")] {
      let command = try CommandOnTerminal(arguments, in: place)
      let shown = try command.answer("type its name to go on, Ada Lovelace: ", name)
      #expect(shown.contains("This deletes your default identity:") && shown.contains("ada@example.org"))
      if name == "Ada Lovelace" {
        try command.answer("No backup: messages to it can never be read again. Delete? [y/N]: ", answer)
      }
      let end = command.end()
      #expect(end.status == 7 && end.shown.contains("nothing was deleted"))
    }
    #expect(try names(place, pass) == ["Ada Lovelace <ada@example.org>", "Bob"])
    let command = try CommandOnTerminal(arguments, in: place)
    try command.answer("type its name to go on, Ada Lovelace: ", "Ada Lovelace")
    try command.answer("Delete? [y/N]: ", "y")
    #expect(command.end().status == 0)
    #expect(try names(place, pass) == ["Bob"])
  }

  @Test("Revoking asks why, and for the last group of the fingerprint")
  func revoke() throws {
    let (place, pass) = try place()
    let arguments = ["identity", "revoke", "ada", "--passphrase-file", pass]
    var command = try CommandOnTerminal(arguments, in: place)
    #expect(try command.answer("1 to 4: ", "5").contains("for good"))
    try command.answer("1 to 4: ", "1")
    try command.answer("type the last group of its fingerprint to go on", "0")
    var end = command.end()
    #expect(end.status == 7 && end.shown.contains("nothing was revoked"))
    command = try CommandOnTerminal(arguments, in: place)
    try command.answer("1 to 4: ", "1")
    try command.terminal.expect("to go on, ")
    let group = try command.terminal.expect(": ").prefix(4)
    command.terminal.type(group.lowercased() + "\r")
    end = command.end()
    #expect(end.status == 0 && end.shown.contains("is revoked"))
    let shown = try place.run(["identity", "show", "ada", "--passphrase-file", pass]).output
    #expect(shown.contains("state        revoked"))
  }

  @Test("The passphrase that is offered for a backup opens it; an import asks for it three times at most")
  func backup() throws {
    let (place, pass) = try place()
    let file = place.folder.path() + "/ada.asc"
    var command = try CommandOnTerminal(
      ["identity", "backup", "ada", file, "--passphrase-file", pass], in: place)
    let passphrase = try command.takeOffered()
    #expect(command.end().status == 0)
    #expect(try place.run(["identity", "delete", "ada", "--yes", "--passphrase-file", pass]).status == 0)
    #expect(try names(place, pass) == ["Bob"])

    let arguments = ["identity", "import", file, "--passphrase-file", pass]
    command = try CommandOnTerminal(arguments, in: place)
    #expect(try command.answer("? [y/N]: ", "n").contains("1 private key in this file:"))
    #expect(command.end().shown.contains("There is nothing to take."))
    command = try CommandOnTerminal(arguments, in: place)
    try command.answer("? [y/N]: ", "y")
    for _ in 1...3 { try command.answer("Ada Lovelace <ada@example.org>\": ", "wrong") }
    #expect(command.end().status == 4)
    command = try CommandOnTerminal(arguments, in: place)
    try command.answer("? [y/N]: ", "y")
    try command.answer("Ada Lovelace <ada@example.org>\": ", "wrong")
    try command.answer("Ada Lovelace <ada@example.org>\": ", passphrase)
    #expect(command.end().status == 0)
    #expect(try names(place, pass) == ["Bob", "Ada Lovelace <ada@example.org>"])
  }
}

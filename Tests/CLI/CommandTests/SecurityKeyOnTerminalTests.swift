// SPDX-License-Identifier: Apache-2.0
//
// Security keys on a terminal, with the command that has them in software: a second key, a key that is added, a lost one,
// and a wait that is cancelled.

#if SecurityKeys
  import Foundation
  import PseudoTerminals
  import Testing

  @Suite("Security keys on a terminal")
  struct SecurityKeyOnTerminalTests {
    private static let pins = ["red": "864201", "blue": "975310", "green": "112358"]
    private let place: Place
    private let pass: [String]

    init() throws {
      place = try Place()
      try place.makeCoffer()
      pass = ["--passphrase-file", place.folder.path() + "/pass"]
      let made = try run(["identity", "generate", "--user-id", "Ada <ada@example.org>"] + pass)
      try #require(made.status == 0, "\(made.error)")
      for (name, pin) in Self.pins { try keys("new", name, pin) }
    }

    private func run(_ arguments: [String]) throws -> Place.Outcome {
      try place.runProcess(arguments, program: Place.withKeys)
    }

    private func keys(_ words: String...) throws {
      let done = try run(["--keys"] + words)
      guard done.status == 0 else { throw PseudoTerminal.Failure(done.error) }
    }

    private func onTerminal(_ arguments: String...) throws -> CommandOnTerminal {
      try CommandOnTerminal(arguments + pass, in: place, program: Place.withKeys)
    }

    private func labels() throws -> [String] {
      try run(["mode"] + pass).output.split(separator: "\n").filter { $0.hasPrefix("key ") }
        .map { String($0.dropFirst(10)) }
    }

    private func sign(with name: String) throws -> Place.Outcome {
      try keys("plug", name)
      let pin = try place.write((Self.pins[name] ?? "") + "\n", to: "pin")
      let letter = try place.write("The ferry leaves at nine.\n", to: "letter")
      try? FileManager.default.removeItem(atPath: letter + ".asc")
      return try run(["--json", "sign", "--as", "ada", letter, "--guard-pin-file", pin] + pass)
    }

    /// A guard of red and blue.
    private func enter() throws {
      try keys("plug", "red")
      let command = try onTerminal(
        "mode", "high-security", "--guard", "security-key", "--acknowledge-no-backup")
      try command.answer("PIN of the security key", "864201")
      let shown = try command.answer("Enrol a second key now? [y/N]: ", "y")
      #expect(shown.contains("only the backups of your identities help"))
      // The same key again is not a second one.
      try command.answer("then press Return", "")
      try command.answer("PIN of the security key", "864201")
      try command.terminal.expect("this security key is enrolled already")
      try command.terminal.expect("then press Return")
      try keys("plug", "blue")
      command.terminal.type("\r")
      try command.answer("PIN of the security key", "975310")
      let end = command.end()
      #expect(end.status == 0, "\(end.shown)")
    }

    @Test("A second key is offered at once, and either opens, also without a backup")
    func second() throws {
      try enter()
      #expect(try labels() == ["first", "second"])
      for name in ["red", "blue"] {
        let signed = try sign(with: name)
        #expect(signed.status == 0, "\(signed.error)")
      }
      #expect(try sign(with: "green").error.contains("\"code\":\"other_security_key\""))
    }

    @Test("A key is added, and then the lost one removed, with each that stays; the lost one opens nothing")
    func change() throws {
      try enter()
      var command = try onTerminal("mode", "guard", "add", "spare")
      try command.answer("PIN of the security key", "975310")
      try command.terminal.expect("put in 'first', then press Return")
      try keys("plug", "red")
      command.terminal.type("\r")
      try command.answer("PIN of the security key", "864201")
      try command.terminal.expect("put in the new one, then press Return")
      try keys("plug", "green")
      command.terminal.type("\r")
      try command.answer("PIN of the security key", "112358")
      var end = command.end()
      #expect(end.status == 0 && end.shown.contains("first, second, spare"), "\(end.shown)")

      // Blue is lost.
      try keys("plug", "red")
      command = try onTerminal("mode", "guard", "remove", "second")
      try command.answer("PIN of the security key", "864201")
      try command.terminal.expect("put in 'spare', then press Return")
      try keys("plug", "green")
      command.terminal.type("\r")
      try command.answer("PIN of the security key", "112358")
      end = command.end()
      #expect(end.status == 0, "\(end.shown)")
      #expect(try labels() == ["first", "spare"])
      #expect(try sign(with: "green").status == 0)
      #expect(try sign(with: "blue").error.contains("\"code\":\"other_security_key\""))

      // One alone, and no backup.
      try keys("plug", "red")
      let pin = try place.write("864201\n", to: "red-pin")
      let refused = try run(["--json", "mode", "guard", "remove", "spare", "--guard-pin-file", pin] + pass)
      #expect(refused.status == 7 && refused.error.contains("\"code\":\"no_backup\""), "\(refused.error)")
      #expect(try labels() == ["first", "spare"])
    }

    /// A slot for red.
    private func addSlot() throws {
      try keys("plug", "red")
      let pin = try place.write("864201\n", to: "red-pin")
      let added = try run(["slot", "add", "security-key", "--name", "red", "--pin-file", pin] + pass)
      try #require(added.status == 0, "\(added.error)")
    }

    private func listing(_ arguments: String...) throws -> CommandOnTerminal {
      try CommandOnTerminal(["message", "list"] + arguments, in: place, program: Place.withKeys)
    }

    @Test("A security key that is plugged in is asked first, by its PIN and a touch")
    func slot() throws {
      try addSlot()
      let command = try listing()
      try command.answer("PIN of the security key (nothing: use the passphrase)", "135790")
      try command.terminal.expect("wrong PIN of the security key; 7 tries left")
      try command.answer("PIN of the security key", "864201")
      try command.terminal.expect("touch the security key")
      try command.declineSession()
      #expect(command.end().status == 0)
    }

    @Test("Without the key, with another one, or with an empty line, the passphrase is asked for")
    func otherWay() throws {
      try addSlot()
      var command = try listing()
      try command.answer("PIN of the security key", "")
      try command.answer("passphrase", Place.passphrase)
      try command.declineSession()
      #expect(command.end().status == 0)
      try keys("plug")
      command = try listing()
      try command.terminal.expect("No security key is plugged in: use the passphrase")
      try command.answer("passphrase", Place.passphrase)
      try command.declineSession()
      #expect(command.end().status == 0)
      try keys("plug", "blue")
      command = try listing()
      try command.answer("PIN of the security key", "975310")
      try command.terminal.expect("is another security key than those that are enrolled: use the passphrase")
      try command.answer("passphrase", Place.passphrase)
      try command.declineSession()
      #expect(command.end().status == 0)
    }

    @Test("Control-C ends the wait for a touch, and nothing is written")
    func cancel() throws {
      try enter()
      try keys("plug", "red")
      try keys("touch", "red", "never")
      let letter = try place.write("The ferry leaves at nine.\n", to: "letter")
      let command = try onTerminal("sign", "--as", "ada", letter)
      try command.answer("PIN of the security key", "864201")
      try command.terminal.expect("touch the security key")
      try command.terminal.expect("(Control-C: cancel)")
      command.terminal.type("\u{03}")
      let end = command.end()
      #expect(end.status == 3 && end.shown.contains("cancelled"), "\(end.shown)")
      #expect(!FileManager.default.fileExists(atPath: letter + ".asc"))
    }

    @Test("The product cannot take another transport: it does not call libfido2's hooks")
    func product() throws {
      for name in ["fido_dev_set_io_functions", "fido_dev_set_transport_functions"] {
        let program = try Data(contentsOf: Place.coffer)
        #expect(program.range(of: Data(name.utf8)) == nil, "\(name)")
        let other = try Data(contentsOf: Place.withKeys)
        #expect(other.range(of: Data(name.utf8)) != nil, "\(name)")
      }
    }
  }
#endif

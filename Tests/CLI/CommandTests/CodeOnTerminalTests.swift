// SPDX-License-Identifier: Apache-2.0
//
// QR codes drawn on a terminal, read from its screen by another program.

#if Pictures
  import Foundation
  import Testing

  @testable import CofferCommands

  @Suite("QR codes on a terminal")
  struct CodeOnTerminalTests {
    private static let pass = ["--passphrase-file", "pass"]

    private func placeOfAda() throws -> Place {
      let place = try Place()
      try place.makeCoffer()
      let made = try place.run(["identity", "generate", "--user-id", "Ada <ada@example.org>"] + Self.pass)
      #expect(made.status == 0, "\(made.error)")
      return place
    }

    /// - Parameter end: read while the command writes, since a code is more than a terminal keeps.
    private func shown(
      _ place: Place, columns: UInt16, _ environment: [String: String] = [:], until end: String = "hint:"
    ) throws -> (status: Int32, text: String) {
      let run = try CommandOnTerminal(
        ["identity", "qr", "ada"] + Self.pass, in: place, environment: environment, columns: columns)
      let shown = try run.terminal.expect(end)
      let (status, rest) = run.end()
      return (status, shown + rest)
    }

    @Test(
      "The code on the screen is the one of the picture; a narrower terminal gets none of it, and the width")
    func drawn() throws {
      let place = try placeOfAda()
      let refused = try shown(place, columns: 85)
      #expect(refused.status == 7)
      #expect(!refused.text.contains("▀") && refused.text.contains("--png FILE"))
      let words = try #require(
        refused.text.firstMatch(of: /the code is (\d+) columns wide, and this terminal 85/))
      let width = try #require(UInt16(words.1))
      #expect(try shown(place, columns: width - 1).status == 7)

      for environment in [[:], ["NO_COLOR": "1"], ["TERM": "xterm-256color"]] {
        let drawn = try shown(place, columns: width, environment, until: "this terminal 24")
        #expect(drawn.status == 0)
        // The terminal of these tests has 24 rows.
        #expect(drawn.text.contains("lines, and this terminal 24: --png FILE"))
        let colours =
          environment["TERM"] != nil
          ? /\u{1B}\[38;5;16;48;5;231m([▀▄█ ]+)\u{1B}\[0m/ : /\u{1B}\[[0-9;]+m([▀▄█ ]+)\u{1B}\[0m/
        let lines = drawn.text.matches(of: colours).map { Array($0.1) }
        #expect(lines.count == (Int(width) + 1) / 2 && lines.allSatisfy { $0.count == Int(width) })
        let url = try place.run(["identity", "qr", "ada", "--quiet"] + Self.pass).output
        #expect(try read(lines, in: place) == url.trimmingCharacters(in: .newlines))
      }
    }

    @Test("A terminal that no code fits is told so before the passphrase is asked; one more column asks")
    func measured() throws {
      let place = try placeOfAda()
      let least = CodeOutput.leastSideLength
      let narrow = try CommandOnTerminal(["identity", "qr", "ada"], in: place, columns: UInt16(least - 1))
      try narrow.terminal.expect("a code is at least \(least) columns wide, and this terminal \(least - 1)")
      let (status, _) = narrow.end()
      #expect(status == 7)
      let asked = try CommandOnTerminal(["identity", "qr", "ada"], in: place, columns: UInt16(least))
      try asked.terminal.expect("passphrase: ")
      asked.terminal.type("\u{3}")
      _ = asked.end()
    }

    @Test("The code of the smallest identity is not narrower than the least, and not much wider")
    func least() throws {
      let place = try Place()
      try place.makeCoffer()
      let made = try place.run(["identity", "generate", "--user-id", "a"] + Self.pass)
      #expect(made.status == 0, "\(made.error)")
      let least = CodeOutput.leastSideLength
      let run = try CommandOnTerminal(
        ["identity", "qr", "me", "--minimal"] + Self.pass, in: place, columns: UInt16(least))
      let shown = try run.terminal.expect("hint:")
      _ = run.end()
      let words = try #require(shown.firstMatch(of: /the code is (\d+) columns wide/))
      let width = try #require(Int(words.1))
      #expect((least...least + 16).contains(width))
    }

    @Test("A terminal without colours gets no code")
    func dumb() throws {
      let refused = try shown(try placeOfAda(), columns: 200, ["TERM": "dumb"])
      #expect(refused.status == 7)
      #expect(refused.text.contains("this terminal has no colours") && !refused.text.contains("▀"))
    }

    /// What zbarimg reads on a screen of characters with two modules each.
    private func read(_ lines: [[Character]], in place: Place) throws -> String {
      let rows = lines.flatMap { line in
        [line.map { $0 == "█" || $0 == "▀" }, line.map { $0 == "█" || $0 == "▄" }]
      }
      let scale = 4
      var picture = Data("P5\n\(rows[0].count * scale) \(rows.count * scale)\n255\n".utf8)
      for row in rows {
        let pixels = row.flatMap { [UInt8](repeating: $0 ? 0 : 255, count: scale) }
        for _ in 0..<scale { picture.append(contentsOf: pixels) }
      }
      let file = place.folder.appending(path: "screen.pgm")
      try picture.write(to: file)
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["zbarimg", "--quiet", "--raw", "--oneshot", file.path()]
      let output = Pipe()
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      let text = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
  }
#endif

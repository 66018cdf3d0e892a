// SPDX-License-Identifier: Apache-2.0
//
// Colours of verdicts and states: on a terminal that has them, unless the environment or the settings say no.

import Correspondence
import Foundation
import ProtectedData
import Testing

@testable import CofferCommands

@Suite("Colours")
struct ColourTests {
  private static let pass = ["--passphrase-file", "pass"]

  @Test("A theme paints each tone in a colour of its own; none, and lines without a tone, stay as they are")
  func palette() {
    for theme in ColourTheme.allCases where theme != .plain {
      let painted = Tone.allCases.map { Palette(theme).paint("x", $0).text }
      #expect(Set(painted).count == Tone.allCases.count)
      for line in painted { #expect(line.hasPrefix("\u{1B}[") && line.hasSuffix("mx\u{1B}[0m"), "\(line)") }
      #expect(Palette(theme).paint("x", nil).text == "x")
    }
    for tone in Tone.allCases {
      #expect(Palette(.plain).paint("x", tone).text == "x")
      #expect(Palette(nil).paint("x", tone).text == "x")
    }
  }

  @Test("A verdict is green where it is shown to somebody, and where colours are wanted")
  func verdict() throws {
    let place = try Place()
    try place.makeCoffer()
    let made = try place.run(["identity", "generate", "--user-id", "Ada <ada@example.org>"] + Self.pass)
    #expect(made.status == 0, "\(made.error)")
    #expect(!made.error.contains("\u{1B}"))
    let written = try place.run(
      ["encrypt", "--to", "me", "--output", "letter.pgp"] + Self.pass, input: "hello\n")
    #expect(written.status == 0, "\(written.error)")

    let words = "── decrypted; signed by you, as \"Ada <ada@example.org>\""
    func shown(_ environment: [String: String] = [:]) throws -> String {
      let run = try CommandOnTerminal(
        ["decrypt", "letter.pgp"] + Self.pass, in: place, environment: environment)
      let (status, text) = run.end()
      #expect(status == 0 && text.contains(words), "\(text)")
      return text
    }
    #expect(try shown().contains("\u{1B}[32m" + words))
    #expect(try !shown(["NO_COLOR": "1"]).contains("\u{1B}["))
    #expect(try !shown(["TERM": "dumb"]).contains("\u{1B}["))
    #expect(try !place.run(["decrypt", "letter.pgp"] + Self.pass).error.contains("\u{1B}"))

    for (theme, start) in [("dark", "\u{1B}[92m"), ("light", "\u{1B}[38;5;22m"), ("none", "")] {
      #expect(try place.run(["settings", "theme", theme] + Self.pass).status == 0)
      let text = try shown()
      #expect(text.contains(start + words), "\(theme)")
      #expect(text.contains("\u{1B}[32m") == false)
    }
    let list = try CommandOnTerminal(["identity", "list"] + Self.pass, in: place).end()
    #expect(list.shown.contains("NO BACKUP") && !list.shown.contains("\u{1B}[33m"))
    #expect(try place.run(["settings", "theme", "system"] + Self.pass).status == 0)
    let coloured = try CommandOnTerminal(["identity", "list"] + Self.pass, in: place).end()
    #expect(coloured.shown.contains("\u{1B}[33mNO BACKUP\u{1B}[0m"), "\(coloured.shown)")
  }
}

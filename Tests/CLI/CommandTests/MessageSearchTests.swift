// SPDX-License-Identifier: Apache-2.0
//
// A search on a terminal: lines of text below the rows, safe for the terminal; a removal that names what it found.

import Foundation
import Testing

@Suite("Searching messages")
struct MessageSearchTests {
  private static let pass = ["--passphrase-file", "pass"]

  private func place(_ messages: [(title: String, text: String)]) throws -> Place {
    let place = try Place()
    try place.makeCoffer()
    for (title, text) in messages {
      #expect(try place.run(["add", "--title", title] + Self.pass, input: text).status == 0)
    }
    return place
  }

  private func shown(
    _ place: Place, _ arguments: [String], _ environment: [String: String] = [:], columns: UInt16 = 80
  ) throws -> [String] {
    let run = try CommandOnTerminal(
      arguments + Self.pass, in: place, environment: environment, columns: columns)
    return run.end().shown.components(separatedBy: "\r\n")
  }

  @Test("Below each row is what was found, bold, or in brackets where there are no colours")
  func snippets() throws {
    let text =
      String(repeating: "word ", count: 30) + "the oak\u{1B}[2J stands\nhere"
      + String(repeating: " end", count: 30)
    let place = try place([("first", text), ("oak", "nothing")])
    let bold = try shown(place, ["search", "oak"])
    #expect(bold.count == 4 && bold[0].contains("oak") && bold[1].contains("first"))
    #expect(bold[2].contains("the \u{1B}[1moak\u{1B}[0m\u{FFFD}[2J stands here end"), "\(bold[2])")
    let plain = try shown(place, ["search", "oak"], ["NO_COLOR": "1"])
    #expect(plain[2].hasPrefix("    ...") && plain[2].hasSuffix("..."))
    #expect(plain[2].contains("the [oak]\u{FFFD}[2J stands here end") && plain[2].count <= 80)
    let narrow = try shown(place, ["search", "oak"], ["NO_COLOR": "1"], columns: 50)
    #expect(narrow[2].contains("[oak]") && narrow[2].count <= 50)
    #expect(try shown(place, ["search", "oak", "--no-snippets"]).count == 3)
    #expect(try shown(place, ["search", "oak", "--json"]).allSatisfy { !$0.contains("snippet") })
    #expect(
      try shown(place, ["search", "oak", "--limit", "1"]).suffix(2) == ["... and 1 older message", ""])
    #expect(
      try shown(place, ["search", "oak", "--limit", "1", "--oldest"]).suffix(2) == [
        "... and 1 newer message", "",
      ])
    #expect(try shown(place, ["search", "oak", "--count"]) == ["2", ""])
  }

  @Test(
    "A letter after a hyphen is an option of another program, and never a search that finds nothing",
    arguments: [
      (["-i", "oak"], "case never counts"), (["oak", "-n", "5"], "here it is --limit"),
      (["-n5", "oak"], "-n5"),
      (["-v", "oak"], "coffer message search WHAT -- -v"), (["oak", "-c"], "here it is --count"),
      (["-5", "oak"], "unknown option '-5'"),
    ])
  func foreignLetters(words: [String], hint: String) throws {
    let place = try place([("first", "an oak"), ("second", "a pine v")])
    let found = try place.run(["search"] + words + Self.pass)
    #expect(found.status == 2 && found.error.contains(hint), "\(found.error)")
    let removed = try place.run(["remove", "--yes", "--search"] + words + Self.pass)
    #expect(removed.status == 2)
    #expect(try place.run(["search", "--count"] + Self.pass + ["oak", "-pine", "--", "-v"]).output == "1\n")
  }

  @Test("A removal names what the search found and asks")
  func removing() throws {
    let place = try place([("first", "an oak"), ("second", "a pine"), ("third", "an oak, old")])
    let run = try CommandOnTerminal(
      ["remove", "--search", "oak", "-old"] + Self.pass, in: place, environment: ["NO_COLOR": "1"])
    let named = try run.answer("Move 1 message to the trash?", "y")
    #expect(named.contains("first, 6 bytes") && !named.contains("third"))
    #expect(run.end().status == 0)
    let left = try place.run(["list"] + Self.pass).output
    #expect(!left.contains("first") && left.contains("second") && left.contains("third"))
    let refused = try place.run(["remove", "--search", "oak"] + Self.pass)
    #expect(refused.status == 3 && refused.error.contains("there is no terminal to ask on"))
  }
}

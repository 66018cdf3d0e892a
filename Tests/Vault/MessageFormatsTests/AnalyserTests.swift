// SPDX-License-Identifier: Apache-2.0

import Extents
import Foundation
import SeededGenerators
import Testing

@testable import MessageFormats

@Suite("Analyser")
struct AnalyserTests {
  @Test("the examples of the specification")
  func specification() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Specs/search.md").standardizedFileURL
    let rows = try String(contentsOf: page, encoding: .utf8)
      .split(separator: "## Arguments")[0].split(separator: "\n")
      .filter { $0.hasPrefix("| `") }.map { $0.split(separator: "`") }
    #expect(rows.count == 17)
    for row in rows { #expect(words(String(row[1])) == String(row[3])) }
  }

  @Test(
    "equivalent forms have the same words",
    arguments: [
      // Rows of NormalizationTest.txt: characters, NFC, NFD, NFKC, NFKD.
      ["\u{1E0A}", "\u{44}\u{307}", "d"], ["\u{1E0C}\u{307}", "\u{44}\u{323}\u{307}", "d"],
      ["\u{212B}", "\u{C5}", "\u{41}\u{30A}"], ["\u{2126}", "\u{3A9}"], ["\u{FB01}", "fi"],
      ["\u{AC00}", "\u{1100}\u{1161}"], ["\u{FF76}\u{FF9E}", "\u{30AC}", "\u{30AB}\u{3099}"],
      ["\u{95C}", "\u{921}\u{93C}"], ["\u{F900}", "\u{8C48}"], ["\u{33A5}", "m3"], ["\u{2460}", "1"],
      ["\u{FE8E}", "\u{627}"], ["\u{2260}", "\u{3D}\u{338}"], ["\u{B4B}", "\u{B47}\u{B3E}"],
      ["\u{1100}\u{AC00}\u{11A8}", "\u{1100}\u{AC01}"], ["a\u{315}\u{300}\u{5AE}b", "\u{E0}\u{5AE}\u{315}b"],
      // Rows of CaseFolding.txt, statuses C and F.
      ["\u{DF}", "\u{1E9E}", "ss"], ["\u{149}", "\u{2BC}n"], ["\u{1F0}", "j\u{30C}"], ["\u{3C2}", "\u{3C3}"],
      ["\u{1E9B}", "\u{1E61}"], ["\u{1F80}", "\u{1F00}\u{3B9}"], ["\u{FB13}", "\u{574}\u{576}"],
      ["\u{10400}", "\u{10428}"], ["\u{13A0}", "\u{AB70}"], ["\u{1C90}", "\u{10D0}"],
      ["\u{587}", "\u{565}\u{582}"],
    ])
  func equivalents(_ forms: [String]) {
    let expected = words(forms[0])
    #expect(!expected.isEmpty)
    for form in forms { #expect(words(form) == expected) }
  }

  @Test("what has been folded and split stays as it is")
  func idempotence() {
    var random = SeededGenerator(run: 5)
    for _ in 0..<3_000 {
      let once = words(Self.text(&random))
      #expect(words(once) == once)
    }
  }

  @Test("letters by the table are those by the rules")
  func fastLetters() {
    for point in Array(0xC0...0xFF as ClosedRange<UInt32>) + Array(0x400...0x45F) {
      let letter = String(Unicode.Scalar(point)!)
      // Hebrew alef leads to no table; the run before it goes by the rules.
      let slow = words(letter + "\u{5D0}")
      let fast = words(letter + "x")
      #expect(slow.split(separator: "\u{5D0}").joined() == fast.split(separator: "x").joined(), "\(letter)")
    }
  }

  @Test("splitting agrees with a naive one, wherever pieces end")
  func naive() {
    var random = SeededGenerator(run: 6)
    for _ in 0..<3_000 {
      let text = Self.text(&random)
      let folded = fold(text)
      var splitter = WordSplitter(capacity: 64)
      var scalars = folded.unicodeScalars[...]
      while !scalars.isEmpty {
        let piece = scalars.prefix(Int.random(in: 1...5, using: &random))
        scalars = scalars.dropFirst(piece.count)
        splitter.append(Array(String(String.UnicodeScalarView(piece)).utf8).span.bytes)
      }
      let found = splitter.output.withBytes { $0.string($0.trimmed($0.whole)) }
      #expect(found == naiveWords(folded))
    }
  }

  @Test("every piece of a dense run is found, and nothing else")
  func dense() {
    let letters = Array("日本語한글かなไทยខ្មែရမြ".unicodeScalars)
    for number in Shares("dense runs", count: 4).of(UInt64(0)..<300) {
      var random = SeededGenerator(run: 7_000 + number)
      let run = String(
        String.UnicodeScalarView((0..<9).map { _ in letters.randomElement(using: &random)! }))
      let scalars = Array(fold(run).unicodeScalars)
      for start in scalars.indices where !Self.isMark(scalars[start]) {
        for end in start + 1...scalars.count {
          let piece = String(String.UnicodeScalarView(scalars[start..<end]))
          #expect(matches([piece], type: MessageMetadata.noteType, "x " + run + "y"))
        }
      }
      #expect(!matches([run + "龍"], type: MessageMetadata.noteType, run))
    }
  }

  @Test("bare ASCII words that a plain comparison finds are found")
  func nothingLost() {
    var random = SeededGenerator(run: 8)
    for _ in 0..<3_000 {
      let text = Self.text(&random)
      let plain = text.precomposedStringWithCompatibilityMapping.lowercased()
      for word in plain.split(whereSeparator: { !$0.isASCII || !($0.isLetter || $0.isNumber) }) {
        let piece = String(word.dropFirst(Int.random(in: 0..<word.count, using: &random)))
        #expect(matches([piece], type: MessageMetadata.noteType, text), "\(piece) in \(text)")
      }
    }
  }

  // MARK: Helpers

  static let pieces = [
    "a", "B", "garden", "e\u{301}", "é", "Ø", "ß", "й", "Ё", "\u{301}", "'", "’", " ", "\n", "-", ".", "1",
    "٣", "日",
    "本", "か\u{3099}", "한", "ไ", "ที่", "हिन्दी", "שָׁ", "أ", "🎉", "€", "=\u{338}", "\u{AD}", "\u{200D}", "_", "ﬁ",
  ]

  static func text(_ random: inout SeededGenerator) -> String {
    (0..<Int.random(in: 0...20, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined()
  }

  static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: false
    }
  }

  func fold(_ text: String) -> String {
    var folder = TextFolder(capacity: 64)
    folder.append(Array(text.utf8).span.bytes)
    return folder.output.withBytes { $0.string($0.whole) }
  }

  func words(_ text: String) -> String {
    var splitter = WordSplitter(capacity: 64)
    splitter.append(Array(fold(text).utf8).span.bytes)
    return splitter.output.withBytes { $0.string($0.trimmed($0.whole)) }
  }

  /// The rules of the specification, one character after the other.
  func naiveWords(_ folded: String) -> String {
    let scalars = Array(folded.unicodeScalars)
    var classes: [WordClass] = []
    for scalar in scalars {
      let own = WordClass(of: scalar.value)
      classes.append(own != .mark ? own : classes.last == .dense ? .dense : .letter)
    }
    var words: [String] = []
    var last = WordClass.separator
    for (index, scalar) in scalars.enumerated() {
      let isApostrophe = scalar == "'" || scalar == "\u{2019}"
      if isApostrophe, index > 0, index + 1 < scalars.count, classes[index - 1] == .letter,
        classes[index + 1] == .letter
      {
        continue
      }
      let own = classes[index]
      if own == .letter && last == .letter || own == .dense && last == .dense {
        words[words.count - 1].unicodeScalars.append(scalar)
      } else if own != .separator {
        words.append(String(scalar))
      }
      last = own
    }
    return words.joined(separator: " ")
  }
}

// SPDX-License-Identifier: Apache-2.0

import Testing
import Texts

@Suite("Text on a terminal")
struct TerminalTextTests {
  @Test(
    "What a terminal obeys, what turns the direction round and what nobody sees is shown as U+FFFD",
    arguments: [
      "\u{1B}", "\u{7}", "\r", "\u{7F}", "\u{9B}", "\u{85}", "\u{2028}", "\u{2029}", "\u{202E}", "\u{2066}",
      "\u{200E}", "\u{61C}", "\u{AD}", "\u{34F}", "\u{180E}", "\u{200B}", "\u{200C}", "\u{200D}", "\u{2060}",
      "\u{2064}", "\u{3164}", "\u{FE0F}", "\u{FEFF}", "\u{FFF9}", "\u{E0001}", "\u{E0041}", "\u{E0100}",
    ])
  func unfit(character: String) {
    #expect(TerminalText.line("a\(character)b") == "a\u{FFFD}b")
    #expect(TerminalText.line(character) == "\u{FFFD}")
    #expect(TerminalText.lines("a\(character)b") == "a\u{FFFD}b")
    #expect(!TerminalText.isFit("a\(character)b"))
  }

  @Test(
    "Letters of any script, and emoji that are made of several characters, stay as they are",
    arguments: [
      "Åland, Zürich, e\u{301}", "漢字 かな", "مرحبا", "می\u{200C}خواهم", "क\u{94D}\u{200D}ष", "ශ්\u{200D}රී",
      "👩\u{200D}🚀", "👩🏽\u{200D}🚀", "👨\u{200D}👩\u{200D}👧", "🏳\u{FE0F}\u{200D}🌈", "❤\u{FE0F}",
      "1\u{FE0F}\u{20E3}",
      "🇫🇮", "葛\u{E0100}", "∩\u{FE00}", "no\u{A0}break",
    ])
  func fit(text: String) {
    #expect(TerminalText.line(text) == text)
    #expect(TerminalText.isFit(text))
  }

  @Test("Bytes cannot be smuggled behind a character in a row of selectors or joiners")
  func rows() {
    #expect(TerminalText.line("😀\u{FE0F}\u{FE01}\u{E0101}") == "😀\u{FE0F}\u{FFFD}\u{FFFD}")
    #expect(TerminalText.line("👩\u{200D}\u{200D}🚀") == "👩\u{FFFD}\u{FFFD}🚀")
    #expect(TerminalText.line("a\u{FE0F}") == "a\u{FFFD}")
    #expect(TerminalText.line("葛\u{200B}\u{E0100}") == "葛\u{FFFD}\u{FFFD}")
  }

  @Test("Line feeds and tabs stay in several lines, and do not in one")
  func lineEnds() {
    #expect(TerminalText.lines("one\n\ttwo\r\n") == "one\n\ttwo\u{FFFD}\n")
    #expect(TerminalText.line("one\n\ttwo") == "one\u{FFFD}\u{FFFD}two")
    #expect(TerminalText.isFit("one\n\ttwo"))
  }

  @Test("Without format characters not even those stay that join or are seen")
  func withoutFormat() {
    for character in [
      "\u{200D}", "\u{600}", "\u{6DD}", "\u{1B}", "\u{2028}", "\u{202E}", "\u{FE0F}", "\n", "\t",
    ] {
      #expect(TerminalText.line("a\(character)b", keepsFormat: false) == "a\u{FFFD}b")
    }
    #expect(TerminalText.line("👩\u{200D}🚀", keepsFormat: false) == "👩\u{FFFD}🚀")
    #expect(TerminalText.line("Grüße, 葛", keepsFormat: false) == "Grüße, 葛")
  }
}

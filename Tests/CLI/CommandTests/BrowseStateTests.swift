// SPDX-License-Identifier: Apache-2.0
//
// What keys do in `coffer browse`, without a terminal and without messages; and how a text is broken into rows.

import Secrets
import Testing
import UserAuthentication

@testable import CofferCommands

@Suite("Keys of browse")
struct BrowseStateTests {
  private func keys(_ bytes: String) -> [BrowseKey] {
    var decoder = BrowseKeyDecoder()
    return bytes.utf8.compactMap { decoder.take($0) }
  }

  /// Ten rows fit; the list has 25 messages.
  private func state(count: Int = 25) -> BrowseState {
    var state = BrowseState(size: .init(rows: 12, columns: 40))
    state.show(count: count, query: "")
    return state
  }

  @Test("Bytes become keys, and sequences without a meaning become nothing")
  func decoding() {
    #expect(keys("jé\r\u{7F}") == [.character("j"), .character("é"), .enter, .backspace])
    #expect(
      keys("\u{1B}[A\u{1B}OB\u{1B}[5~\u{1B}[6~\u{1B}[H\u{1B}[4~") == [
        .up, .down, .pageUp, .pageDown, .home, .end,
      ])
    #expect(keys("\u{1B}[1;5Cq\u{1B}[200~x") == [.character("q"), .character("x")])
    #expect(keys("\u{3}\u{1A}\u{C}\u{15}") == [.interrupt, .suspend, .redraw, .clear])
    var decoder = BrowseKeyDecoder()
    #expect(decoder.take(0x1B) == nil && decoder.isAtEscape)
    #expect(decoder.flush() == .escape && !decoder.isAtEscape)
    #expect(decoder.take(0xFF) == nil && decoder.take(0xC3) == nil && decoder.take(0x41) == nil)
    #expect(decoder.take(0x42) == .character("B"))
  }

  @Test("The chosen row moves within the list, and the page with it")
  func moving() {
    var state = state()
    #expect(state.take(.up) == .nothing && state.chosen == 0)
    for _ in 1...10 { _ = state.take(.down) }
    #expect(state.chosen == 10 && state.visible == 1..<11)
    _ = state.take(.end)
    #expect(state.chosen == 24 && state.visible == 15..<25)
    _ = state.take(.pageUp)
    #expect(state.chosen == 15 && state.top == 15)
    _ = state.take(.home)
    #expect(state.chosen == 0 && state.visible == 0..<10)
    _ = state.take(.pageDown)
    #expect(state.take(.enter) == .read(9))
  }

  @Test("An empty list can be left and searched, and nothing else")
  func empty() {
    var state = state(count: 0)
    for key in [BrowseKey.enter, .down, .end, .pageDown, .character("e"), .character("d")] {
      #expect(state.take(key) == .nothing && state.place == .list && state.chosen == 0)
    }
    #expect(state.take(.character("q")) == .quit && state.take(.escape) == .quit)
  }

  @Test("Words are typed after a slash; Escape goes back, first from the search, then to all messages")
  func searching() {
    var state = state()
    for key in [BrowseKey.character("/"), .character("o"), .character("q"), .backspace, .character("k")] {
      #expect(state.take(key) == .nothing)
    }
    #expect(state.place == .searching && state.typed == "ok")
    #expect(state.take(.enter) == .search("ok") && state.place == .list)
    state.show(count: 2, query: "ok")
    #expect(state.take(.escape) == .search(""))
    _ = state.take(.character("/"))
    #expect(state.typed.isEmpty && state.take(.backspace) == .nothing && state.place == .list)
    _ = state.take(.character("/"))
    #expect(state.take(.interrupt) == .nothing && state.place == .list)
  }

  @Test("A text scrolls within its lines, and n reads the next message from its beginning")
  func reading() {
    var state = state()
    #expect(state.take(.enter) == .read(0))
    state.open(lineCount: 15)
    #expect(state.visibleLines == 0..<10)
    _ = state.take(.character(" "))
    #expect(state.visibleLines == 5..<15)
    _ = state.take(.down)
    #expect(state.line == 5)
    #expect(state.take(.character("n")) == .read(1))
    state.open(lineCount: 3)
    #expect(state.visibleLines == 0..<3 && state.chosen == 1)
    #expect(state.take(.escape) == .nothing && state.place == .list && state.chosen == 1)
  }

  @Test("Only y removes")
  func removing() {
    var state = state()
    _ = state.take(.down)
    #expect(state.take(.character("d")) == .nothing && state.place == .removing)
    #expect(state.take(.enter) == .nothing && state.place == .list)
    _ = state.take(.character("d"))
    #expect(state.take(.character("y")) == .remove(1))
    state.dropChosen()
    #expect(state.count == 24 && state.chosen == 1 && state.place == .list)
  }

  @Test("Help leads back to where it was opened, and Control-Z works everywhere")
  func help() {
    var state = state()
    _ = state.take(.enter)
    state.open(lineCount: 1)
    #expect(state.take(.character("?")) == .nothing && state.place == .help)
    #expect(state.take(.suspend) == .suspend && state.place == .help)
    #expect(state.take(.character("x")) == .nothing && state.place == .reading)
    #expect(state.take(.interrupt) == .quit)
  }

  @Test("A smaller screen keeps the chosen row in sight", arguments: [1, 2, 3, 5, 100])
  func resizing(rows: Int) {
    var state = state()
    _ = state.take(.end)
    state.resize(.init(rows: rows, columns: 10))
    #expect(state.visible.contains(24) && state.visible.count <= max(1, rows - 2))
    let shown = BrowseView.rows(state, state.visible.map { "\($0)" })
    #expect(shown.count == max(1, rows - 2) + 2)
    #expect(shown.allSatisfy { ColumnWidth.of($0.text) <= 10 })
  }

  @Test(
    "Rows are broken between words, wide characters count twice, and nothing is lost",
    arguments: [
      ("one two three", 8, ["one two ", "three"]), ("onetwothree", 4, ["onet", "woth", "ree"]),
      ("a\n\nb\n", 10, ["a", "", "b"]), ("", 10, []), ("漢字漢字", 5, ["漢字", "漢字"]),
      ("a\tb", 5, ["a    ", "b"]), ("e\u{301}e\u{301}e\u{301}", 2, ["e\u{301}e\u{301}", "e\u{301}"]),
      ("one two", 3, ["one", "two"]), ("\u{1B}[31mx", 20, ["\u{FFFD}[31mx"]), ("漢", 1, ["漢"]),
    ])
  func wrapping(text: String, columns: Int, expected: [String]) {
    let bytes = SharedSecretBytes(SecretBytes(copying: Array(text.utf8).rawSpan))
    let rows = BrowseText(bytes, columns: columns)
    #expect((0..<rows.count).map { rows.row($0) } == expected)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The rows of the screen for a state: a title, what the place shows, and a last row that says what can be done.

internal import UserAuthentication

enum BrowseView {
  /// Exactly as many rows as the terminal has.
  /// - Parameter body: the rows of the list or of the text that are visible.
  static func rows(_ state: BrowseState, _ body: [ShownLine]) -> [ShownLine] {
    let shown =
      switch state.place {
      case .help: help.prefix(state.room).map { line in "\(cut(line, state))" as ShownLine }
      case .list, .searching, .removing, .reading: body
      }
    let filled = shown + Array(repeating: "" as ShownLine, count: max(0, state.room - shown.count))
    return [Terminal.bold(cut(title(state), state))] + filled.prefix(state.room) + [
      "\(cut(foot(state), state))"
    ]
  }

  /// Where the cursor stands, from 1 on: at what is chosen or typed.
  static func cursor(_ state: BrowseState) -> (row: Int, column: Int) {
    switch state.place {
    case .list: (2 + state.chosen - state.top, 1)
    case .searching: (state.size.rows, min(state.size.columns, ColumnWidth.of(foot(state)) + 1))
    case .removing, .reading, .help: (state.size.rows, 1)
    }
  }

  private static func cut(_ text: String, _ state: BrowseState) -> String {
    ColumnWidth.cut(text, to: state.size.columns)
  }

  private static func title(_ state: BrowseState) -> String {
    switch state.place {
    case .help: return "Keys"
    case .reading:
      let rest = state.lineCount - state.visibleLines.upperBound
      return "Message \(state.chosen + 1) of \(state.count)"
        + (rest > 0 ? ", \(rest.counted("more line"))" : "")
    case .list, .searching, .removing:
      let rows = state.count == 0 ? "none" : "\(state.visible.lowerBound + 1) to \(state.visible.upperBound)"
      let all = "Messages: \(rows) of \(state.count)"
      return state.query.isEmpty ? all : "Found for '\(state.query)': \(rows) of \(state.count)"
    }
  }

  private static func foot(_ state: BrowseState) -> String {
    if let notice = state.notice { return notice }
    switch state.place {
    case .list where state.count == 0:
      return state.query.isEmpty
        ? "no messages yet: 'coffer message add' stores one; q ends" : "Esc: all messages"
    case .list: return "Enter reads, / searches, ? keys, q ends"
    case .searching: return "/" + state.typed
    case .reading: return "Esc: the list, space: the next page, ? keys"
    case .removing: return "Move this message to the trash? y: yes, any other key: no"
    case .help: return "any key: back"
    }
  }

  static let help = [
    "up, down, k, j       a row up or down",
    "PageUp, PageDown     a page; also b and space",
    "Home, End, g, G      the first, the last",
    "Enter                read the message",
    "Esc, q               back; from the list: end",
    "n, p                 while reading: the next, the one before",
    "/                    search: words, then Enter; Esc shows all again",
    "e                    change the text in your editor",
    "d                    move the message to the trash, after a question",
    "Control-L            draw again",
    "Control-Z, Control-C stop for a while, end at once",
  ]
}

// SPDX-License-Identifier: Apache-2.0
//
// A text from somebody else on a terminal: each line after a bar, which nothing in the text can leave. No line of the
// text can be taken for one of ours.

internal import Texts

enum BarredText {
  /// The lines as they are shown, without their bars.
  /// - Parameter width: columns for the text.
  static func lines(_ text: String, width: Int) -> [String] {
    var lines = text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.flatMap { wrapped(TerminalText.line(withoutTabs($0)), width: max(1, width)) }
  }

  /// Writes a text behind bars to standard output.
  static func print(_ text: String) {
    for line in lines(text, width: Terminal.columns - 2) {
      Terminal.print(Terminal.dim("│") + " " + "\(line)")
    }
  }

  /// A line of ours above or below a text.
  static func edge(_ words: String) -> ShownLine { "── \(words) ──" }

  private static func withoutTabs(_ line: Substring) -> String {
    var result = ""
    var column = 0
    for character in line {
      if character == "\t" {
        let count = tabWidth - column % tabWidth
        result += String(repeating: " ", count: count)
        column += count
      } else {
        result.append(character)
        column += 1
      }
    }
    return result
  }

  private static let tabWidth = 8

  private static func wrapped(_ line: String, width: Int) -> [String] {
    guard ColumnWidth.of(line) > width else { return [line] }
    var lines: [String] = []
    var current = ""
    var columns = 0
    for character in line {
      let count = ColumnWidth.of(String(character))
      if columns + count > width, !current.isEmpty {
        lines.append(current)
        (current, columns) = ("", 0)
      }
      current.append(character)
      columns += count
    }
    return lines + [current]
  }
}

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

  /// Before lines that nothing protects.
  static let unprotectedBar = "┆"

  /// Writes a text behind bars to standard output.
  static func print(_ text: String, bar: String = "│") {
    for line in lines(text, width: Terminal.columns - barColumns) {
      Terminal.print(Terminal.dim(bar) + " " + "\(line)")
    }
  }

  /// A line of ours above or below a text. It is never broken, so that each row of ours begins as it does.
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
  /// Two at most for the bar, and a space.
  private static let barColumns = 3

  private static func wrapped(_ line: String, width: Int) -> [String] {
    var lines: [String] = []
    var current = ""
    var columns = 0
    for character in pieces(line) {
      let count = Self.columns(of: character)
      if columns + count > width, !current.isEmpty {
        lines.append(current)
        (current, columns) = ("", 0)
      }
      current.append(character)
      columns += count
    }
    return lines + [current]
  }

  /// The characters of a line; one of very many scalars comes apart, or it would be wider than the line.
  private static func pieces(_ line: String) -> [Character] {
    line.flatMap { character in
      character.unicodeScalars.count > pieceScalarLimit
        ? character.unicodeScalars.map { Character($0) } : [character]
    }
  }

  private static let pieceScalarLimit = 16

  /// The columns that a terminal may need at most. Outside of ASCII that depends on the terminal: some show Greek,
  /// Cyrillic and symbols in two columns, and a mark that they do not know in one of its own. A line that is too short
  /// does no harm; one that is too long goes on below the bar.
  private static func columns(of character: Character) -> Int {
    character.unicodeScalars.reduce(0) { sum, scalar in
      sum + (scalar.isASCII ? 1 : ColumnWidth.of(String(scalar)) == 0 ? 1 : 2)
    }
  }
}

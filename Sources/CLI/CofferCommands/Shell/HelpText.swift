// SPDX-License-Identifier: Apache-2.0
//
// Help pages in the width of a terminal. They are written for a wide one; in a narrow one, paragraphs and the texts of
// options are filled again. Examples stay as they are, to be copied.

internal import Texts

enum HelpText {
  /// The page with no line longer than `columns`, but for examples and long words. What fits stays as it is.
  /// - Parameter columns: nil off a terminal, where all of it stays.
  static func fitted(_ page: String, to columns: Int?) -> String {
    guard let columns else { return page }
    let width = max(columns, leastColumns)
    let blocks = page.split(separator: "\n\n").map { block in
      guard !block.hasPrefix("example:") else { return String(block) }
      let lines = block.split(separator: "\n").map(String.init)
      return items(lines, isUsage: block.hasPrefix("usage:")).map { $0.fitted(to: width) }
        .joined(separator: "\n")
    }
    return blocks.joined(separator: "\n\n")
  }

  private static let leastColumns = 30

  /// Lines that are filled together.
  private struct Item {
    /// An option with the spaces after it, or an indentation.
    var start: Substring
    var lines: [String]
    /// The text that follows.
    var words: [Substring]
    /// The column in which its text goes on.
    var column: Int

    func fitted(to columns: Int) -> String {
      guard lines.contains(where: { ColumnWidth.of($0) > columns }) else {
        return lines.joined(separator: "\n")
      }
      return FilledText.rows(
        of: words, after: String(start), columns: columns, indent: column, width: ColumnWidth.of
      ).joined(separator: "\n")
    }
  }

  private static func items(_ block: [String], isUsage: Bool) -> [Item] {
    var items: [Item] = []
    // Where some lines have two columns, each that is not indented further is a name of its own.
    let isTable = block.contains { column(of: $0) != nil }
    let outermost = block.map { $0.prefix { $0 == " " }.count }.min()
    for line in block {
      let indent = line.prefix { $0 == " " }.count
      let isName = isTable && indent == outermost
      if let column = column(of: line) {
        let (start, text) = (line.prefix(column), line.dropFirst(column))
        items.append(Item(start: start, lines: [line], words: text.split(separator: " "), column: column))
      } else if isUsage {
        items.append(usage(line))
      } else if !isName, let last = items.indices.last, items[last].column == indent,
        items[last].words.count > 0
      {
        items[last].lines.append(line)
        items[last].words += line.split(separator: " ")
      } else {
        items.append(
          Item(
            start: line.prefix(indent), lines: [line], words: line.split(separator: " "),
            column: isName ? indent + 4 : indent))
      }
    }
    return items
  }

  /// Where the text of an option, a word or a command begins: after two spaces or more.
  static func column(of line: String) -> Int? {
    let term = line.drop { $0 == " " }
    guard let gap = term.firstRange(of: "  ") else { return nil }
    return line[..<gap.lowerBound].count + term[gap.lowerBound...].prefix { $0 == " " }.count
  }

  /// A line of the usage goes on a little deeper than it begins; what is in brackets is broken before a bar alone.
  private static func usage(_ line: String) -> Item {
    let start = line.hasPrefix("usage: ") ? line.prefix("usage: ".count) : line.prefix { $0 == " " }
    var words: [Substring] = []
    var depth = 0
    for word in line.dropFirst(start.count).split(separator: " ") {
      if depth > 0, word != "|", let last = words.popLast() {
        words.append(last + " " + word)
      } else {
        words.append(word)
      }
      depth += word.count { $0 == "[" } - word.count { $0 == "]" }
    }
    return Item(start: start, lines: [line], words: words, column: start.count + 4)
  }
}

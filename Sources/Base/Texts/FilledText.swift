// SPDX-License-Identifier: Apache-2.0
//
// Text in rows of a terminal, broken between words: the terminal itself would break within them.

/// Breaks text between words.
package enum FilledText {
  /// The line in rows of at most `columns`. What fits stays as it is, a longer word is a row of its own, and a command
  /// in quotation marks stays together where it can.
  /// - Parameters:
  ///   - start: characters at the beginning that are no words, such as the name of a row and the spaces after it.
  ///   - indent: spaces before the second row and those that follow; fewer in a narrow terminal.
  ///   - width: the columns that a text takes.
  package static func rows(
    _ line: String, columns: Int, start: Int = 0, indent: Int = 0,
    width: (String) -> Int = { $0.unicodeScalars.count }
  ) -> [String] {
    guard width(line) > columns else { return [line] }
    let words = line.dropFirst(start).split(separator: " ", omittingEmptySubsequences: false)
    let joined = quotationsJoined(words) { width($0) <= columns - indent }
    return rows(of: joined, after: String(line.prefix(start)), columns: columns, indent: indent, width: width)
  }

  /// Rows of words, the first after `start`. In a narrow terminal it is a row of its own, and the words are below it.
  package static func rows(
    of words: [Substring], after start: String, columns: Int, indent: Int, width: (String) -> Int
  ) -> [String] {
    var rows: [String] = []
    var (row, indent) = (start, indent)
    if columns - indent < leastTextColumns {
      indent = min(indent, narrowIndent)
      let name = String(start.reversed().drop { $0 == " " }.reversed())
      row = String(repeating: " ", count: name.isEmpty ? min(start.count, indent) : indent)
      if !name.isEmpty { rows.append(name) }
    }
    var isBegun = false
    for word in words {
      if isBegun, width(row + " " + word) > columns {
        rows.append(row)
        row = String(repeating: " ", count: indent)
        isBegun = false
      }
      row += isBegun ? " " + word : word
      isBegun = true
    }
    return rows + [row]
  }

  private static let leastTextColumns = 24
  private static let narrowIndent = 6

  /// The words with those between two quotation marks as one, if it fits.
  private static func quotationsJoined(_ words: [Substring], _ fits: (String) -> Bool) -> [Substring] {
    var joined: [Substring] = []
    var rest = words[...]
    while let word = rest.first {
      let end = word.hasPrefix("'") ? rest.firstIndex(where: endsQuotation) : nil
      let quotation = end.map { rest[...$0].joined(separator: " ") }
      if let end, let quotation, fits(quotation) {
        joined.append(Substring(quotation))
        rest = rest[(end + 1)...]
      } else {
        joined.append(word)
        rest.removeFirst()
      }
    }
    return joined
  }

  private static func endsQuotation(_ word: Substring) -> Bool {
    guard word.count > 1, let last = word.lastIndex(where: { !".,;:?)".contains($0) }) else { return false }
    return word[last] == "'"
  }
}

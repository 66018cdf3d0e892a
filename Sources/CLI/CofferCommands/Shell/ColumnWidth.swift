// SPDX-License-Identifier: Apache-2.0
//
// How many terminal columns a text takes: none for a combining accent, two for a Chinese character.

internal import CSystem

enum ColumnWidth {
  /// The columns of a text without control characters.
  static func of(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + of($1) } }

  /// The same of a line that may have our own sequences, those of colours, which end in "m".
  static func ofShown(_ line: String) -> Int {
    var isInSequence = false
    return line.unicodeScalars.reduce(0) { width, scalar in
      if scalar == "\u{1B}" { isInSequence = true }
      defer { if scalar == "m" { isInSequence = false } }
      return isInSequence ? width : width + of(scalar)
    }
  }

  /// `text` cut to a number of columns, with an ellipsis if something was cut.
  static func cut(_ text: String, to width: Int) -> String {
    if of(text) <= width { return text }
    var result = ""
    var left = max(0, width - 1)
    for character in text {
      let columns = of(String(character))
      if columns > left { break }
      left -= columns
      result.append(character)
    }
    return result + "…"
  }

  /// `text` padded with spaces at the end to a number of columns.
  static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - of(text)))
  }

  /// The columns of one character.
  static func of(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x7F { return 1 }
    // Negative for a character that the library does not know yet, which is mostly an emoji.
    let columns = Int(coffer_character_columns(scalar.value))
    return columns < 0 ? 2 : columns
  }
}

extension String {
  /// Padded with spaces at the end to at least `width` characters.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

  /// Padded with spaces at the start to at least `width` characters.
  func paddedAtStart(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}

extension StringProtocol {
  /// Without the spaces at its start and end.
  func trimmingBlanks() -> String {
    drop(while: { $0 == " " }).trimmingTrailingBlanks()
  }

  /// Without the spaces at its end.
  func trimmingTrailingBlanks() -> String { String(reversed().drop { $0 == " " }.reversed()) }
}

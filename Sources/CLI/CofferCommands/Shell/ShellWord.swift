// SPDX-License-Identifier: Apache-2.0

internal import Texts

/// A word of a command line, made safe to paste into a shell.
enum ShellWord {
  /// The word, quoted if a shell would interpret it. Characters that are not safe on a terminal are written in the
  /// form `$'…'` of bash, zsh and ksh.
  static func quoted(_ word: String) -> String {
    if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
    // Byte by byte: to Swift, a quote with an accent on it is another character than a quote.
    let quote = UInt8(ascii: "'")
    if TerminalText.line(word) == word {
      let bytes = word.utf8.flatMap { $0 == quote ? Array(#"'\''"#.utf8) : [$0] }
      return "'" + String(decoding: bytes, as: UTF8.self) + "'"
    }
    var text = "$'"
    for byte in word.utf8 {
      switch byte {
      case quote, UInt8(ascii: "\\"): text += "\\" + String(Unicode.Scalar(byte))
      case 0x20..<0x7F: text += String(Unicode.Scalar(byte))
      // Always three octal digits, so that a digit after them is not taken for a fourth.
      default: text += "\\" + String(byte >> 6) + String(byte >> 3 & 7) + String(byte & 7)
      }
    }
    return text + "'"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

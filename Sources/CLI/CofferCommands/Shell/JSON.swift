// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Texts

/// Answers for programs: one document, keys sorted, on one line.
enum JSON {
  static func text(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Every answer consists of strings, numbers and arrays of them.
    guard let data = try? encoder.encode(value) else { return "null" }
    return escaped(String(decoding: data, as: UTF8.self))
  }

  /// The same, with a document instead of the value `placeholder`. The document is written as it is.
  ///
  /// - Parameters:
  ///   - placeholder: a text that occurs nowhere else.
  ///   - document: valid JSON, as ``oneLine(_:)`` gives it.
  static func text(_ value: some Encodable, with document: String, for placeholder: String) -> String {
    text(value).replacing("\"\(placeholder)\"", with: document)
  }

  static func print(_ value: some Encodable) { Terminal.print("\(text(value))") }

  /// A valid document on one line. Nothing else changes: numbers keep their digits, members keep their order, and
  /// duplicates stay.
  static func oneLine(_ document: String) -> String {
    // Strings contain no line ends and no tabs (RFC 8259, 7), so these are white space.
    let lineEnds: [UInt8] = [0x09, 0x0A, 0x0D]
    let line = String(decoding: document.utf8.map { lineEnds.contains($0) ? 0x20 : $0 }, as: UTF8.self)
    return escaped(line.trimmingCharacters(in: .whitespaces))
  }

  /// Only strings contain such characters. Escaped, they mean the same to a program and cannot control a terminal.
  private static func escaped(_ document: String) -> String {
    TerminalText.replacing(document, keepsLines: false) { scalar in
      scalar.utf16.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    }
  }
}

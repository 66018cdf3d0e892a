// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Answers for programs: one document, keys sorted, on one line.
enum JSON {
  static func text(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Every answer consists of strings, numbers and arrays of them.
    guard let data = try? encoder.encode(value) else { return "null" }
    // Only strings hold such characters. Escaped, they are the same to a program, and cannot act on a
    // terminal when a person looks.
    var text = ""
    for scalar in String(decoding: data, as: UTF8.self).unicodeScalars {
      if Terminal.isUnfit(scalar) {
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  static func print(_ value: some Encodable) { Terminal.print(text(value)) }
}

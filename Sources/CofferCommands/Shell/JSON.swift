// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Answers for programs: one document, keys sorted, on one line.
enum JSON {
  static func text(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Every answer consists of strings, numbers and arrays of them.
    guard let data = try? encoder.encode(value) else { return "null" }
    return String(decoding: data, as: UTF8.self)
  }

  static func print(_ value: some Encodable) { Terminal.print(text(value)) }
}

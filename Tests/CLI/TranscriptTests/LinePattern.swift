// SPDX-License-Identifier: Apache-2.0
//
// One expected line. Everything in it is literal but these words, and the line `...` which stands for
// any number of lines (see `Alignment`):
//
//     <uuid>    8-4-4-4-12 hexadecimal digits       <date>   2026-11-21, also with time and zone
//     <number>  digits, grouped or with a fraction  <words>  lower-case words, one space between
//     <any>     anything within the line, also nothing
//     <hex>     lower-case hexadecimal digits

struct LinePattern {
  static let anyLines = "..."

  private static let uuid = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
  private static let zone = "(?: ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?"
  private static let time = "[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]+)?)?" + zone
  private static let date = "[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]\(time))?"

  private static let placeholders = [
    "<uuid>": uuid,
    "<date>": date,
    "<number>": "[0-9]+(?:[., ][0-9]+)*",
    "<words>": "[a-z]+(?: [a-z]+)*",
    "<any>": ".*",
    "<hex>": "[0-9a-f]+",
  ]

  private let regex: Regex<AnyRegexOutput>

  init(_ line: String) throws {
    var source = ""
    var rest = line[...]
    while let first = rest.first {
      if let placeholder = Self.placeholders.first(where: { rest.hasPrefix($0.key) }) {
        source += "(?:\(placeholder.value))"
        rest = rest.dropFirst(placeholder.key.count)
      } else {
        source += #"\^$.|?*+()[]{}/"#.contains(first) ? "\\\(first)" : String(first)
        rest = rest.dropFirst()
      }
    }
    regex = try Regex(source)
  }

  /// The line as a pattern for the next run: what is different every time becomes a placeholder.
  static func generalising(_ line: String) -> String {
    guard let uuid = try? Regex(uuid), let date = try? Regex(date) else { return line }
    return line.replacing(uuid, with: "<uuid>").replacing(date, with: "<date>")
  }

  func matches(_ line: String) -> Bool { line.wholeMatch(of: regex) != nil }
}

// SPDX-License-Identifier: Apache-2.0
//
// The only kind of line that is printed. Literal text is printed as it is. Interpolated text may come from a message, a
// file's name or the environment, so it is made safe for a terminal here, and no command has to do so.

internal import Texts

/// One line for a terminal or a pipe.
struct ShownLine: ExpressibleByStringInterpolation {
  private(set) var text: String

  init(stringLiteral text: String) { self.text = text }

  init(stringInterpolation parts: Parts) { text = parts.text }

  /// The escape sequences are ours; the text between them may come from anywhere.
  fileprivate init(_ text: String, between start: String, and end: String) {
    self.text = start + TerminalText.line(text) + end
  }

  static func + (start: ShownLine, end: ShownLine) -> ShownLine {
    ShownLine(stringLiteral: start.text + end.text)
  }

  static func += (line: inout ShownLine, end: ShownLine) { line.text += end.text }

  struct Parts: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { text += literal }

    mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      text += TerminalText.line(value.description)
    }

    mutating func appendInterpolation(_ line: ShownLine) { text += line.text }
  }
}

extension Terminal {
  static func bold(_ text: String) -> ShownLine {
    wantsColour(isOutputTerminal)
      ? ShownLine(text, between: "\u{1B}[1m", and: "\u{1B}[0m") : "\(text)"
  }

  static func dim(_ text: String) -> ShownLine {
    wantsColour(isOutputTerminal)
      ? ShownLine(text, between: "\u{1B}[2m", and: "\u{1B}[0m") : "\(text)"
  }
}

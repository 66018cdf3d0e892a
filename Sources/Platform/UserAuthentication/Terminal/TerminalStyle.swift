// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The abilities of a terminal: colours, and clearing a row.
struct TerminalStyle: Sendable {
  var usesColours: Bool
  var clearsRows: Bool

  /// The style for the environment: no colours when `NO_COLOR` is set and not empty (no-color.org); neither
  /// colours nor escape sequences when `TERM` is `dumb` or missing.
  static func ofEnvironment() -> TerminalStyle {
    let terminal = variable("TERM")
    let isDumb = terminal.isEmpty || terminal == "dumb"
    return TerminalStyle(usesColours: !isDumb && variable("NO_COLOR").isEmpty, clearsRows: !isDumb)
  }

  /// Back to the first column of an empty row.
  func clearedRow(columnCount: Int) -> String {
    if clearsRows { return "\r\u{1B}[K" }
    return "\r" + String(repeating: " ", count: columnCount - 1) + "\r"
  }

  func coloured(_ text: String, as level: StrengthReading.Level) -> String {
    guard usesColours else { return text }
    let colour =
      switch level {
      case .weak: 31
      case .medium: 33
      case .strong: 32
      }
    return "\u{1B}[\(colour)m\(text)\u{1B}[0m"
  }

  private static func variable(_ name: String) -> String {
    guard let value = unsafe getenv(name) else { return "" }
    return unsafe String(cString: value)
  }
}

// SPDX-License-Identifier: Apache-2.0

/// The abilities of a terminal: colours, and clearing a row.
struct TerminalStyle: Sendable {
  var usesColours: Bool
  var clearsRows: Bool

  /// The style for the environment: no colours when `NO_COLOR` is set and not empty (no-color.org); neither
  /// colours nor escape sequences when `TERM` is `dumb` or missing.
  init(_ variables: [String: String]) {
    let isDumb = ["", "dumb"].contains(variables["TERM"] ?? "")
    self.init(usesColours: !isDumb && (variables["NO_COLOR"] ?? "").isEmpty, clearsRows: !isDumb)
  }

  init(usesColours: Bool, clearsRows: Bool) {
    (self.usesColours, self.clearsRows) = (usesColours, clearsRows)
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
}

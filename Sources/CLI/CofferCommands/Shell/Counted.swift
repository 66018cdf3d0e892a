// SPDX-License-Identifier: Apache-2.0

extension Int {
  /// "1 message", "36 messages". Without groups, because scripts read it too.
  func counted(_ one: String, _ many: String? = nil) -> String {
    "\(self) \(self == 1 ? one : many ?? one + "s")"
  }

  /// The digits in groups of three: "5,004".
  var grouped: String {
    var text = ""
    for (offset, digit) in String(magnitude).reversed().enumerated() {
      if offset > 0, offset % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return (self < 0 ? "-" : "") + String(text.reversed())
  }
}

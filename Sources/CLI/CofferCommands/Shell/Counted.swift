// SPDX-License-Identifier: Apache-2.0

extension Int {
  /// "1 message", "36 messages".
  func counted(_ one: String, _ many: String? = nil) -> String {
    "\(self) \(self == 1 ? one : many ?? one + "s")"
  }
}

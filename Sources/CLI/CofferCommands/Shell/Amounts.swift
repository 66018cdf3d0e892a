// SPDX-License-Identifier: Apache-2.0
//
// Durations and sizes for users.

enum Duration {
  /// A duration for users, rounded up.
  static func text(_ seconds: Int) -> String {
    switch seconds {
    case ..<60: "\(max(seconds, 1)) s"
    case ..<3600: "\((seconds + 59) / 60) min"
    default: "\(seconds / 3600) h \(seconds / 60 % 60) min"
    }
  }

  /// Seconds as you type them: `900`, `900s`, `15m`, `2h`, `1d`; nil for anything else.
  static func seconds(_ text: String) -> Int? {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    let unit = text.last.flatMap { units[$0] }
    let digits = unit == nil ? text[...] : text.dropLast()
    // No sign: a time is never negative, and "+5m" would be a surprise.
    guard digits.first?.isASCII == true, digits.first?.isNumber == true, let number = Int(digits) else {
      return nil
    }
    let (seconds, isTooLong) = number.multipliedReportingOverflow(by: unit ?? 1)
    return isTooLong ? nil : seconds
  }
}

enum ByteCount {
  /// A size for users, in decimal units.
  static func text(_ count: Int) -> String {
    switch count {
    case ..<1_000: count.counted("byte")
    case ..<1_000_000: "\(count / 1_000) kB"
    case ..<1_000_000_000: "\(count / 100_000 / 10).\(count / 100_000 % 10) MB"
    default: "\(count / 100_000_000 / 10).\(count / 100_000_000 % 10) GB"
    }
  }
}

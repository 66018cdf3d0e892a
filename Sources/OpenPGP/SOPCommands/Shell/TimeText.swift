// SPDX-License-Identifier: Apache-2.0
//
// ISO 8601, as far as it says one thing only: `2026-01-31T12:00:00Z`, `20260131T120000Z`, and either with
// `+01:00`, `+0100` or `+01` in the place of Z. Seconds may be left out, and fractions of them are dropped.

/// Takes the text of a time apart, from its left.
struct TimeText {
  private var rest: ArraySlice<UInt8>

  init(_ text: String) { rest = Array(text.utf8)[...] }

  var isAtEnd: Bool { rest.isEmpty }

  /// Whether `character` is next; if so, it is taken.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  /// `YYYY-MM-DD` or `YYYYMMDD`; whether there is such a day is not asked.
  mutating func date() -> (year: Int, month: Int, day: Int)? {
    guard let year = number(4) else { return nil }
    let isExtended = take("-")
    guard let month = number(2), take("-") == isExtended, let day = number(2) else { return nil }
    return (year, month, day)
  }

  /// `HH:MM:SS` or `HHMMSS`, as seconds of the day.
  mutating func clock() -> Int? {
    guard let hour = number(2), hour < 24 else { return nil }
    let isExtended = take(":")
    guard let minute = number(2), minute < 60 else { return nil }
    guard isExtended ? take(":") : nextIsDigit else { return hour * 3600 + minute * 60 }
    guard let second = number(2), second <= 60 else { return nil }
    if take(".") || take(",") {
      guard nextIsDigit else { return nil }
      rest = rest.drop { Self.isDigit($0) }
    }
    return hour * 3600 + minute * 60 + second
  }

  /// `Z` or the difference from UTC, in seconds.
  mutating func zone() -> Int? {
    if take("Z") { return 0 }
    let isBehind = take("-")
    guard isBehind || take("+"), let hour = number(2), hour < 24 else { return nil }
    var seconds = hour * 3600
    if !isAtEnd {
      _ = take(":")
      guard let minute = number(2), minute < 60 else { return nil }
      seconds += minute * 60
    }
    return isBehind ? -seconds : seconds
  }

  private var nextIsDigit: Bool { rest.first.map(Self.isDigit) ?? false }

  /// Exactly so many digits.
  private mutating func number(_ count: Int) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  private static func isDigit(_ character: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Times of the command line, ISO 8601 in UTC, without Foundation: loading it takes longer than most of what
// this command does. It reads forms with one meaning only: `2026-01-31T12:00:00Z`, `20260131T120000Z`, and
// either with `+01:00`, `+0100` or `+01` in the place of Z. Seconds may be left out, and fractions of them
// are dropped.

internal import Glibc
internal import OpenPGP
internal import Texts

/// Reads and writes times.
enum CalendarTime {
  /// The time by the system's clock.
  static func now() -> Timestamp { clamped(Int(time(nil))) }

  /// A value of `--not-before` and the like: a time, `now`, or nil for `-`, which means no limit.
  static func bound(_ text: String) throws(Failure) -> Timestamp? {
    switch text {
    case "-": return nil
    case "now": return now()
    default:
      guard let time = parse(text) else {
        throw Failure(
          .unsupportedOption, "'\(text)' is not a time",
          hint: "write it like 2026-01-31T12:00:00Z, or now, or -"
        )
      }
      return time
    }
  }

  /// A time of ISO 8601 with its zone, or a day alone for its beginning in UTC. Times that OpenPGP cannot hold
  /// become its first or last.
  static func parse(_ text: String) -> Timestamp? {
    var text = TimeText(text)
    guard let (year, month, day) = text.date(),
      let midnight = CivilTime.seconds(year: year, month: month, day: day, hour: 0, minute: 0, second: 0)
    else { return nil }
    if text.isAtEnd { return clamped(Int(midnight)) }
    guard text.take("T"), let seconds = text.clock(), let difference = text.zone(), text.isAtEnd else {
      return nil
    }
    return clamped(Int(midnight) + seconds - difference)
  }

  /// `YYYY-MM-DDTHH:MM:SSZ`.
  static func text(_ time: Timestamp) -> String { RFC3339.format(Int64(time.secondsSince1970)) }

  private static func clamped(_ seconds: Int) -> Timestamp {
    Timestamp(secondsSince1970: UInt32(clamping: seconds))
  }
}

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

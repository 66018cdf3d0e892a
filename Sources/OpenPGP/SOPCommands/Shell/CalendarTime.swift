// SPDX-License-Identifier: Apache-2.0
//
// Times of the command line, ISO 8601 in UTC, without Foundation: loading it takes longer than most of what
// this command does.

internal import Glibc
internal import OpenPGP

/// Reads and writes times.
enum CalendarTime {
  /// The time by the system's clock.
  static func now() -> Timestamp { clamped(Int(time(nil))) }

  /// A value of `--not-before` and the like: a time, `now`, or nil for `-`, which is no bound.
  static func bound(_ text: String) throws(Failure) -> Timestamp? {
    switch text {
    case "-": return nil
    case "now": return now()
    default:
      guard let time = parse(text) else {
        throw Failure(
          .unsupportedOption, "«\(text)» is no time", hint: "write it like 2026-01-31T12:00:00Z, or now, or -"
        )
      }
      return time
    }
  }

  /// A time of ISO 8601 with its zone, or a day alone for its beginning in UTC. Times that OpenPGP cannot hold
  /// become its first or last.
  static func parse(_ text: String) -> Timestamp? {
    var text = TimeText(text)
    guard let (year, month, day) = text.date(), (1...12).contains(month),
      (1...dayCount(year, month)).contains(day)
    else { return nil }
    let days = dayNumber(year, month, day)
    if text.isAtEnd { return clamped(days * 86_400) }
    guard text.take("T"), let seconds = text.clock(), let difference = text.zone(), text.isAtEnd else {
      return nil
    }
    return clamped(days * 86_400 + seconds - difference)
  }

  /// `YYYY-MM-DDTHH:MM:SSZ`.
  static func text(_ time: Timestamp) -> String {
    let seconds = Int(time.secondsSince1970)
    var (year, days) = (1970, seconds / 86_400)
    while days >= dayCount(year) {
      days -= dayCount(year)
      year += 1
    }
    var month = 1
    while days >= dayCount(year, month) {
      days -= dayCount(year, month)
      month += 1
    }
    let clock = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map(twoDigits).joined(separator: ":")
    return "\(year)-\(twoDigits(month))-\(twoDigits(days + 1))T\(clock)Z"
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func clamped(_ seconds: Int) -> Timestamp {
    Timestamp(secondsSince1970: UInt32(clamping: seconds))
  }

  private static func isLeap(_ year: Int) -> Bool {
    year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
  }

  private static func dayCount(_ year: Int) -> Int { isLeap(year) ? 366 : 365 }

  private static func dayCount(_ year: Int, _ month: Int) -> Int {
    [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  /// Days from 1970 to this one.
  private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let years =
      year >= 1970
      ? (1970..<year).reduce(0) { $0 + dayCount($1) } : -(year..<1970).reduce(0) { $0 + dayCount($1) }
    return years + (1..<month).reduce(0) { $0 + dayCount(year, $1) } + day - 1
  }
}

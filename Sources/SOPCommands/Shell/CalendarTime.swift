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

  /// `YYYY-MM-DDTHH:MM:SSZ`, or a day alone for its beginning. Times that OpenPGP cannot hold become its first
  /// or last.
  static func parse(_ text: String) -> Timestamp? {
    let bytes = Array(text.utf8)
    guard bytes.count == 20 || bytes.count == 10 else { return nil }
    func number(_ range: Range<Int>) -> Int? {
      bytes[range].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        ? Int(String(decoding: bytes[range], as: UTF8.self)) : nil
    }
    func stands(_ character: Character, _ offset: Int) -> Bool { bytes[offset] == character.asciiValue }
    guard stands("-", 4), stands("-", 7), let year = number(0..<4), let month = number(5..<7),
      let day = number(8..<10), (1...12).contains(month), (1...dayCount(year, month)).contains(day)
    else { return nil }
    var seconds = dayNumber(year, month, day) * 86_400
    if bytes.count == 20 {
      guard stands("T", 10), stands(":", 13), stands(":", 16), stands("Z", 19), let hour = number(11..<13),
        let minute = number(14..<16), let second = number(17..<19), hour < 24, minute < 60, second <= 60
      else { return nil }
      seconds += hour * 3600 + minute * 60 + second
    }
    return clamped(seconds)
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

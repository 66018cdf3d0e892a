// SPDX-License-Identifier: Apache-2.0
//
// Times of the command line, ISO 8601 in UTC, without Foundation: loading it takes longer than most of what
// this command does.

internal import Glibc
internal import OpenPGP
internal import Texts

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

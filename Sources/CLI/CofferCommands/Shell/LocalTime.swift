// SPDX-License-Identifier: Apache-2.0
//
// Times as people read them: of the place where they are. Programs get RFC 3339.

internal import Glibc
internal import Texts

enum LocalTime {
  /// Date and time, without seconds.
  /// - Parameter seconds: since 1970, UTC.
  static func minute(_ seconds: Int64) -> String {
    guard let parts = unsafe parts(of: seconds) else { return RFC3339.format(seconds) }
    return unsafe text(parts)
  }

  /// The date alone.
  static func day(_ seconds: Int64) -> String { String(minute(seconds).prefix { $0 != " " && $0 != "T" }) }

  /// Month and day of a time in this year, as `11-22` and two spaces; else year and month, as `2024-03`.
  static func monthAndDay(_ seconds: Int64) -> String {
    let (day, today) = (day(seconds), day(Int64(time(nil))))
    let isThisYear = day.prefix { $0 != "-" } == today.prefix { $0 != "-" }
    return String(isThisYear ? day.suffix(5) : day.dropLast(3)).padded(to: 7)
  }

  /// Date, time without seconds, and the short name of the time zone, as `2026-11-22 04:58 CET`.
  static func minuteAndZone(_ seconds: Int64) -> String {
    guard let parts = unsafe parts(of: seconds), let zone = unsafe parts.tm_zone else {
      return RFC3339.format(seconds)
    }
    return unsafe "\(text(parts)) \(String(cString: zone))"
  }

  /// A time as it is printed: local on a terminal, RFC 3339 elsewhere.
  static func shown(_ seconds: Int64) -> String {
    Terminal.isOutputTerminal ? minuteAndZone(seconds) : RFC3339.format(seconds)
  }

  /// A time that is in RFC 3339 already.
  static func shown(_ time: String) -> String {
    guard Terminal.isOutputTerminal, let seconds = RFC3339.parse(time) else { return time }
    return minuteAndZone(seconds)
  }

  /// Reads `2026-11-22`, `2026-11-22 04:58` in the local zone, or RFC 3339; nil for anything else.
  /// - Returns: seconds since 1970, UTC.
  static func parse(_ text: String) -> Int64? {
    if let seconds = RFC3339.parse(text) { return seconds }
    let fields = text.split(whereSeparator: { "- T:".contains($0) }).map { Int32($0) ?? -1 }
    let forms = ["####-##-##", "####-##-## ##:##", "####-##-##T##:##"]
    guard forms.contains(String(text.map { $0.isASCII && $0.isNumber ? "#" : $0 })) else { return nil }
    let (hour, minute) = (fields.count > 3 ? fields[3] : 0, fields.count > 4 ? fields[4] : 0)
    guard let found = moment(fields[0], fields[1], fields[2], hour, minute) else { return nil }
    let isMinute = fields.count <= 3 || found.minute == minute && hour < 24
    return isMinute ? found.seconds : nil
  }

  /// When a day begins here. Where clocks are put forward at midnight, its first hour is missing.
  /// - Returns: seconds since 1970, UTC; nil when there is no such day.
  static func midnight(_ year: Int, _ month: Int, _ day: Int) -> Int64? {
    let day = (Int32(year), Int32(month), Int32(day))
    return (moment(day.0, day.1, day.2, 0, 0) ?? moment(day.0, day.1, day.2, 1, 0))?.seconds
  }

  /// A time of a day here, in seconds since 1970, UTC, and the minute that it has: clocks may leave some out.
  /// - Returns: nil when the day is not there: the system would take the 31st of February for one in March.
  private static func moment(
    _ year: Int32, _ month: Int32, _ day: Int32, _ hour: Int32, _ minute: Int32
  ) -> (seconds: Int64, minute: Int32)? {
    var parts = unsafe tm()
    unsafe parts.tm_year = year - 1900
    unsafe parts.tm_mon = month - 1
    unsafe parts.tm_mday = day
    unsafe parts.tm_hour = hour
    unsafe parts.tm_min = minute
    unsafe parts.tm_isdst = -1
    let seconds = unsafe Int64(mktime(&parts))
    guard unsafe parts.tm_mon == month - 1 && parts.tm_mday == day else { return nil }
    return unsafe (seconds, parts.tm_min)
  }

  private static func parts(of seconds: Int64) -> tm? {
    var time = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil else { return nil }
    return unsafe parts
  }

  private static func text(_ parts: tm) -> String {
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (year, month, day) = unsafe (parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday)
    let (hour, minute) = unsafe (parts.tm_hour, parts.tm_min)
    return "\(year)-\(two(month))-\(two(day)) \(two(hour)):\(two(minute))"
  }
}

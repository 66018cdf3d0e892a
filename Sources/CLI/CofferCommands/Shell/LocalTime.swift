// SPDX-License-Identifier: Apache-2.0
//
// Times as people read them: of the place where they are. Programs get RFC 3339.

internal import Glibc
internal import MessageFormats
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
    if isUTC { return unsafe "\(text(parts)) UTC" }
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

  /// The seconds of a day here, since 1970, UTC. It may begin later than midnight, end before it, or begin and end
  /// twice, as clocks are put forward or back.
  /// - Returns: nil when there is no such day.
  static func seconds(ofDay year: Int, _ month: Int, _ day: Int) -> ClosedRange<Int64>? {
    guard let utc = CivilTime.seconds(year: year, month: month, day: day, hour: 0, minute: 0, second: 0)
    else {
      return nil
    }
    func isInDay(_ seconds: Int64) -> Bool {
      guard let parts = unsafe parts(of: seconds) else { return false }
      return unsafe (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)) == (
        year, month, day
      )
    }
    // No clock is put forward or back twice between two of these.
    let times = Array(
      stride(from: utc - zoneSeconds, through: utc + 86_400 + zoneSeconds, by: Int(stepSeconds)))
    guard let first = times.first(where: isInDay), let last = times.last(where: isInDay) else { return nil }
    let before = Array(first - stepSeconds...first)
    let after = Array(last...last + stepSeconds)
    return before[before.partitionIndex(where: isInDay)]...after[after.partitionIndex { !isInDay($0) } - 1]
  }

  /// How far a zone's time may be from UTC, in either direction: 15 h 13 min in Alaska before 1867.
  private static let zoneSeconds: Int64 = 16 * 3_600
  private static let stepSeconds: Int64 = 900

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
    let seconds = unsafe Int64(isUTC ? timegm(&parts) : mktime(&parts))
    guard unsafe parts.tm_mon == month - 1 && parts.tm_mday == day else { return nil }
    return unsafe (seconds, parts.tm_min)
  }

  /// Whether the run is in no other place; the C library knows the zone of the process alone.
  private static var isUTC: Bool { CommandRun.current.environment.variable("TZ") == "UTC" }

  private static func parts(of seconds: Int64) -> tm? {
    var time = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe (isUTC ? gmtime_r(&time, &parts) : localtime_r(&time, &parts)) != nil else { return nil }
    return unsafe parts
  }

  private static func text(_ parts: tm) -> String {
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (year, month, day) = unsafe (parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday)
    let (hour, minute) = unsafe (parts.tm_hour, parts.tm_min)
    return "\(year)-\(two(month))-\(two(day)) \(two(hour)):\(two(minute))"
  }
}

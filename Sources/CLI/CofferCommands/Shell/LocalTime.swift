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

  /// The same with the short name of the time zone, as `2026-11-22 04:58 CET`.
  static func minuteAndZone(_ seconds: Int64) -> String {
    guard let parts = unsafe parts(of: seconds), let zone = unsafe parts.tm_zone else {
      return RFC3339.format(seconds)
    }
    return unsafe "\(text(parts)) \(String(cString: zone))"
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

// SPDX-License-Identifier: Apache-2.0

internal import Texts

/// The time of a server, as the header `Date` has it: IMF-fixdate, RFC 9110, section 5.6.7.
enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

  /// Seconds since 1970; nil for another form, and for a time before 1970.
  static func parse(_ text: String) -> UInt64? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard text.utf8.count == 29, parts.count == 6, parts[0].last == ",",
      days.contains(String(parts[0].dropLast())),
      parts[5] == "GMT", let day = number(parts[1], 2), let month = months.firstIndex(of: String(parts[2])),
      let year = number(parts[3], 4)
    else { return nil }
    let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 3, let hour = number(clock[0], 2), let minute = number(clock[1], 2),
      let second = number(clock[2], 2),
      let seconds = CivilTime.seconds(
        year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    return UInt64(exactly: seconds)
  }

  private static func number(_ digits: Substring, _ count: Int) -> Int? {
    guard digits.utf8.count == count, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(digits)
  }
}

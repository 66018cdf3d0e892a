// SPDX-License-Identifier: Apache-2.0
//
// Days and dates of the proleptic Gregorian calendar. The count runs in eras of 400 years that begin on
// the first of March, so that the leap day is the last day of a year.

/// A moment in UTC, taken apart.
package struct CivilTime: Equatable, Sendable {
  /// Seconds since 1970 from 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z: the years that four digits can say.
  package static let representable: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

  package var year: Int
  package var month: Int
  package var day: Int
  package var hour: Int
  package var minute: Int
  package var second: Int
  /// 0 is Sunday.
  package var weekday: Int

  /// Seconds outside of the years 0 to 9999 become the nearest inside.
  package init(_ seconds: Int64) {
    let range = Self.representable
    let bounded = Int(min(max(seconds, range.lowerBound), range.upperBound))
    // From 0000-03-01 minus one era, so that all divisions are of positive numbers.
    let shifted = bounded + Self.secondsToEra
    let days = shifted / 86_400
    let rest = shifted % 86_400
    hour = rest / 3600
    minute = rest / 60 % 60
    second = rest % 60
    weekday = (days + 3) % 7
    let era = days / 146_097
    let dayOfEra = days % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = yearOfEra + (era - 1) * 400 + (month <= 2 ? 1 : 0)
  }

  /// Seconds since 1970 of a date in the years 0 to 9999; nil when there is no such date or time. Second 60 is
  /// the first of the next minute.
  package static func seconds(
    year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
  ) -> Int64? {
    guard (0...9999).contains(year), (1...12).contains(month), (0...23).contains(hour),
      (0...59).contains(minute), (0...60).contains(second),
      day >= 1, day <= dayCount(of: month, in: year)
    else { return nil }
    let shiftedYear = (month <= 2 ? year - 1 : year) + 400
    let era = shiftedYear / 400
    let yearOfEra = shiftedYear % 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return Int64(days * 86_400 + hour * 3600 + minute * 60 + second - secondsToEra)
  }

  /// Days of a month, 1 to 12.
  package static func dayCount(of month: Int, in year: Int) -> Int {
    if month == 2 { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28 }
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31
  }

  /// From -0400-03-01 to 1970-01-01.
  private static let secondsToEra = (719_468 + 146_097) * 86_400
}

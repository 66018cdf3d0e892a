// SPDX-License-Identifier: Apache-2.0
//
// The dates of a search (Specs/search.md, "Arguments"): years, months and days, and ranges of them.

internal import Texts

/// The second since 1970, UTC, in which a day begins; nil when there is no such day.
public typealias Midnight = (_ year: Int, _ month: Int, _ day: Int) -> Int64?

/// Reads what follows `date:`, `after:` and `before:`.
public enum SearchDates {
  /// The beginning of a day in UTC.
  public static func utc(_ year: Int, _ month: Int, _ day: Int) -> Int64? {
    CivilTime.seconds(year: year, month: month, day: day, hour: 0, minute: 0, second: 0)
  }

  /// `2024`, `2024-03`, `2024-03-01`, or two of them with two dots between, one of which may be left out.
  static func range(
    _ field: String, _ value: Substring, _ midnight: Midnight
  ) throws(SearchSyntaxError) -> ClosedRange<Int64> {
    let ends =
      if field == "date", let dots = value.firstRange(of: "..") {
        (first: value[..<dots.lowerBound], last: value[dots.upperBound...])
      } else {
        (first: field == "before" ? "" : value, last: field == "after" ? "" : value)
      }
    guard !ends.first.isEmpty || !ends.last.isEmpty else { throw .badDate(String(value)) }
    let first = ends.first.isEmpty ? Int64.min : period(ends.first, midnight)?.lowerBound
    let last = ends.last.isEmpty ? Int64.max : period(ends.last, midnight)?.upperBound
    guard let first, let last else { throw .badDate(String(value)) }
    guard first <= last else { throw .reversedDates(String(value)) }
    return first...last
  }

  /// The seconds of a year, a month or a day.
  private static func period(_ text: Substring, _ midnight: Midnight) -> ClosedRange<Int64>? {
    let digits = text.split(separator: "-", omittingEmptySubsequences: false)
    guard 1...3 ~= digits.count,
      zip(digits, [4, 2, 2]).allSatisfy({ piece, count in
        piece.utf8.count == count && piece.utf8.allSatisfy(ASCII.isDigit)
      })
    else { return nil }
    let numbers = digits.compactMap { Int($0) }
    let (year, month, day) = (
      numbers[0], numbers.count > 1 ? numbers[1] : nil, numbers.count > 2 ? numbers[2] : nil
    )
    let lastMonth = month ?? 12
    guard 1...12 ~= lastMonth, day ?? 1 >= 1, day ?? 1 <= CivilTime.dayCount(of: lastMonth, in: year) else {
      return nil
    }
    let last = (year: year, month: lastMonth, day: day ?? CivilTime.dayCount(of: lastMonth, in: year))
    let next = following(last)
    guard let first = midnight(year, month ?? 1, day ?? 1) else { return nil }
    // Nothing follows the last year that four digits can say.
    if next.year > 9999 { return first...Int64.max }
    // Where a place has crossed the date line, a day is missing.
    let later = following(next)
    let end =
      midnight(next.year, next.month, next.day) ?? midnight(later.year, later.month, later.day)
    guard let end, first < end else { return nil }
    return first...end - 1
  }

  private static func following(_ day: (year: Int, month: Int, day: Int)) -> (year: Int, month: Int, day: Int)
  {
    if day.day < CivilTime.dayCount(of: day.month, in: day.year) { return (day.year, day.month, day.day + 1) }
    return day.month < 12 ? (day.year, day.month + 1, 1) : (day.year + 1, 1, 1)
  }
}

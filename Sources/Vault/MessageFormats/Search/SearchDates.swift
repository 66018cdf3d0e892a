// SPDX-License-Identifier: Apache-2.0
//
// The dates of a search (Specs/search.md, "Arguments"): years, months and days, and ranges of them.

internal import Texts

/// The first and the last second of a day, since 1970, UTC; nil when there is no such day. Where clocks go back over
/// midnight, seconds of the next day are between them.
public typealias DaySeconds = (_ year: Int, _ month: Int, _ day: Int) -> ClosedRange<Int64>?

/// Reads what follows `date:`, `after:` and `before:`.
public enum SearchDates {
  /// A day in UTC.
  public static func utc(_ year: Int, _ month: Int, _ day: Int) -> ClosedRange<Int64>? {
    CivilTime.seconds(year: year, month: month, day: day, hour: 0, minute: 0, second: 0)
      .map { $0...$0 + 86_399 }
  }

  /// `2024`, `2024-03`, `2024-03-01`, or two of them with two dots between, one of which may be left out.
  static func range(
    _ field: String, _ value: Substring, _ day: DaySeconds
  ) throws(SearchSyntaxError) -> ClosedRange<Int64> {
    let ends =
      if field == "date", let dots = value.firstRange(of: "..") {
        (first: value[..<dots.lowerBound], last: value[dots.upperBound...])
      } else {
        (first: field == "before" ? "" : value, last: field == "after" ? "" : value)
      }
    guard !ends.first.isEmpty || !ends.last.isEmpty else { throw .badDate(String(value)) }
    let first = ends.first.isEmpty ? Int64.min : period(ends.first, day)?.lowerBound
    let last = ends.last.isEmpty ? Int64.max : period(ends.last, day)?.upperBound
    guard let first, let last else { throw .badDate(String(value)) }
    guard first <= last else { throw .reversedDates(String(value)) }
    return first...last
  }

  /// The seconds of a year, a month or a day.
  private static func period(_ text: Substring, _ seconds: DaySeconds) -> ClosedRange<Int64>? {
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
    let months = (month ?? 1)...(month ?? 12)
    guard 1 <= months.lowerBound, months.upperBound <= 12 else { return nil }
    let dayCount = CivilTime.dayCount(of: months.upperBound, in: year)
    let days = (day ?? 1)...(day ?? dayCount)
    guard 1 <= days.lowerBound, days.upperBound <= dayCount else { return nil }
    // Where a place has crossed the date line, one day is missing.
    let first =
      seconds(year, months.lowerBound, days.lowerBound)
      ?? (day == nil ? seconds(year, months.lowerBound, 2) : nil)
    let last =
      seconds(year, months.upperBound, days.upperBound)
      ?? (day == nil ? seconds(year, months.upperBound, dayCount - 1) : nil)
    guard let first, let last else { return nil }
    return first.lowerBound...last.upperBound
  }
}

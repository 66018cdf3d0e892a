// SPDX-License-Identifier: Apache-2.0

internal import Texts

/// Months and days of the week as mail names them.
extension CivilTime {
  /// The number of a month by its first three letters in any case.
  static func month(_ text: RawSpan, at offset: Int) -> Int? {
    for (index, name) in monthNames.enumerated() {
      if text.matches(name.lower, at: offset, ignoringCase: true) { return index + 1 }
    }
    return nil
  }

  var monthName: StaticString { Self.monthNames[month - 1].proper }
  var weekdayName: StaticString { Self.weekdayNames[weekday] }

  private static let monthNames: [(proper: StaticString, lower: StaticString)] = [
    ("Jan", "jan"), ("Feb", "feb"), ("Mar", "mar"), ("Apr", "apr"), ("May", "may"), ("Jun", "jun"),
    ("Jul", "jul"), ("Aug", "aug"), ("Sep", "sep"), ("Oct", "oct"), ("Nov", "nov"), ("Dec", "dec"),
  ]
  private static let weekdayNames: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
}

// SPDX-License-Identifier: Apache-2.0
//
// Segments of ranges of rows that are on the disk (Specs/search-index.md, "Writing").

internal import Storage

extension Vault {
  /// Makes the first segments of the rows with these numbers: where there are enough rows, two threads make one each.
  func buildNextSegments(of numbers: ClosedRange<Int64>) throws -> [BuiltSegment] {
    guard let middle = try firstNumber(in: numbers, after: index.documentCount) else {
      return [try buildSegment(of: numbers)]
    }
    let second = try SegmentWork(of: middle...numbers.upperBound, self)
    // Whatever fails, the thread ends first. A file that no record names is removed later.
    let first = Result { try buildSegments(of: numbers.lowerBound...middle - 1) }
    let last = Result { try second.end() }
    return try first.get() + [last.get()]
  }

  /// The number of a row that is shown, after so many that are shown; nil if there is none.
  private func firstNumber(in numbers: ClosedRange<Int64>, after count: Int) throws -> Int64? {
    try file.read(.messages) { transaction in
      try transaction.firstRow(
        "SELECT number FROM messages WHERE number BETWEEN ? AND ? AND standing = 0 ORDER BY number LIMIT 1 OFFSET ?",
        .integer(numbers.lowerBound), .integer(numbers.upperBound), .integer(Int64(count))
      ) { try $0.integer(0) }
    }
  }

  /// Makes segments of all rows with these numbers that are shown.
  func buildSegments(of numbers: ClosedRange<Int64>) throws -> [BuiltSegment] {
    var built: [BuiltSegment] = []
    var next = numbers.lowerBound
    while next <= numbers.upperBound {
      let segment = try buildSegment(of: next...numbers.upperBound)
      built.append(segment)
      next = segment.numbers.upperBound + 1
    }
    return built
  }

  /// Makes a segment of the rows with these numbers that are shown, from the first, as many as fit.
  func buildSegment(of numbers: ClosedRange<Int64>) throws -> BuiltSegment {
    var making = try SegmentMaking(of: numbers, self)
    while try making.copyRows(self) { try making.openRows() }
    return try making.finish()
  }
}

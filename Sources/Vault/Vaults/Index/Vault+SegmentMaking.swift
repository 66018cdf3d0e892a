// SPDX-License-Identifier: Apache-2.0
//
// Segments of ranges of rows that are on the disk (Specs/search-index.md, "Writing").

internal import Storage

extension Vault {
  /// Bytes of boxes of as many messages as a segment can have. With more it is full before it has them: two at once would
  /// hold twice its 40 MiB, and save little, since the first thread makes several.
  private static let byteCount = 12 << 20

  /// Makes the first segments of the rows with these numbers: where there are enough rows, two threads make one each.
  func buildNextSegments(of numbers: ClosedRange<Int64>) throws -> [BuiltSegment] {
    guard let middle = try middle(of: numbers) else { return [try buildSegment(of: numbers)] }
    let second = try SegmentWork(of: middle...numbers.upperBound, self)
    // Whatever fails, the thread ends first. A file that no record names is removed later.
    let first = Result { try buildSegments(of: numbers.lowerBound...middle - 1) }
    let last = Result { try second.end() }
    return try first.get() + [last.get()]
  }

  /// The first row that is not for the first segment; nil if one thread makes the next segment alone.
  private func middle(of numbers: ClosedRange<Int64>) throws -> Int64? {
    try file.read(.messages) { transaction in
      var middle: Int64?
      var (count, byteCount) = (0, 0)
      try transaction.forEachRow(
        """
        SELECT number, length(sealed) FROM messages WHERE number BETWEEN ? AND ? AND standing = 0
        ORDER BY number
        """, .integer(numbers.lowerBound), .integer(numbers.upperBound)
      ) { row in
        if count == index.documentCount { middle = try row.integer(0) }
        count += 1
        byteCount += Int(try row.integer(1))
        return middle == nil && byteCount <= Self.byteCount
      }
      return middle
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

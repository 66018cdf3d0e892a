// SPDX-License-Identifier: Apache-2.0
//
// An open segment: its rows. What it finds is in SegmentReader+Searching.swift.

internal import MessageFormats
public import Primitives
internal import Secrets
public import Storage

/// Reads a segment. One thread at a time; open a segment twice for two.
public final class SegmentReader {
  /// In which order messages come.
  public enum Order: Sendable {
    /// From the greatest row number down.
    case newestFirst
    /// From the least row number up.
    case oldestFirst
  }

  /// What was opened.
  public let description: SegmentDescription
  let root: SegmentRoot
  var file: SegmentFile
  var lists: ListDecoder
  var cursor = TermCursor()
  private var rows = RowsReader()

  /// Opens the file, and compares it with its description.
  ///
  /// The file stays open: what happens to its name later does not matter.
  ///
  /// - Parameters:
  ///   - description: from the record.
  ///   - files: of the search index.
  ///   - vaultKey: of the version that the description names.
  public init(
    _ description: SegmentDescription, files: BlobFiles, vaultKey: RawSpan
  ) throws(SegmentError) {
    var file = try SegmentFile.open(description, files, vaultKey: vaultKey)
    root = try SegmentRoot(description, &file)
    self.file = consume file
    self.description = description
    lists = ListDecoder(documentCount: root.documentCount)
  }

  /// Messages, with those that are marked elsewhere.
  public var documentCount: Int { root.documentCount }

  /// Messages that did not open when they were indexed.
  public var unreadable: [UInt32] { root.unreadable }

  // MARK: Rows

  /// The ordinal of a row, and the identifier that the row should have; nil if the segment has no such row.
  public func ordinal(of number: Int64) throws(SegmentError) -> (ordinal: UInt32, id: RecordID)? {
    var (lower, upper) = (0, root.rows.count)
    while lower < upper {
      let middle = (lower + upper) / 2
      if root.rows[middle].numbers.upperBound < number { lower = middle + 1 } else { upper = middle }
    }
    guard lower < root.rows.count, root.rows[lower].numbers.contains(number) else { return nil }
    let group = root.rows[lower]
    try rows.open(group, &file)
    guard let index = rows.rows.firstIndex(where: { $0.number == number }) else { return nil }
    return (UInt32(group.ordinals.lowerBound + index), rows.rows[index].id)
  }

  /// Lends rows until `body` answers false.
  /// - Parameters:
  ///   - order: of the rows.
  ///   - marked: ordinals that are left out.
  ///   - body: takes a row; answers whether it wants more.
  public func forEachRow(
    _ order: Order, except marked: [UInt32] = [], _ body: (borrowing SegmentRow) throws -> Bool
  ) throws {
    var all = Bitmap(count: documentCount, isFull: true)
    all.subtract(Bitmap(count: documentCount, marked))
    try forEachRow(in: all, order, body)
  }

  /// Lends the rows of some ordinals until `body` answers false.
  public func forEachRow(
    of ordinals: [UInt32], _ order: Order, _ body: (borrowing SegmentRow) throws -> Bool
  ) throws {
    try forEachRow(in: Bitmap(count: documentCount, ordinals), order, body)
  }

  private func forEachRow(
    in ordinals: Bitmap, _ order: Order, _ body: (borrowing SegmentRow) throws -> Bool
  ) throws {
    var goesOn = true
    for step in root.rows.indices {
      let group = root.rows[order == .oldestFirst ? step : root.rows.count - 1 - step]
      guard ordinals.intersects(group.ordinals) else { continue }
      try rows.open(group, &file)
      try ordinals.forEach(order, in: group.ordinals) { ordinal in
        goesOn = try rows.withRow(Int(ordinal) - group.ordinals.lowerBound, body)
        return goesOn
      }
      if !goesOn { return }
    }
  }

  /// Opens the rows of a group.
  func withRows<R>(
    _ group: RowGroup, _ body: (borrowing RowsReader) throws(SegmentError) -> R
  ) throws(SegmentError) -> R {
    try rows.open(group, &file)
    return try body(rows)
  }
}

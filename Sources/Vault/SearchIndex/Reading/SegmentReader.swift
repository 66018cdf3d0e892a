// SPDX-License-Identifier: Apache-2.0
//
// An open segment: its rows. What it finds is in SegmentReader+Searching.swift.

internal import MessageFormats
public import Primitives
internal import Secrets
public import Storage

/// Reads a segment. One thread at a time; open a segment twice for two.
public final class SegmentReader {
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

  // MARK: Rows

  /// The ordinal of a row, and the identifier that the row should have; nil if the segment has no such row.
  public func ordinal(of number: Int64) throws(SegmentError) -> (ordinal: UInt32, id: RecordID)? {
    let place = root.rows.partitionIndex { $0.numbers.upperBound >= number }
    guard place < root.rows.count, root.rows[place].numbers.contains(number) else { return nil }
    let group = root.rows[place]
    try rows.open(group, &file)
    guard let index = rows.rows.firstIndex(where: { $0.number == number }) else { return nil }
    return (UInt32(group.ordinals.lowerBound + index), rows.rows[index].id)
  }

  /// Rows of a segment that are stored together, and are read at once.
  public struct Group: Sendable {
    /// Of all rows of the group, not only those that are asked for.
    public var numbers: ClosedRange<Int64> { rows.numbers }
    /// The same; nil if none of them opened.
    public var dates: ClosedRange<Int64>? { rows.dates }

    let rows: RowGroup
    /// Those that are asked for, rising.
    let ordinals: ArraySlice<UInt32>
  }

  /// The groups that hold the rows of some ordinals.
  /// - Parameter ordinals: rising.
  public func groups(of ordinals: [UInt32]) -> [Group] {
    var rest = ordinals[...]
    return root.rows.compactMap { rows in
      let end = rest.partitionIndex { $0 >= rows.ordinals.upperBound }
      defer { rest = rest[end...] }
      return end == rest.startIndex ? nil : Group(rows: rows, ordinals: rest[..<end])
    }
  }

  /// Lends the rows of a group that are asked for.
  public func forEachRow(of group: Group, _ body: (borrowing SegmentRow) throws -> Void) throws {
    try rows.open(group.rows, &file)
    for ordinal in group.ordinals { try rows.withRow(Int(ordinal) - group.rows.ordinals.lowerBound, body) }
  }

  /// Opens the rows of a group.
  func withRows<R>(
    _ group: RowGroup, _ body: (borrowing RowsReader) throws(SegmentError) -> R
  ) throws(SegmentError) -> R {
    try rows.open(group, &file)
    return try body(rows)
  }
}

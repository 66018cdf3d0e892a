// SPDX-License-Identifier: Apache-2.0
//
// Reads groups of rows.

internal import Primitives
internal import Secrets

/// One group of rows at a time.
struct RowsReader: ~Copyable {
  private var bytes = ErasedArray<UInt8>(capacity: SegmentFormat.blockByteCount)
  private var texts: [Range<Int>] = []
  private(set) var rows: [RowFields] = []
  /// Which group is here.
  private(set) var group: RowGroup?

  mutating func open(_ group: RowGroup, _ file: inout SegmentFile) throws(SegmentError) {
    if self.group == group { return }
    self.group = nil
    bytes.removeAll()
    try file.append(group.bytes, of: .rows, to: &bytes)
    try parse(group)
    self.group = group
  }

  /// Reads bytes that tests bring.
  mutating func open(_ group: RowGroup, parsing input: [UInt8]) throws(SegmentError) {
    self.group = nil
    bytes.removeAll()
    bytes.append(input.rawSpan)
    try parse(group)
  }

  /// Lends the row at a place of the group.
  func withRow<R>(_ index: Int, _ body: (borrowing SegmentRow) throws -> R) rethrows -> R {
    let all = unsafe UnsafeRawBufferPointer(start: bytes.pointer, count: bytes.count)
    let row = unsafe SegmentRow(ordinal: (group?.ordinals.lowerBound ?? 0) + index, rows[index], all, texts)
    return try body(row)
  }

  /// Lends bytes of the group.
  func withBytes<E: Error>(_ range: Range<Int>, _ body: (RawSpan) throws(E) -> Void) throws(E) {
    try bytes.withBytes { bytes throws(E) in try body(bytes.extracting(range)) }
  }

  /// Lends a text of the group; nothing for nil.
  func withText<E: Error>(_ index: Int?, _ body: (RawSpan) throws(E) -> Void) throws(E) {
    try withBytes(index.map { texts[$0] } ?? 0..<0, body)
  }

  // MARK: Bytes

  private mutating func parse(_ group: RowGroup) throws(SegmentError) {
    let bytes = exchange(&self.bytes, with: ErasedArray(capacity: 0))
    let result: Result<Void, SegmentError>
    do throws(SegmentError) {
      try bytes.withBytes { span throws(SegmentError) in try parse(span, group) }
      result = .success(())
    } catch { result = .failure(error) }
    self.bytes = bytes
    try result.get()
  }

  private mutating func parse(_ bytes: RawSpan, _ group: RowGroup) throws(SegmentError) {
    texts.removeAll(keepingCapacity: true)
    rows.removeAll(keepingCapacity: true)
    var place = SegmentCursor(0..<bytes.byteCount)
    for _ in 0..<(try place.number(bytes, atMost: bytes.byteCount)) {
      texts.append(try place.range(place.number(bytes, atMost: bytes.byteCount)))
    }
    var (number, timestamp, date): (Int64, Int64, Int64) = (group.numbers.lowerBound, 0, 0)
    var (least, greatest): (Int64, Int64) = (.max, .min)
    for index in group.ordinals.indices {
      var row = RowFields(id: try place.id(bytes))
      let flags = try place.byte(bytes)
      guard flags <= SegmentRow.Flags.all.rawValue else { throw .damaged }
      row.flags = SegmentRow.Flags(rawValue: flags)
      let step = try place.varint(bytes)
      // The first is the number that the group begins with.
      guard (index == group.ordinals.lowerBound) == (step == 0),
        step <= UInt64(group.numbers.upperBound - number)
      else { throw .damaged }
      number += Int64(step)
      timestamp = timestamp &+ (try place.zigzag(bytes))
      (row.number, row.timestamp) = (number, timestamp)
      if !row.flags.contains(.unreadable) {
        date = date &+ (try place.zigzag(bytes))
        row.date = date
        (least, greatest) = (min(least, date), max(greatest, date))
        try parseTexts(bytes, &place, &row)
      }
      rows.append(row)
    }
    guard place.isAtEnd, number == group.numbers.upperBound,
      least <= greatest ? group.dates == least...greatest : group.dates == nil
    else { throw .damaged }
  }

  private func parseTexts(
    _ bytes: RawSpan, _ place: inout SegmentCursor, _ row: inout RowFields
  ) throws(SegmentError) {
    row.contentByteCount = try place.number(bytes, atMost: 1 << 40)
    row.type = try text(bytes, &place)
    let sender = try place.number(bytes, atMost: texts.count)
    row.sender = sender == 0 ? nil : sender - 1
    let tagCount = try place.number(bytes, atMost: bytes.byteCount)
    if tagCount > 0 {
      guard tagCount <= place.end - place.offset else { throw .damaged }
      for _ in 0..<tagCount { row.tags.append(try text(bytes, &place)) }
    }
    row.title = try place.range(place.number(bytes, atMost: SegmentFormat.rowTitleByteCount))
  }

  private func text(_ bytes: RawSpan, _ place: inout SegmentCursor) throws(SegmentError) -> Int {
    let index = try place.number(bytes, atMost: texts.count)
    guard index < texts.count else { throw .damaged }
    return index
  }
}

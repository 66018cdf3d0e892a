// SPDX-License-Identifier: Apache-2.0
//
// Writes groups of rows as they come. Types, tags and senders are written once a group.

internal import MessageFormats
internal import Primitives
internal import Secrets

/// What a row says of a message.
struct RowContent {
  var number: Int64
  var id: RecordID
  var timestamp: Int64
  var date: Int64 = 0
  var contentByteCount = 0
  var flags: SegmentRow.Flags = []
}

/// Writes section 5.
struct RowsWriter: ~Copyable {
  private var texts = ErasedArray<UInt8>(capacity: 4 << 10)
  private var textOffsets: [Range<Int>] = []
  /// Places of texts by their hashes; no text.
  private var slots = [UInt32](repeating: 0, count: 4_096)
  private var rows = ErasedArray<UInt8>(capacity: 64 << 10)
  private var group = RowGroup()
  private var (timestamp, date): (Int64, Int64) = (0, 0)
  private let hash = KeyedHash()

  private(set) var groups: [RowGroup] = []
  private(set) var unreadable: [UInt32] = []
  private(set) var partial: [UInt32] = []
  /// Ordinal of the next row.
  private(set) var count = 0

  /// The numbers of the rows so far.
  var numbers: ClosedRange<Int64>? {
    guard let first = groups.first ?? (group.ordinals.isEmpty ? nil : group) else { return nil }
    let last = group.ordinals.isEmpty ? groups[groups.count - 1] : group
    return first.numbers.lowerBound...last.numbers.upperBound
  }

  /// Writes a row. A text that is too long is cut by the caller, who says so in the flags.
  /// - Parameters:
  ///   - sender: empty for none.
  ///   - tags: lends each tag to the closure that it is given.
  mutating func append(
    _ row: RowContent, title: RawSpan, type: RawSpan, sender: RawSpan, tags: [Range<Int>],
    tagBytes: RawSpan, _ file: inout SegmentFileWriter
  ) throws(SegmentError) {
    try begin(row, &file)
    if row.flags.contains(.partial) { partial.append(UInt32(count)) }
    rows.append(zigzag: row.date - date)
    date = row.date
    group.dates =
      group.dates.map { min($0.lowerBound, row.date)...max($0.upperBound, row.date) } ?? row.date...row.date
    rows.append(varint: UInt64(row.contentByteCount))
    rows.append(varint: UInt64(index(of: type)))
    rows.append(varint: sender.isEmpty ? 0 : UInt64(index(of: sender) + 1))
    rows.append(varint: UInt64(tags.count))
    for tag in tags { rows.append(varint: UInt64(index(of: tagBytes.extracting(tag)))) }
    rows.append(varint: UInt64(title.byteCount))
    rows.append(title)
    count += 1
  }

  /// Writes the row of a message that did not open.
  mutating func appendUnreadable(_ row: RowContent, _ file: inout SegmentFileWriter) throws(SegmentError) {
    try begin(row, &file)
    unreadable.append(UInt32(count))
    count += 1
  }

  private mutating func begin(_ row: RowContent, _ file: inout SegmentFileWriter) throws(SegmentError) {
    if group.ordinals.count == SegmentFormat.rowGroupCount
      || rows.count + texts.count > SegmentFormat.rowGroupByteCount
    {
      try endGroup(&file)
    }
    if group.ordinals.isEmpty {
      group = RowGroup(ordinals: count..<count, numbers: row.number...row.number)
      (timestamp, date) = (0, 0)
    } else {
      precondition(row.number > group.numbers.upperBound, "rows come in the order of their numbers")
    }
    row.id.withBytes { rows.append($0) }
    rows.append(row.flags.rawValue)
    rows.append(varint: UInt64(row.number - group.numbers.upperBound))
    rows.append(zigzag: row.timestamp - timestamp)
    timestamp = row.timestamp
    group.numbers = group.numbers.lowerBound...row.number
    group.ordinals = group.ordinals.lowerBound..<count + 1
  }

  private mutating func endGroup(_ file: inout SegmentFileWriter) throws(SegmentError) {
    guard !group.ordinals.isEmpty else { return }
    let start = file.byteCount(.rows)
    var head = ErasedArray<UInt8>(capacity: 16)
    head.append(varint: UInt64(textOffsets.count))
    try file.append(head, to: .rows)
    try file.append(texts, to: .rows)
    try file.append(rows, to: .rows)
    group.bytes = start..<file.byteCount(.rows)
    groups.append(group)
    group = RowGroup()
    texts.removeAll()
    rows.removeAll()
    textOffsets.removeAll(keepingCapacity: true)
    for index in slots.indices { slots[index] = 0 }
  }

  /// Writes the last group.
  mutating func finish(_ file: inout SegmentFileWriter) throws(SegmentError) { try endGroup(&file) }

  /// The number of a text in the group, which has it once unless it has thousands.
  private mutating func index(of text: RawSpan) -> Int {
    var slot = Int(truncatingIfNeeded: hash(text) & 4_095)
    for _ in 0..<8 {
      guard slots[slot] > 0 else { break }
      let index = Int(slots[slot]) - 1
      if texts.withBytes({ compare($0.extracting(textOffsets[index]), text) }) == 0 { return index }
      slot = (slot + 1) & 4_095
    }
    texts.append(varint: UInt64(text.byteCount))
    textOffsets.append(texts.count..<texts.count + text.byteCount)
    texts.append(text)
    slots[slot] = UInt32(textOffsets.count)
    return textOffsets.count - 1
  }
}

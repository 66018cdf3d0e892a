// SPDX-License-Identifier: Apache-2.0
//
// The root of a segment (Specs/search-index.md, "Root"): the last blocks of the file, which say where everything is.

internal import MessageFormats
internal import Secrets

/// Where a group of rows is, and what it spans.
struct RowGroup: Equatable {
  var bytes = 0..<0
  /// Ordinals.
  var ordinals: Range<Int> = 0..<0
  var numbers: ClosedRange<Int64> = 0...0
  /// Nil without a readable message.
  var dates: ClosedRange<Int64>?
}

/// What a root says. Its bytes stay, since they hold the first term of each group.
struct SegmentRoot: ~Copyable {
  private(set) var bytes = ErasedArray<UInt8>(capacity: SegmentFormat.blockByteCount)
  private(set) var documentCount = 0
  private(set) var terms: [TermGroup] = []
  private(set) var rows: [RowGroup] = []
  /// Messages that did not open when they were indexed, rising.
  private(set) var unreadable: [UInt32] = []
  /// Messages whose words are not all in the index, rising.
  private(set) var partial: [UInt32] = []

  private static let streams: [SegmentFormat.Section] = [.terms, .numbers, .documents, .positions, .rows]

  // MARK: Writing

  /// What a writer has collected.
  struct Summary {
    var documentCount: Int
    var numbers: ClosedRange<Int64>
    var rows: [RowGroup]
    var unreadable: [UInt32]
    var partial: [UInt32]
  }

  /// Writes the root.
  /// - Returns: how many blocks it takes.
  static func write(
    _ summary: Summary, _ terms: borrowing TermWriter, _ file: inout SegmentFileWriter
  ) throws(SegmentError) -> Int {
    for section in streams { try file.close(section) }
    var output = ErasedArray<UInt8>(capacity: SegmentFormat.blockByteCount)
    output.append(SegmentFormat.version)
    output.append(bigEndian: UInt64(MessageWords.analyser), byteCount: 2)
    output.append(bigEndian: UInt64(summary.documentCount), byteCount: 4)
    output.append(bigEndian: UInt64(bitPattern: summary.numbers.lowerBound), byteCount: 8)
    output.append(bigEndian: UInt64(bitPattern: summary.numbers.upperBound), byteCount: 8)
    for section in streams {
      let stream = file.stream(section)
      output.append(bigEndian: UInt64(stream.byteCount), byteCount: 8)
      output.append(varint: UInt64(stream.runs.count))
      var end = 0
      for run in stream.runs {
        output.append(varint: UInt64(run.lowerBound - end))
        output.append(varint: UInt64(run.count - 1))
        end = run.upperBound
      }
    }
    output.append(varint: UInt64(terms.groupCount))
    terms.groups.withBytes { output.append($0) }
    output.append(varint: UInt64(summary.rows.count))
    var number = summary.numbers.lowerBound
    for group in summary.rows {
      output.append(varint: UInt64(group.bytes.count))
      output.append(varint: UInt64(group.ordinals.count))
      output.append(varint: UInt64(group.numbers.lowerBound - number))
      output.append(varint: UInt64(group.numbers.upperBound - group.numbers.lowerBound))
      number = group.numbers.upperBound
      guard let dates = group.dates else {
        output.append(0)
        continue
      }
      output.append(1)
      output.append(zigzag: dates.lowerBound)
      output.append(varint: UInt64(dates.upperBound - dates.lowerBound))
    }
    for ordinals in [summary.unreadable, summary.partial] {
      output.append(varint: UInt64(ordinals.count))
      var next: UInt32 = 0
      for ordinal in ordinals {
        output.append(varint: UInt64(ordinal - next))
        next = ordinal + 1
      }
    }
    var head = ErasedArray<UInt8>(capacity: 16)
    head.append(bigEndian: UInt64(output.count), byteCount: 4)
    try file.append(head, to: .root)
    try file.append(output, to: .root)
    let first = file.blockCount
    let written = file.stream(.root).runs.reduce(0) { $0 + $1.count }
    try file.close(.root)
    return written + file.blockCount - first
  }

  // MARK: Reading

  /// Reads the root and tells `file` where its sections are.
  init(_ description: SegmentDescription, _ file: inout SegmentFile) throws(SegmentError) {
    let limit = file.byteCount(.root)
    var head = ErasedArray<UInt8>(capacity: 16)
    try file.append(0..<4, of: .root, to: &head)
    var place = SegmentCursor(0..<4)
    let count = try Int(
      head.withBytes { bytes throws(SegmentError) in try place.bigEndian(bytes, byteCount: 4) })
    guard count + 4 <= limit, count + 4 > limit - SegmentFormat.blockByteCount,
      count <= SegmentFormat.rootByteCountLimit
    else { throw .damaged }
    bytes.reserve(limit - 4)
    try file.append(4..<limit, of: .root, to: &bytes)
    for offset in count..<bytes.count where bytes[offset] != 0 { throw .damaged }
    bytes.shorten(to: count)
    try parse(description) { section, blocks, byteCount throws(SegmentError) in
      file.setBlocks(section, blocks, byteCount: byteCount)
    }
  }

  /// Reads bytes that tests bring.
  init(
    parsing root: [UInt8], _ description: SegmentDescription,
    _ setBlocks: (SegmentFormat.Section, [UInt32], Int) throws(SegmentError) -> Void
  ) throws(SegmentError) {
    bytes.append(root.rawSpan)
    try parse(description, setBlocks)
  }

  private mutating func parse(
    _ description: SegmentDescription,
    _ setBlocks: (SegmentFormat.Section, [UInt32], Int) throws(SegmentError) -> Void
  ) throws(SegmentError) {
    let bytes = exchange(&self.bytes, with: ErasedArray(capacity: 0))
    let result: Result<Void, SegmentError>
    do throws(SegmentError) {
      try bytes.withBytes { span throws(SegmentError) in try parse(span, description, setBlocks) }
      result = .success(())
    } catch { result = .failure(error) }
    self.bytes = bytes
    try result.get()
  }

  private mutating func parse(
    _ bytes: RawSpan, _ description: SegmentDescription,
    _ setBlocks: (SegmentFormat.Section, [UInt32], Int) throws(SegmentError) -> Void
  ) throws(SegmentError) {
    var place = SegmentCursor(0..<bytes.byteCount)
    guard try place.byte(bytes) == SegmentFormat.version else { throw .damaged }
    let analyser = try Int(place.bigEndian(bytes, byteCount: 2))
    guard analyser == MessageWords.analyser else { throw .otherAnalyser(found: analyser) }
    documentCount = try Int(place.bigEndian(bytes, byteCount: 4))
    let first = try Int64(bitPattern: place.bigEndian(bytes, byteCount: 8))
    let last = try Int64(bitPattern: place.bigEndian(bytes, byteCount: 8))
    guard documentCount == description.documentCount, first == description.numbers.lowerBound,
      last == description.numbers.upperBound, first >= 0
    else { throw .damaged }
    let byteCounts = try parseStreams(bytes, &place, description, setBlocks)
    try parseTerms(bytes, &place, byteCounts)
    try parseRows(bytes, &place, description.numbers, byteCount: byteCounts[4])
    unreadable = try parseOrdinals(bytes, &place)
    partial = try parseOrdinals(bytes, &place)
    guard place.isAtEnd else { throw .damaged }
  }

  /// Every block but those of the root belongs to one section.
  private func parseStreams(
    _ bytes: RawSpan, _ place: inout SegmentCursor, _ description: SegmentDescription,
    _ setBlocks: (SegmentFormat.Section, [UInt32], Int) throws(SegmentError) -> Void
  ) throws(SegmentError) -> [Int] {
    let total = description.blockCount - description.rootBlockCount
    var taken = 0
    var byteCounts: [Int] = []
    var all = [Bool](repeating: false, count: total)
    for section in Self.streams {
      let byteCount = try place.bigEndian(bytes, byteCount: 8)
      guard byteCount <= UInt64(total * SegmentFormat.blockByteCount) else { throw .damaged }
      let blockCount =
        (Int(byteCount) + SegmentFormat.blockByteCount - 1) / SegmentFormat.blockByteCount
      var blocks: [UInt32] = []
      blocks.reserveCapacity(blockCount)
      var end = 0
      for _ in 0..<(try place.number(bytes, atMost: total)) {
        let start = try end + place.number(bytes, atMost: total)
        let count = try place.number(bytes, atMost: total) + 1
        guard start + count <= total, blocks.count + count <= blockCount else { throw .damaged }
        for block in start..<start + count {
          guard !all[block] else { throw .damaged }
          all[block] = true
          blocks.append(UInt32(block))
        }
        end = start + count
      }
      guard blocks.count == blockCount else { throw .damaged }
      taken += blockCount
      byteCounts.append(Int(byteCount))
      try setBlocks(section, blocks, Int(byteCount))
    }
    guard taken == total else { throw .damaged }
    return byteCounts
  }

  private mutating func parseTerms(
    _ bytes: RawSpan, _ place: inout SegmentCursor, _ byteCounts: [Int]
  ) throws(SegmentError) {
    // A group has a byte at least in each of these.
    let count = try place.number(bytes, atMost: min(byteCounts[0], bytes.byteCount))
    var offsets = [0, 0, 0, 0]
    terms.reserveCapacity(count)
    for index in 0..<count {
      var group = TermGroup()
      group.firstTerm = try place.range(place.number(bytes, atMost: SegmentFormat.termByteCountLimit))
      for section in 0..<4 {
        offsets[section] += try place.number(bytes, atMost: byteCounts[section])
        guard offsets[section] <= byteCounts[section] else { throw .damaged }
      }
      group.terms = offsets[0]..<byteCounts[0]
      group.numbers = offsets[1]..<byteCounts[1]
      (group.documentsStart, group.positionsStart) = (offsets[2], offsets[3])
      if index == 0 {
        guard offsets == [0, 0, 0, 0] else { throw .damaged }
      } else {
        let before = terms[index - 1]
        guard before.terms.lowerBound < offsets[0], before.numbers.lowerBound < offsets[1],
          compare(bytes.extracting(before.firstTerm), bytes.extracting(group.firstTerm)) < 0
        else { throw .damaged }
        terms[index - 1].terms = before.terms.lowerBound..<offsets[0]
        terms[index - 1].numbers = before.numbers.lowerBound..<offsets[1]
      }
      guard !group.firstTerm.isEmpty, !group.terms.isEmpty, !group.numbers.isEmpty else { throw .damaged }
      terms.append(group)
    }
    for group in terms where group.terms.count > SegmentFormat.groupByteCount { throw .damaged }
    guard count > 0 || byteCounts[..<4].allSatisfy({ $0 == 0 }) else { throw .damaged }
  }

  private mutating func parseRows(
    _ bytes: RawSpan, _ place: inout SegmentCursor, _ numbers: ClosedRange<Int64>, byteCount: Int
  ) throws(SegmentError) {
    let count = try place.number(bytes, atMost: min(documentCount, bytes.byteCount))
    var (offset, ordinal, number) = (0, 0, numbers.lowerBound)
    for index in 0..<count {
      let length = try place.number(bytes, atMost: SegmentFormat.rowGroupByteCountLimit)
      let documents = try place.number(bytes, atMost: SegmentFormat.rowGroupCount)
      let first = try number + Int64(place.number(bytes, atMost: Int(numbers.upperBound - number)))
      let last = try first + Int64(place.number(bytes, atMost: Int(numbers.upperBound - first)))
      guard documents > 0, index == 0 || first > number, last - first >= Int64(documents - 1) else {
        throw .damaged
      }
      var dates: ClosedRange<Int64>?
      switch try place.byte(bytes) {
      case 0: break
      case 1:
        let least = try place.zigzag(bytes)
        let (greatest, isOver) = try least.addingReportingOverflow(Int64(place.varint(bytes)))
        guard !isOver else { throw .damaged }
        dates = least...greatest
      default: throw .damaged
      }
      rows.append(
        RowGroup(
          bytes: offset..<offset + length, ordinals: ordinal..<ordinal + documents, numbers: first...last,
          dates: dates))
      (offset, ordinal, number) = (offset + length, ordinal + documents, last)
    }
    guard offset == byteCount, ordinal == documentCount else { throw .damaged }
  }

  private func parseOrdinals(_ bytes: RawSpan, _ place: inout SegmentCursor) throws(SegmentError) -> [UInt32]
  {
    let count = try place.number(bytes, atMost: min(documentCount, bytes.byteCount))
    var ordinals: [UInt32] = []
    var next = 0
    for _ in 0..<count {
      let ordinal = try next + place.number(bytes, atMost: documentCount)
      guard ordinal < documentCount else { throw .damaged }
      ordinals.append(UInt32(ordinal))
      next = ordinal + 1
    }
    return ordinals
  }
}

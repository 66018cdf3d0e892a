// SPDX-License-Identifier: Apache-2.0
//
// Writes terms in their order with their lists, and notes for the root where each group begins.

internal import Secrets

/// Writes sections 1 to 4.
struct TermWriter: ~Copyable {
  private var lists = ListEncoder()
  private var terms = ErasedArray<UInt8>(capacity: 2 * SegmentFormat.groupByteCount)
  private var numbers = ErasedArray<UInt8>(capacity: 2 * SegmentFormat.groupByteCount)
  private var last = ErasedArray<UInt8>(capacity: 256)
  /// The groups, as the root has them.
  private(set) var groups = ErasedArray<UInt8>(capacity: 4 << 10)
  private(set) var groupCount = 0
  private var groupOffsets = [0, 0, 0, 0]

  private static let sections: [SegmentFormat.Section] = [.terms, .numbers, .documents, .positions]

  /// - Parameters:
  ///   - term: after the one before in the order of bytes.
  ///   - occurrences: rising.
  ///   - count: at least one.
  @unsafe mutating func append(
    _ term: RawSpan, _ occurrences: UnsafePointer<Occurrence>, count: Int, _ file: inout SegmentFileWriter
  ) throws(SegmentError) {
    guard count == 1 else {
      var measure = ListMeasure()
      unsafe measure.add(occurrences, count: count)
      return try append(term, measure, &file) { lists in unsafe lists.add(occurrences, count: count) }
    }
    try append(term, &file)
    let occurrence = unsafe occurrences[0]
    numbers.append(varint: 2 + 1)
    numbers.append(varint: UInt64(occurrence.ordinal))
    numbers.append(varint: UInt64(occurrence.position))
  }

  /// A term whose occurrences are too many to be in memory at once.
  /// - Parameters:
  ///   - measure: of all occurrences, at least two.
  ///   - fill: hands them to the encoder.
  mutating func append(
    _ term: RawSpan, _ measure: ListMeasure, _ file: inout SegmentFileWriter,
    fill: (inout ListEncoder) throws(SegmentError) -> Void
  ) throws(SegmentError) {
    try append(term, &file)
    lists.begin(measure)
    try fill(&lists)
    lists.finish()
    numbers.append(varint: UInt64(2 * measure.documentCount))
    numbers.append(varint: UInt64(lists.documents.bytes.count))
    numbers.append(varint: UInt64(lists.positions.bytes.count))
    try file.append(lists.documents.bytes, to: .documents)
    try file.append(lists.positions.bytes, to: .positions)
  }

  private mutating func append(_ term: RawSpan, _ file: inout SegmentFileWriter) throws(SegmentError) {
    var shared = commonByteCount(term)
    if terms.count + 4 + term.byteCount - shared > SegmentFormat.groupByteCount { try endGroup(&file) }
    if terms.count == 0 {
      shared = 0
      beginGroup(term, file)
    }
    terms.append(varint: UInt64(shared))
    terms.append(varint: UInt64(term.byteCount - shared))
    terms.append(term.extracting(shared..<term.byteCount))
    last.removeAll()
    last.append(term)
  }

  mutating func finish(_ file: inout SegmentFileWriter) throws(SegmentError) { try endGroup(&file) }

  private func commonByteCount(_ term: RawSpan) -> Int {
    let limit = min(last.count, term.byteCount)
    var count = 0
    while count < limit, last[count] == term.octet(count) { count += 1 }
    return count
  }

  private mutating func beginGroup(_ term: RawSpan, _ file: borrowing SegmentFileWriter) {
    groups.append(varint: UInt64(term.byteCount))
    groups.append(term)
    for (index, section) in Self.sections.enumerated() {
      let offset = file.byteCount(section)
      groups.append(varint: UInt64(offset - groupOffsets[index]))
      groupOffsets[index] = offset
    }
    groupCount += 1
  }

  private mutating func endGroup(_ file: inout SegmentFileWriter) throws(SegmentError) {
    try file.append(terms, to: .terms)
    try file.append(numbers, to: .numbers)
    terms.removeAll()
    numbers.removeAll()
  }
}

extension RawSpan {
  /// The byte at `offset`, which must lie inside.
  @inline(__always) func octet(_ offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < byteCount, "offset outside of the bytes")
    return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }
}

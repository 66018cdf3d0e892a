// SPDX-License-Identifier: Apache-2.0
//
// Reads the lists of a term. Every ordinal and position is checked; memory is at most what the bytes of a list can hold,
// or the messages of the segment.

internal import Secrets

/// A term of a segment, and where its lists are.
struct TermEntry: Sendable {
  /// Messages.
  var documentCount = 0
  /// The only occurrence of a term that has one.
  var single: Occurrence?
  var documents = 0..<0
  var positions = 0..<0
}

/// Decodes lists into buffers that are used again.
struct ListDecoder: ~Copyable {
  private var bytes = ErasedArray<UInt8>(capacity: 4 << 10)
  /// The messages of the list that was decoded last.
  private(set) var ordinals = ErasedArray<UInt32>(capacity: 1 << 10)
  /// How often the term occurs in each.
  private(set) var counts = ErasedArray<UInt32>(capacity: 1 << 10)
  private let documentCount: Int

  private static let pieceCount = 100_000

  init(documentCount: Int) { self.documentCount = documentCount }

  /// Reads which messages have a term, and how often.
  mutating func readDocuments(_ entry: TermEntry, _ file: inout SegmentFile) throws(SegmentError) {
    ordinals.removeAll()
    counts.removeAll()
    if let single = entry.single {
      guard single.ordinal < documentCount else { throw .damaged }
      ordinals.append(single.ordinal)
      counts.append(1)
      return
    }
    bytes.removeAll()
    try file.append(entry.documents, of: .documents, to: &bytes)
    try decodeDocuments(count: entry.documentCount)
  }

  /// Appends the occurrences of the messages that ``readDocuments(_:_:)`` has just read.
  /// - Parameters:
  ///   - filter: takes an ordinal; whether its occurrences are wanted.
  ///   - offset: is taken from each position; occurrences before it are left out.
  ///   - emptied: takes out what is there, after a message, whenever that is more than a hundred thousand.
  mutating func readPositions(
    _ entry: TermEntry, _ file: inout SegmentFile, offset: UInt32 = 0,
    into occurrences: inout ErasedArray<Occurrence>, where filter: (UInt32) -> Bool,
    emptied: (inout ErasedArray<Occurrence>) -> Void = { _ in }
  ) throws(SegmentError) {
    if let single = entry.single {
      guard single.position < SegmentFormat.positionLimit else { throw .damaged }
      if single.position >= offset, filter(single.ordinal) {
        occurrences.append(Occurrence(single.ordinal, single.position - offset))
      }
      return
    }
    bytes.removeAll()
    try file.append(entry.positions, of: .positions, to: &bytes)
    try decodePositions(offset: offset, into: &occurrences, where: filter, emptied: emptied)
  }

  // MARK: Bytes

  /// Decodes bytes that tests bring.
  mutating func decode(
    documents: [UInt8], count: Int, positions: [UInt8], into occurrences: inout ErasedArray<Occurrence>
  ) throws(SegmentError) {
    ordinals.removeAll()
    counts.removeAll()
    bytes.removeAll()
    bytes.append(documents.rawSpan)
    bytes.pad()
    try decodeDocuments(count: count)
    bytes.removeAll()
    bytes.append(positions.rawSpan)
    bytes.pad()
    try decodePositions(offset: 0, into: &occurrences, where: { _ in true }, emptied: { _ in })
  }

  private func parameter() throws(SegmentError) -> Int {
    guard bytes.count > 0, bytes[0] <= 32 else { throw .damaged }
    return Int(bytes[0])
  }

  private mutating func decodeDocuments(count: Int) throws(SegmentError) {
    let k = try parameter()
    guard count > 0, count <= documentCount else { throw .damaged }
    ordinals.resize(to: count)
    counts.resize(to: count)
    var bits = unsafe BitReader(UnsafeRawPointer(bytes.pointer), 1..<bytes.count)
    var next: UInt64 = 0
    let limit = UInt64(documentCount)
    for index in 0..<count {
      let ordinal = next &+ bits.rice(k)
      var more = bits.unary()
      if more >= SegmentFormat.unaryLimit {
        guard more == SegmentFormat.unaryLimit else { throw .damaged }
        more = bits.bits(32)
        guard SegmentFormat.unaryLimit..<UInt64(SegmentFormat.positionLimit) ~= more else { throw .damaged }
      }
      guard ordinal < limit, !bits.isBad else { throw .damaged }
      ordinals[index] = UInt32(truncatingIfNeeded: ordinal)
      counts[index] = UInt32(truncatingIfNeeded: more) + 1
      next = ordinal + 1
    }
    guard bits.isAtEnd else { throw .damaged }
  }

  private mutating func decodePositions(
    offset: UInt32, into occurrences: inout ErasedArray<Occurrence>, where filter: (UInt32) -> Bool,
    emptied: (inout ErasedArray<Occurrence>) -> Void
  ) throws(SegmentError) {
    let k = try parameter()
    var bits = unsafe BitReader(UnsafeRawPointer(bytes.pointer), 1..<bytes.count)
    let limit = UInt64(SegmentFormat.positionLimit)
    for index in 0..<ordinals.count {
      let ordinal = ordinals[index]
      let isWanted = filter(ordinal)
      var next: UInt64 = 0
      for _ in 0..<counts[index] {
        let position = next &+ bits.rice(k)
        guard position < limit, !bits.isBad else { throw .damaged }
        next = position + 1
        if isWanted, position >= offset {
          occurrences.append(Occurrence(ordinal, UInt32(truncatingIfNeeded: position) - offset))
        }
      }
      if occurrences.count > Self.pieceCount { emptied(&occurrences) }
    }
    guard bits.isAtEnd else { throw .damaged }
  }
}

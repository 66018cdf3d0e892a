// SPDX-License-Identifier: Apache-2.0
//
// Reads terms and their entries, group after group.

internal import Glibc
internal import Secrets

/// Where a group of terms is.
struct TermGroup {
  /// In the bytes of the root.
  var firstTerm = 0..<0
  /// Where it begins in sections 1 to 4, and where the next one does.
  var terms = 0..<0
  var numbers = 0..<0
  var documentsStart = 0
  var positionsStart = 0
}

/// The terms of one group after the other. The bytes of a term are lent until the next.
struct TermCursor: ~Copyable {
  private var terms = ErasedArray<UInt8>(capacity: 2 * SegmentFormat.groupByteCount)
  private var numbers = ErasedArray<UInt8>(capacity: 2 * SegmentFormat.groupByteCount)
  private var termPlace = SegmentCursor(0..<0)
  private var numberPlace = SegmentCursor(0..<0)
  private var documentsEnd = 0
  private var positionsEnd = 0
  private var hasNumbers = false
  private(set) var term = ErasedArray<UInt8>(capacity: 256)
  /// How many bytes of ``term`` were in the one before.
  private(set) var shared = 0

  /// Goes to a group.
  mutating func open(_ group: TermGroup, _ file: inout SegmentFile) throws(SegmentError) {
    terms.removeAll()
    try file.append(group.terms, of: .terms, to: &terms)
    termPlace = SegmentCursor(0..<terms.count)
    term.removeAll()
    hasNumbers = false
  }

  /// Reads the numbers of the group that is open. Needed before ``entry()``, which is then called for every term.
  mutating func openNumbers(_ group: TermGroup, _ file: inout SegmentFile) throws(SegmentError) {
    numbers.removeAll()
    try file.append(group.numbers, of: .numbers, to: &numbers)
    numberPlace = SegmentCursor(0..<numbers.count)
    (documentsEnd, positionsEnd) = (group.documentsStart, group.positionsStart)
    hasNumbers = true
  }

  /// Goes to the next term of the group; false at its end.
  mutating func next() throws(SegmentError) -> Bool {
    if termPlace.isAtEnd { return false }
    // Moved out for the call, so that the rest can change.
    let (shared, rest) = try terms.withBytes { bytes throws(SegmentError) -> (Int, Range<Int>) in
      var place = termPlace
      let shared = try place.number(bytes, atMost: SegmentFormat.termByteCountLimit)
      let count = try place.number(bytes, atMost: SegmentFormat.termByteCountLimit)
      let rest = try place.range(count)
      termPlace = place
      return (shared, rest)
    }
    guard shared <= term.count, !rest.isEmpty, shared + rest.count <= SegmentFormat.termByteCountLimit else {
      throw .damaged
    }
    // Rising: the first byte that differs is greater.
    guard shared == term.count || terms[rest.lowerBound] > term[shared] else { throw .damaged }
    term.shorten(to: shared)
    terms.withBytes { term.append($0.extracting(rest)) }
    self.shared = shared
    return true
  }

  /// The entry of the term. Call it for every term of the group, in order.
  mutating func entry() throws(SegmentError) -> TermEntry {
    precondition(hasNumbers, "the numbers were not opened")
    let (documentsEnd, positionsEnd) = (documentsEnd, positionsEnd)
    let (entry, place) = try numbers.withBytes { bytes throws(SegmentError) -> (TermEntry, SegmentCursor) in
      var place = numberPlace
      let head = try place.number(bytes, atMost: 2 * SegmentFormat.documentCountLimit + 1)
      var entry = TermEntry(documentCount: head / 2)
      guard entry.documentCount > 0 else { throw .damaged }
      if head % 2 == 1 {
        guard entry.documentCount == 1 else { throw .damaged }
        let ordinal = try place.number(bytes, atMost: SegmentFormat.documentCountLimit)
        let position = try place.number(bytes, atMost: SegmentFormat.positionLimit)
        entry.single = Occurrence(UInt32(ordinal), UInt32(position))
        entry.documents = documentsEnd..<documentsEnd
        entry.positions = positionsEnd..<positionsEnd
      } else {
        let documents = try place.number(bytes, atMost: 1 << 40)
        let positions = try place.number(bytes, atMost: 1 << 40)
        entry.documents = documentsEnd..<documentsEnd + documents
        entry.positions = positionsEnd..<positionsEnd + positions
      }
      return (entry, place)
    }
    numberPlace = place
    (self.documentsEnd, self.positionsEnd) = (entry.documents.upperBound, entry.positions.upperBound)
    return entry
  }

  /// Whether all entries were read, and their lists end where they should.
  func isAtEnd(documents: Int, positions: Int) -> Bool {
    numberPlace.isAtEnd && documentsEnd == documents && positionsEnd == positions
  }
}

/// The order of bytes.
@inline(__always)
func compare(_ left: RawSpan, _ right: RawSpan) -> Int {
  unsafe left.withUnsafeBytes { left in
    unsafe right.withUnsafeBytes { right in
      let count = min(left.count, right.count)
      if count > 0, let first = left.baseAddress, let second = right.baseAddress {
        let order = unsafe memcmp(first, second, count)
        if order != 0 { return Int(order) }
      }
      return left.count - right.count
    }
  }
}

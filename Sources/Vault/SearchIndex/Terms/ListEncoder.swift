// SPDX-License-Identifier: Apache-2.0
//
// The lists of a term (Specs/search-index.md, "Lists"): in which messages it occurs and how often, and at which
// positions.

/// One occurrence of a term: the ordinal of the message, and the position in it.
typealias Occurrence = UInt64

extension Occurrence {
  @inline(__always) init(_ ordinal: UInt32, _ position: UInt32) {
    self = UInt64(ordinal) << 32 | UInt64(position)
  }

  @inline(__always) var ordinal: UInt32 { UInt32(truncatingIfNeeded: self >> 32) }
  @inline(__always) var position: UInt32 { UInt32(truncatingIfNeeded: self) }
}

/// Writes the two lists of a term into buffers that are used again.
struct ListEncoder: ~Copyable {
  private(set) var documents = BitWriter()
  private(set) var positions = BitWriter()

  /// Replaces the content of both buffers.
  /// - Parameters:
  ///   - occurrences: rising.
  ///   - count: at least one.
  /// - Returns: how many messages.
  @unsafe mutating func encode(_ occurrences: UnsafePointer<Occurrence>, count: Int) -> Int {
    documents.bytes.removeAll()
    positions.bytes.removeAll()
    var (documentCount, positionSum) = (0, UInt64(count))
    var index = 0
    while index < count {
      let ordinal = unsafe occurrences[index].ordinal
      var last = index
      while last + 1 < count, unsafe occurrences[last + 1].ordinal == ordinal { last += 1 }
      unsafe positionSum += UInt64(occurrences[last].position) - UInt64(last - index)
      documentCount += 1
      index = last + 1
    }
    let span = unsafe UInt64(occurrences[count - 1].ordinal) + 1
    let documentBits = Self.parameter(sum: span, count: documentCount)
    let positionBits = Self.parameter(sum: positionSum, count: count)
    documents.bytes.append(UInt8(documentBits))
    positions.bytes.append(UInt8(positionBits))
    index = 0
    var next: UInt32 = 0
    while index < count {
      let first = unsafe occurrences[index]
      documents.putRice(UInt64(first.ordinal - next), documentBits)
      next = first.ordinal + 1
      positions.putRice(UInt64(first.position), positionBits)
      var expected = first.position + 1
      var last = index + 1
      while last < count {
        let occurrence = unsafe occurrences[last]
        guard occurrence.ordinal == first.ordinal else { break }
        positions.putRice(UInt64(occurrence.position - expected), positionBits)
        expected = occurrence.position + 1
        last += 1
      }
      let more = UInt64(last - index - 1)
      if more < SegmentFormat.unaryLimit {
        documents.putUnary(more)
      } else {
        documents.putUnary(SegmentFormat.unaryLimit)
        documents.put(more, 32)
      }
      index = last
    }
    documents.finish()
    positions.finish()
    return documentCount
  }

  /// The bits of a Rice code for numbers of this mean; `sum` has one more for each.
  private static func parameter(sum: UInt64, count: Int) -> UInt64 {
    let mean = 11 * sum / (16 * UInt64(count))
    return mean == 0 ? 0 : UInt64(63 - mean.leadingZeroBitCount)
  }
}

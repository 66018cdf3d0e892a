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

/// What has to be known of the lists of a term before they are written.
struct ListMeasure {
  private(set) var documentCount = 0
  private(set) var occurrenceCount = 0
  private var positionSum: UInt64 = 0
  /// One more than the last ordinal.
  private var ordinalEnd: UInt64 = 0

  /// Takes more occurrences in.
  /// - Parameters:
  ///   - occurrences: rising, of messages after those before.
  ///   - count: any.
  @unsafe mutating func add(_ occurrences: UnsafePointer<Occurrence>, count: Int) {
    var index = 0
    while index < count {
      let ordinal = unsafe occurrences[index].ordinal
      var last = index
      while last + 1 < count, unsafe occurrences[last + 1].ordinal == ordinal { last += 1 }
      unsafe positionSum += UInt64(occurrences[last].position) - UInt64(last - index)
      documentCount += 1
      ordinalEnd = UInt64(ordinal) + 1
      index = last + 1
    }
    occurrenceCount += count
  }

  /// The bits of the Rice codes.
  fileprivate var documentBits: UInt64 { Self.parameter(sum: ordinalEnd, count: documentCount) }
  fileprivate var positionBits: UInt64 {
    Self.parameter(sum: positionSum + UInt64(occurrenceCount), count: occurrenceCount)
  }

  /// The bits of a Rice code for numbers of this mean; `sum` has one more for each.
  private static func parameter(sum: UInt64, count: Int) -> UInt64 {
    let mean = 11 * sum / (16 * UInt64(count))
    return mean == 0 ? 0 : UInt64(63 - mean.leadingZeroBitCount)
  }
}

/// Writes the two lists of a term into buffers that are used again.
struct ListEncoder: ~Copyable {
  private(set) var documents = BitWriter()
  private(set) var positions = BitWriter()
  private var (documentBits, positionBits): (UInt64, UInt64) = (0, 0)
  private var nextOrdinal: UInt32 = 0

  /// Begins the lists of a term; the buffers are empty then.
  /// - Parameter measure: of all its occurrences, at least one.
  mutating func begin(_ measure: ListMeasure) {
    documents.bytes.removeAll()
    positions.bytes.removeAll()
    (documentBits, positionBits) = (measure.documentBits, measure.positionBits)
    documents.bytes.append(UInt8(documentBits))
    positions.bytes.append(UInt8(positionBits))
    nextOrdinal = 0
  }

  /// Writes occurrences, as ``ListMeasure/add(_:count:)`` takes them in.
  @unsafe mutating func add(_ occurrences: UnsafePointer<Occurrence>, count: Int) {
    var index = 0
    while index < count {
      let first = unsafe occurrences[index]
      documents.putRice(UInt64(first.ordinal - nextOrdinal), documentBits)
      nextOrdinal = first.ordinal + 1
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
  }

  /// Ends both lists.
  mutating func finish() {
    documents.finish()
    positions.finish()
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Reads numbers from bytes that may be anything. Whatever does not fit is damage.

internal import Primitives

/// A place in bytes. The caller keeps the bytes, and hands them in with each call.
struct SegmentCursor {
  var offset: Int
  let end: Int

  /// - Parameter range: of the bytes.
  init(_ range: Range<Int>) { (offset, end) = (range.lowerBound, range.upperBound) }

  var isAtEnd: Bool { offset == end }

  @inline(__always) mutating func byte(_ bytes: RawSpan) throws(SegmentError) -> UInt8 {
    guard offset < end, offset < bytes.byteCount else { throw .damaged }
    let byte = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    offset += 1
    return byte
  }

  /// A number in its shortest form, at most nine bytes.
  @inline(__always) mutating func varint(_ bytes: RawSpan) throws(SegmentError) -> UInt64 {
    let first = try byte(bytes)
    if first < 0x80 { return UInt64(first) }
    var number = UInt64(first & 0x7F)
    var shift: UInt64 = 7
    while true {
      let next = try byte(bytes)
      number |= UInt64(next & 0x7F) << shift
      if next < 0x80 {
        guard next != 0 else { throw .damaged }
        return number
      }
      shift += 7
      guard shift < 63 else { throw .damaged }
    }
  }

  /// A number that is at most `limit`.
  @inline(__always) mutating func number(_ bytes: RawSpan, atMost limit: Int) throws(SegmentError) -> Int {
    let number = try varint(bytes)
    guard number <= UInt64(limit) else { throw .damaged }
    return Int(number)
  }

  mutating func zigzag(_ bytes: RawSpan) throws(SegmentError) -> Int64 {
    // Nine bytes hold 63 bits, which is every difference of two dates or times that a row may have.
    let number = try varint(bytes)
    return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  mutating func bigEndian(_ bytes: RawSpan, byteCount: Int) throws(SegmentError) -> UInt64 {
    var number: UInt64 = 0
    for _ in 0..<byteCount { number = try number << 8 | UInt64(byte(bytes)) }
    return number
  }

  /// The next bytes.
  mutating func range(_ byteCount: Int) throws(SegmentError) -> Range<Int> {
    guard byteCount >= 0, byteCount <= end - offset else { throw .damaged }
    offset += byteCount
    return offset - byteCount..<offset
  }

  mutating func id(_ bytes: RawSpan) throws(SegmentError) -> RecordID {
    let range = try range(RecordID.byteCount)
    guard range.upperBound <= bytes.byteCount, let id = RecordID(bytes.extracting(range)) else {
      throw .damaged
    }
    return id
  }
}

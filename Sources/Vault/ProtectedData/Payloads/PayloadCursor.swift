// SPDX-License-Identifier: Apache-2.0
//
// Reading a payload's fields. Fields of variable length are read as ranges, with all checks; callers copy
// only the values that they need.

internal import Foundation
internal import OpenPGP
internal import Primitives

struct PayloadCursor {
  private var cursor = ByteCursor()

  mutating func byte(_ bytes: RawSpan) throws(MalformedPayload) -> UInt8 {
    do { return try cursor.readByte(bytes) } catch { throw MalformedPayload() }
  }

  /// 0 or 1, and nothing else.
  mutating func flag(_ bytes: RawSpan) throws(MalformedPayload) -> Bool {
    switch try byte(bytes) {
    case 0: false
    case 1: true
    default: throw MalformedPayload()
    }
  }

  /// One of the numbers of a list.
  mutating func one<Value: RawRepresentable>(
    _ bytes: RawSpan, of type: Value.Type = Value.self
  ) throws(MalformedPayload) -> Value where Value.RawValue == UInt8 {
    guard let value = Value(rawValue: try byte(bytes)) else { throw MalformedPayload() }
    return value
  }

  mutating func uint16(_ bytes: RawSpan) throws(MalformedPayload) -> Int {
    do { return try cursor.readUInt16(bytes) } catch { throw MalformedPayload() }
  }

  mutating func uint32(_ bytes: RawSpan) throws(MalformedPayload) -> UInt32 {
    do { return UInt32(try cursor.readUInt32(bytes)) } catch { throw MalformedPayload() }
  }

  mutating func uint64(_ bytes: RawSpan) throws(MalformedPayload) -> UInt64 {
    do { return UInt64(bitPattern: try cursor.readInt64(bytes)) } catch { throw MalformedPayload() }
  }

  mutating func range(_ bytes: RawSpan, count: Int) throws(MalformedPayload) -> Range<Int> {
    do { return try cursor.readRange(bytes, count: count) } catch { throw MalformedPayload() }
  }

  /// A number of elements, in two bytes.
  mutating func count(_ bytes: RawSpan, limit: Int) throws(MalformedPayload) -> Int {
    let count = try uint16(bytes)
    guard count <= limit else { throw MalformedPayload() }
    return count
  }

  /// Length (2) ‖ UTF-8
  mutating func text(_ bytes: RawSpan, byteCountLimit: Int) throws(MalformedPayload) -> Range<Int> {
    let range = try range(bytes, count: try count(bytes, limit: byteCountLimit))
    guard bytes.extracting(range).isUTF8 else { throw MalformedPayload() }
    return range
  }

  /// Length (4) ‖ bytes
  mutating func blob(_ bytes: RawSpan, byteCountLimit: Int) throws(MalformedPayload) -> Range<Int> {
    let count = try uint32(bytes)
    guard count <= byteCountLimit else { throw MalformedPayload() }
    return try range(bytes, count: Int(count))
  }

  /// The version of a key, as the bytes that its fingerprint has (RFC 9580, section 5.5.4).
  mutating func fingerprintByteCount(_ bytes: RawSpan) throws(MalformedPayload) -> Int {
    guard let count = Fingerprint.byteCount(version: try byte(bytes)) else { throw MalformedPayload() }
    return count
  }

  /// Version (1: 4 or 6) ‖ fingerprint (20 or 32)
  mutating func fingerprint(_ bytes: RawSpan) throws(MalformedPayload) -> Range<Int> {
    try range(bytes, count: try fingerprintByteCount(bytes))
  }

  func finish(_ bytes: RawSpan) throws(MalformedPayload) {
    guard cursor.isAtEnd(of: bytes) else { throw MalformedPayload() }
  }
}

extension RawSpan {
  /// Whether these bytes are UTF-8.
  var isUTF8: Bool {
    unsafe withUnsafeBytes { buffer in
      let text = unsafe Span<UInt8>(_bytes: buffer.bytes)
      do {
        _ = try UTF8Span(validating: text)
        return true
      } catch { return false }
    }
  }

  func text(_ range: Range<Int>) -> String {
    unsafe extracting(range).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// - Precondition: the range has the length of a fingerprint.
  func fingerprint(_ range: Range<Int>) -> Fingerprint {
    guard let fingerprint = Fingerprint(bytes: array(range)) else { preconditionFailure("no fingerprint") }
    return fingerprint
  }

  func array(_ range: Range<Int>) -> [UInt8] { [UInt8](copying: extracting(range)) }

  /// Whether no two of these ranges, which may differ in length, hold the same bytes.
  func areDistinct(_ ranges: [Range<Int>]) -> Bool {
    let sorted = ranges.sorted { isOrdered($0, $1) }
    return zip(sorted, sorted.dropFirst()).allSatisfy { isOrdered($0, $1) }
  }

  /// Whether the bytes of one range sort before those of another.
  private func isOrdered(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
    for (a, b) in zip(left, right) {
      let (x, y) = (byte(a), byte(b))
      if x != y { return x < y }
    }
    return left.count < right.count
  }

  private func byte(_ offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }
}

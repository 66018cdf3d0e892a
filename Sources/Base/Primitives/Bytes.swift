// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing the fixed-width fields of the formats, big-endian, and labels as bytes.

extension RawSpan {
  /// The byte at `offset`, without a check: the caller has compared it with `byteCount`.
  func unsafeLoadByte(_ offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }
}

extension MutableRawSpan {
  /// Copies `source` to `offset`.
  package mutating func copy(_ source: RawSpan, to offset: Int) {
    precondition(offset >= 0 && source.byteCount <= byteCount - offset, "no room for the copy")
    unsafe withUnsafeMutableBytes { target in
      unsafe source.withUnsafeBytes { source in
        guard let start = source.baseAddress else { return }
        unsafe target.baseAddress?.advanced(by: offset).copyMemory(from: start, byteCount: source.count)
      }
    }
  }

  /// Copies the bytes of `range` to `offset`; the two places may overlap.
  package mutating func move(_ range: Range<Int>, to offset: Int) {
    precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "the range is within the bytes")
    precondition(offset >= 0 && range.count <= byteCount - offset, "no room for the copy")
    unsafe withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      let source = unsafe base + range.lowerBound
      unsafe (base + offset).copyMemory(from: source, byteCount: range.count)
    }
  }
}

extension MutableRawSpan {
  /// Lends a part of the bytes for writing.
  package mutating func withRange<R: ~Copyable, E: Error>(
    _ range: Range<Int>, _ body: (inout MutableRawSpan) throws(E) -> R
  ) throws(E) -> R {
    precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "the range is within the bytes")
    return try unsafe withUnsafeMutableBytes { (bytes) throws(E) -> R in
      var part = unsafe MutableRawSpan(_unsafeBytes: UnsafeMutableRawBufferPointer(rebasing: bytes[range]))
      return try body(&part)
    }
  }
}

extension StaticString {
  /// Lends the UTF-8 of a literal: the labels that keep derivations apart.
  package func withRawSpan<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(unsafe RawSpan(_unsafeStart: utf8Start, byteCount: utf8CodeUnitCount))
  }
}

/// Fewer bytes than a field needs.
package struct TruncatedField: Error {}

/// An offset into a span; each read moves it behind the field.
package struct ByteCursor {
  package private(set) var offset = 0

  package init() {}

  package mutating func readByte(_ bytes: RawSpan) throws(TruncatedField) -> UInt8 {
    UInt8(truncatingIfNeeded: try readInteger(bytes, byteCount: 1))
  }

  package mutating func readUInt16(_ bytes: RawSpan) throws(TruncatedField) -> Int {
    Int(try readInteger(bytes, byteCount: 2))
  }

  package mutating func readUInt32(_ bytes: RawSpan) throws(TruncatedField) -> Int {
    Int(try readInteger(bytes, byteCount: 4))
  }

  package mutating func readInt64(_ bytes: RawSpan) throws(TruncatedField) -> Int64 {
    Int64(bitPattern: try readInteger(bytes, byteCount: 8))
  }

  /// The next bytes, copied out; for fields that are not secret.
  package mutating func readBytes(_ bytes: RawSpan, count: Int) throws(TruncatedField) -> [UInt8] {
    let range = try readRange(bytes, count: count)
    return unsafe bytes.extracting(range).withUnsafeBytes { unsafe Array($0) }
  }

  /// The next bytes, as their place.
  package mutating func readRange(_ bytes: RawSpan, count: Int) throws(TruncatedField) -> Range<Int> {
    guard count >= 0, count <= bytes.byteCount - offset else { throw TruncatedField() }
    defer { offset += count }
    return offset..<offset + count
  }

  /// Whether every byte has been read.
  package func isAtEnd(of bytes: RawSpan) -> Bool { offset == bytes.byteCount }

  private mutating func readInteger(_ bytes: RawSpan, byteCount: Int) throws(TruncatedField) -> UInt64 {
    guard byteCount <= bytes.byteCount - offset else { throw TruncatedField() }
    var value: UInt64 = 0
    for index in offset..<offset + byteCount { value = value << 8 | UInt64(bytes.unsafeLoadByte(index)) }
    offset += byteCount
    return value
  }
}

extension [UInt8] {
  /// The bytes of a span; for bytes that are not secret.
  package init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
  }

  /// Appends an integer, big-endian.
  package mutating func append(bigEndian value: some FixedWidthInteger) {
    unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
  }

  /// Appends the bytes of a span; for bytes that are not secret.
  package mutating func append(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}

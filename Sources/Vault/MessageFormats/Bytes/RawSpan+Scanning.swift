// SPDX-License-Identifier: Apache-2.0
//
// Looking for things in bytes. Every access is checked against the span; ranges are offsets into it.

internal import CSystem
internal import Glibc

extension RawSpan {
  /// All offsets.
  @inline(__always) var whole: Range<Int> { unsafe Range(uncheckedBounds: (0, byteCount)) }

  /// The byte at `offset`, which must lie inside.
  @inline(__always) func byte(_ offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < byteCount, "offset outside of the bytes")
    return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// The byte at `offset`, or nil outside of `range`.
  @inline(__always) func byte(_ offset: Int, in range: Range<Int>) -> UInt8? {
    range.contains(offset) ? byte(offset) : nil
  }

  /// The bytes of `range` as a span.
  @inline(__always) func slice<R: ~Copyable, E: Error>(
    _ range: Range<Int>, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try body(extracting(range))
  }

  /// Where `byte` occurs first in `range`.
  @inline(__always) func firstOffset(of byte: UInt8, in range: Range<Int>) -> Int? {
    precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "range outside of the bytes")
    if range.isEmpty { return nil }
    return unsafe withUnsafeBytes { bytes -> Int? in
      guard let base = bytes.baseAddress else { return nil }
      guard let hit = unsafe memchr(base + range.lowerBound, Int32(byte), range.count) else { return nil }
      return unsafe UnsafeRawPointer(hit) - base
    }
  }

  /// Where `needle` begins first in `range`, whole inside of it.
  func firstOffset(of needle: StaticString, in range: Range<Int>) -> Int? {
    unsafe find(needle.utf8Start, needle.utf8CodeUnitCount, in: range)
  }

  /// Where `needle` begins first in `range`, whole inside of it.
  func firstOffset(of needle: RawSpan, in range: Range<Int>) -> Int? {
    unsafe needle.withUnsafeBytes { needle -> Int? in
      guard let start = needle.baseAddress else { return range.lowerBound }
      return unsafe find(start, needle.count, in: range)
    }
  }

  private func find(_ needle: UnsafeRawPointer, _ needleCount: Int, in range: Range<Int>) -> Int? {
    precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "range outside of the bytes")
    if range.count < needleCount { return nil }
    return unsafe withUnsafeBytes { bytes -> Int? in
      guard let base = bytes.baseAddress else { return nil }
      guard let hit = unsafe coffer_find(base + range.lowerBound, range.count, needle, needleCount) else {
        return nil
      }
      return unsafe hit - base
    }
  }

  /// Whether `text` is at `offset`. With `ignoringCase`, `text` is in lower case.
  func matches(_ text: StaticString, at offset: Int, ignoringCase: Bool = false) -> Bool {
    let count = text.utf8CodeUnitCount
    guard offset >= 0, offset <= byteCount - count else { return false }
    for index in 0..<count {
      let byte = byte(offset + index)
      let wanted = unsafe text.utf8Start[index]
      if (ignoringCase ? ASCII.lowercased(byte) : byte) != wanted { return false }
    }
    return true
  }

  /// Whether `range` is `text` (in lower case), whatever the case of the bytes.
  func equals(_ text: StaticString, in range: Range<Int>) -> Bool {
    range.count == text.utf8CodeUnitCount && matches(text, at: range.lowerBound, ignoringCase: true)
  }

  /// `range` without white space at its ends.
  func trimmed(_ range: Range<Int>) -> Range<Int> {
    var lower = range.lowerBound
    var upper = range.upperBound
    while lower < upper, ASCII.isWhitespace(byte(lower)) { lower += 1 }
    while upper > lower, ASCII.isWhitespace(byte(upper - 1)) { upper -= 1 }
    return lower..<upper
  }

  /// The end of the line that begins at `start`: after its newline, or the end of the range.
  func lineEnd(from start: Int, until end: Int) -> Int {
    firstOffset(of: ASCII.newline, in: start..<end).map { $0 + 1 } ?? end
  }

  /// Text on the ordinary heap: for titles, tags and types, not for content. Invalid UTF-8 is repaired.
  func string(_ range: Range<Int>) -> String {
    unsafe extracting(range).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// How many bytes from `offset` on are a valid UTF-8 sequence of one character; zero when none
  /// (RFC 3629 section 4).
  func utf8Length(at offset: Int, until end: Int) -> Int {
    let first = byte(offset)
    if first < 0x80 { return 1 }
    let length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0
    guard length > 0, offset + length <= end else { return 0 }
    let second = byte(offset + 1)
    switch first {
    case 0xE0: if second < 0xA0 { return 0 }
    case 0xED: if second > 0x9F { return 0 }
    case 0xF0: if second < 0x90 { return 0 }
    case 0xF4: if second > 0x8F { return 0 }
    default: break
    }
    for index in 1..<length where byte(offset + index) & 0xC0 != 0x80 { return 0 }
    return length
  }

  /// The offset of the first byte outside of valid UTF-8; the end of the range when all is valid.
  func validUTF8End(in range: Range<Int>) -> Int {
    var offset = range.lowerBound
    while offset < range.upperBound {
      offset = asciiEnd(in: offset..<range.upperBound)
      if offset == range.upperBound { break }
      let length = utf8Length(at: offset, until: range.upperBound)
      if length == 0 { return offset }
      offset += length
    }
    return offset
  }

  /// The offset of the first byte above 127; the end of the range when there is none.
  func asciiEnd(in range: Range<Int>) -> Int {
    precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "range outside of the bytes")
    var offset = range.lowerBound
    while range.upperBound - offset >= 8 {
      let word = unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
      let high = word.littleEndian & 0x8080_8080_8080_8080
      if high != 0 { return offset + high.trailingZeroBitCount / 8 }
      offset += 8
    }
    while offset < range.upperBound, byte(offset) < 0x80 { offset += 1 }
    return offset
  }
}

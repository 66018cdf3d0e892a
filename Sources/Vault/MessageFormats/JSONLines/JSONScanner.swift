// SPDX-License-Identifier: Apache-2.0
//
// JSON (RFC 8259) over borrowed bytes: it checks everything and copies nothing, so that content stays in
// the erased buffer it was read into. The bytes must be valid UTF-8.

/// A string that was found: its bytes between the quotes.
struct JSONText {
  var range: Range<Int>
  var isEscaped: Bool
}

/// The error in a line; a fixed text.
struct JSONFlaw: Error {
  let what: String
  init(_ what: String) { self.what = what }
}

/// A position in the bytes of one JSON text.
struct JSONScanner {
  private(set) var offset: Int
  private let end: Int

  init(_ range: Range<Int>) {
    offset = range.lowerBound
    end = range.upperBound
  }

  /// The next byte that is not white space; nil at the end.
  mutating func peek(_ bytes: RawSpan) -> UInt8? {
    while offset < end {
      let byte = bytes.byte(offset)
      guard byte == ASCII.space || byte == ASCII.tab || byte == ASCII.newline || byte == ASCII.carriageReturn
      else { return byte }
      offset += 1
    }
    return nil
  }

  /// Passes over `byte`, the next that is not white space; false when it is another.
  mutating func take(_ byte: UInt8, _ bytes: RawSpan) -> Bool {
    guard peek(bytes) == byte else { return false }
    offset += 1
    return true
  }

  /// Reads a string (section 7).
  mutating func string(_ bytes: RawSpan) throws(JSONFlaw) -> JSONText {
    guard take(ASCII.quote, bytes) else { throw JSONFlaw("a string is expected") }
    let start = offset
    var isEscaped = false
    while true {
      offset = Self.plainEnd(bytes, offset..<end)
      guard offset < end else { throw JSONFlaw("a string does not end") }
      let byte = bytes.byte(offset)
      if byte == ASCII.quote {
        offset += 1
        return JSONText(range: start..<offset - 1, isEscaped: isEscaped)
      }
      guard byte == ASCII.backslash else { throw JSONFlaw("a control character in a string") }
      isEscaped = true
      try escape(bytes)
    }
  }

  /// Where the first quote, backslash or control character stands.
  private static func plainEnd(_ bytes: RawSpan, _ range: Range<Int>) -> Int {
    var offset = range.lowerBound
    let ones: UInt64 = 0x0101_0101_0101_0101
    while range.upperBound - offset >= 8 {
      let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
      // The top bit of a byte shows a zero after the subtraction, so one of the three was there.
      let quotes = word ^ (ones &* UInt64(ASCII.quote))
      let backslashes = word ^ (ones &* UInt64(ASCII.backslash))
      let found =
        ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
        | ((word &- ones &* UInt64(ASCII.space)) & ~word)
      if found & (ones << 7) != 0 { break }
      offset += 8
    }
    while offset < range.upperBound {
      let byte = bytes.byte(offset)
      if byte == ASCII.quote || byte == ASCII.backslash || byte < ASCII.space { break }
      offset += 1
    }
    return offset
  }

  private mutating func escape(_ bytes: RawSpan) throws(JSONFlaw) {
    guard offset + 1 < end else { throw JSONFlaw("a string does not end") }
    let kind = bytes.byte(offset + 1)
    if kind != 0x75 {
      guard Self.simpleEscape(kind) != nil else { throw JSONFlaw("an unknown escape in a string") }
      offset += 2
      return
    }
    let unit = Self.codeUnit(bytes, at: offset, until: end)
    guard let unit else { throw JSONFlaw("an unknown escape in a string") }
    offset += 6
    if unit & 0xF800 != 0xD800 { return }
    guard unit < 0xDC00, let low = Self.codeUnit(bytes, at: offset, until: end), low & 0xFC00 == 0xDC00 else {
      throw JSONFlaw("half a surrogate pair in a string")
    }
    offset += 6
  }

  /// The value of `\uXXXX` at `offset`; nil when that is not there.
  private static func codeUnit(_ bytes: RawSpan, at offset: Int, until end: Int) -> UInt32? {
    guard offset + 6 <= end, bytes.byte(offset) == ASCII.backslash, bytes.byte(offset + 1) == 0x75 else {
      return nil
    }
    var value: UInt32 = 0
    for index in 2..<6 {
      guard let digit = ASCII.hexValue(bytes.byte(offset + index)) else { return nil }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  private static func simpleEscape(_ kind: UInt8) -> UInt8? {
    switch kind {
    case ASCII.quote, ASCII.backslash, ASCII.slash: return kind
    case 0x62: return 0x08
    case 0x66: return 0x0C
    case 0x6E: return 0x0A
    case 0x72: return 0x0D
    case 0x74: return 0x09
    default: return nil
    }
  }

  /// Passes over any value.
  mutating func skipValue(_ bytes: RawSpan, depth: Int = 0) throws(JSONFlaw) {
    guard depth <= MessageLimits.jsonNesting else { throw JSONFlaw("values are nested too deeply") }
    switch peek(bytes) {
    case ASCII.quote: _ = try string(bytes)
    case 0x7B:
      offset += 1
      if take(0x7D, bytes) { return }
      repeat {
        _ = try string(bytes)
        guard take(ASCII.colon, bytes) else { throw JSONFlaw("a colon is expected") }
        try skipValue(bytes, depth: depth + 1)
      } while take(ASCII.comma, bytes)
      guard take(0x7D, bytes) else { throw JSONFlaw("an object does not end") }
    case 0x5B:
      offset += 1
      if take(0x5D, bytes) { return }
      repeat { try skipValue(bytes, depth: depth + 1) } while take(ASCII.comma, bytes)
      guard take(0x5D, bytes) else { throw JSONFlaw("an array does not end") }
    case 0x74: try literal("true", bytes)
    case 0x66: try literal("false", bytes)
    case 0x6E: try literal("null", bytes)
    default: try number(bytes)
    }
  }

  /// Whether `null` comes next, which is passed over.
  mutating func takeNull(_ bytes: RawSpan) throws(JSONFlaw) -> Bool {
    guard peek(bytes) == 0x6E else { return false }
    try literal("null", bytes)
    return true
  }

  private mutating func literal(_ text: StaticString, _ bytes: RawSpan) throws(JSONFlaw) {
    guard offset + text.utf8CodeUnitCount <= end, bytes.matches(text, at: offset) else {
      throw JSONFlaw("a value is expected")
    }
    offset += text.utf8CodeUnitCount
  }

  /// Passes over a number (section 6).
  private mutating func number(_ bytes: RawSpan) throws(JSONFlaw) {
    func digits(_ offset: inout Int) -> Int {
      let start = offset
      while offset < end, ASCII.isDigit(bytes.byte(offset)) { offset += 1 }
      return offset - start
    }
    if offset < end, bytes.byte(offset) == ASCII.dash { offset += 1 }
    let startsWithZero = offset < end && bytes.byte(offset) == ASCII.zero
    let count = digits(&offset)
    guard count == 1 || (count > 1 && !startsWithZero) else { throw JSONFlaw("a value is expected") }
    if offset < end, bytes.byte(offset) == ASCII.dot {
      offset += 1
      guard digits(&offset) > 0 else { throw JSONFlaw("a number is malformed") }
    }
    if offset < end, bytes.byte(offset) | 0x20 == 0x65 {
      offset += 1
      if offset < end, bytes.byte(offset) == 0x2B || bytes.byte(offset) == ASCII.dash { offset += 1 }
      guard digits(&offset) > 0 else { throw JSONFlaw("a number is malformed") }
    }
  }

  // MARK: Values of strings

  /// The text of a short string, on the ordinary heap.
  static func value(_ text: JSONText, _ bytes: RawSpan) -> String {
    if !text.isEscaped { return bytes.string(text.range) }
    var unescaped = ByteBuffer(capacity: text.range.count)
    unescaped.append(bytes.extracting(text.range))
    let count = unescapeInPlace(JSONText(range: 0..<text.range.count, isEscaped: true), &unescaped)
    return unescaped.withBytes { $0.string(0..<count) }
  }

  /// Resolves the escapes of a string where it lies; how many bytes it has then.
  ///
  /// Every escape is longer than its value. The string has been checked by ``string(_:)``.
  static func unescapeInPlace(_ text: JSONText, _ buffer: inout ByteBuffer) -> Int {
    guard text.isEscaped else { return text.range.count }
    let end = text.range.upperBound
    var read = text.range.lowerBound
    var written = read
    while read < end {
      let mark = buffer.withBytes { $0.firstOffset(of: ASCII.backslash, in: read..<end) } ?? end
      buffer.move(read..<mark, to: written)
      written += mark - read
      read = mark
      guard read + 1 < end else { break }
      if let byte = simpleEscape(buffer[read + 1]) {
        buffer[written] = byte
        written += 1
        read += 2
        continue
      }
      let units = buffer.withBytes { bytes -> (UInt32, UInt32)? in
        codeUnit(bytes, at: read, until: end).map { ($0, codeUnit(bytes, at: read + 6, until: end) ?? 0) }
      }
      guard let (high, low) = units else { break }
      read += 6
      var value = high
      if high & 0xFC00 == 0xD800 {
        value = 0x10000 + (high & 0x3FF) << 10 + (low & 0x3FF)
        read += 6
      }
      for byte in (Unicode.Scalar(value) ?? "\u{FFFD}").utf8 {
        buffer[written] = byte
        written += 1
      }
    }
    return written - text.range.lowerBound
  }
}

/// Checks JSON that is kept as it is.
public enum JSONObject {
  /// Whether `bytes` are one JSON object (RFC 8259) in UTF-8, nested at most 32 levels deep, with nothing but
  /// white space around it. Nothing is copied.
  public static func isWellFormed(_ bytes: RawSpan) -> Bool {
    let all = 0..<bytes.byteCount
    guard bytes.validUTF8End(in: all) == bytes.byteCount else { return false }
    var scanner = JSONScanner(all)
    guard scanner.peek(bytes) == UInt8(ascii: "{") else { return false }
    do { try scanner.skipValue(bytes) } catch { return false }
    return scanner.peek(bytes) == nil
  }
}

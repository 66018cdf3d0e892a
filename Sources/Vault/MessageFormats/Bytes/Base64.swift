// SPDX-License-Identifier: Apache-2.0
//
// Base64 (RFC 4648 section 4). Decoding may write over its own input, since the output never overtakes it.

/// Encoding and the two ways of decoding.
enum Base64 {
  /// How forgiving decoding is.
  enum Strictness {
    /// Nothing but the alphabet and correct padding: JSON Lines.
    case exact
    /// Line breaks between groups as well: our own mbox export.
    case lines
    /// Whatever mail brings: foreign bytes are skipped, padding may be missing (RFC 2045 section 6.8).
    case lenient
  }

  /// How many characters `byteCount` bytes take, without line breaks.
  static func encodedByteCount(_ byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

  /// Appends `bytes` encoded; with `lineByteCount`, a newline ends every line.
  static func encode(_ bytes: RawSpan, lineByteCount: Int? = nil, into buffer: inout ByteBuffer) {
    let groupsPerLine = (lineByteCount ?? .max) / 4
    let encoded = encodedByteCount(bytes.byteCount)
    let newlines = lineByteCount.map { encoded / $0 + 1 } ?? 0
    unsafe buffer.appendFilling(atLeast: encoded + newlines) { free in
      var written = 0
      var groups = 0
      var offset = 0
      let letters = unsafe alphabet.utf8Start
      while offset < bytes.byteCount {
        let left = bytes.byteCount - offset
        let first = UInt32(bytes.byte(offset))
        let second = left > 1 ? UInt32(bytes.byte(offset + 1)) : 0
        let third = left > 2 ? UInt32(bytes.byte(offset + 2)) : 0
        let group = first << 16 | second << 8 | third
        unsafe free[written] = letters[Int(group >> 18)]
        unsafe free[written + 1] = letters[Int(group >> 12 & 63)]
        unsafe free[written + 2] = left > 1 ? letters[Int(group >> 6 & 63)] : ASCII.equals
        unsafe free[written + 3] = left > 2 ? letters[Int(group & 63)] : ASCII.equals
        written += 4
        offset += 3
        groups += 1
        if groups == groupsPerLine {
          unsafe free[written] = ASCII.newline
          written += 1
          groups = 0
        }
      }
      if lineByteCount != nil, groups > 0 {
        unsafe free[written] = ASCII.newline
        written += 1
      }
      return written
    }
  }

  /// Decodes the bytes of `range` in place; how many there are now, or nil when they are not base64.
  static func decodeInPlace(
    _ buffer: inout ByteBuffer, _ range: Range<Int>, _ strictness: Strictness
  ) -> Int? {
    unsafe buffer.withMutableBytes(in: range) { bytes in
      unsafe decode(UnsafeRawBufferPointer(bytes), into: bytes, strictness)
    }
  }

  /// Appends what `bytes` decode to, leniently.
  static func decode(_ bytes: RawSpan, into buffer: inout ByteBuffer) {
    unsafe buffer.appendFilling(atLeast: bytes.byteCount / 4 * 3 + 3) { free in
      unsafe bytes.withUnsafeBytes { source in unsafe decode(source, into: free, .lenient) ?? 0 }
    }
  }

  /// `target` may begin where `source` begins.
  private static func decode(
    _ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer, _ strictness: Strictness
  ) -> Int? {
    var written = 0
    var group: UInt32 = 0
    var inGroup = 0
    var padding = 0
    var offset = 0
    let values = unsafe decoded.utf8Start
    while offset < source.count {
      let byte = unsafe source[offset]
      offset += 1
      let value = unsafe byte < 128 ? values[Int(byte)] : invalid
      if value < 64 {
        if padding > 0 {
          if strictness != .lenient { return nil }
          // Two encoded pieces one after the other: begin anew.
          group = 0
          inGroup = 0
          padding = 0
        }
        group = group << 6 | UInt32(value)
        inGroup += 1
        if inGroup == 4 {
          unsafe target[written] = UInt8(truncatingIfNeeded: group >> 16)
          unsafe target[written + 1] = UInt8(truncatingIfNeeded: group >> 8)
          unsafe target[written + 2] = UInt8(truncatingIfNeeded: group)
          written += 3
          group = 0
          inGroup = 0
        }
      } else if byte == ASCII.equals {
        padding += 1
        if padding == 1 {
          if let rest = flush(group, inGroup, strict: strictness != .lenient) {
            for index in 0..<rest.count { unsafe target[written + index] = rest.bytes[index] }
            written += rest.count
          } else if strictness != .lenient {
            return nil
          }
        }
        if strictness != .lenient && padding + inGroup > 4 { return nil }
      } else {
        let isLineBreak = byte == ASCII.newline || byte == ASCII.carriageReturn
        if strictness == .exact || (strictness == .lines && !isLineBreak) { return nil }
      }
    }
    if padding > 0 { return strictness != .lenient && padding + inGroup != 4 ? nil : written }
    if inGroup == 0 { return written }
    if strictness != .lenient { return nil }
    if let rest = flush(group, inGroup, strict: false) {
      for index in 0..<rest.count { unsafe target[written + index] = rest.bytes[index] }
      written += rest.count
    }
    return written
  }

  /// The one or two bytes of an incomplete group; strictly, its unused bits are zero.
  private static func flush(
    _ group: UInt32, _ characters: Int, strict: Bool
  ) -> (bytes: InlineArray<2, UInt8>, count: Int)? {
    switch characters {
    case 2:
      if strict && group & 0x0F != 0 { return nil }
      return ([UInt8(truncatingIfNeeded: group >> 4), 0], 1)
    case 3:
      if strict && group & 0x03 != 0 { return nil }
      return ([UInt8(truncatingIfNeeded: group >> 10), UInt8(truncatingIfNeeded: group >> 2)], 2)
    default: return nil
    }
  }

  private static let invalid: UInt8 = 127
  private static let alphabet: StaticString =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  /// The value of each ASCII character; 127 where there is none.
  private static let decoded: StaticString = """
    \u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\
    \u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\
    \u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{3E}\u{7F}\u{7F}\u{7F}\u{3F}\
    \u{34}\u{35}\u{36}\u{37}\u{38}\u{39}\u{3A}\u{3B}\u{3C}\u{3D}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\
    \u{7F}\u{00}\u{01}\u{02}\u{03}\u{04}\u{05}\u{06}\u{07}\u{08}\u{09}\u{0A}\u{0B}\u{0C}\u{0D}\u{0E}\
    \u{0F}\u{10}\u{11}\u{12}\u{13}\u{14}\u{15}\u{16}\u{17}\u{18}\u{19}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\
    \u{7F}\u{1A}\u{1B}\u{1C}\u{1D}\u{1E}\u{1F}\u{20}\u{21}\u{22}\u{23}\u{24}\u{25}\u{26}\u{27}\u{28}\
    \u{29}\u{2A}\u{2B}\u{2C}\u{2D}\u{2E}\u{2F}\u{30}\u{31}\u{32}\u{33}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}
    """
}

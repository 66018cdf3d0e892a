// SPDX-License-Identifier: Apache-2.0
//
// Looks at the characters of a password where it lies: a String would be a copy that nobody erases.

/// What the characters of a password are.
enum PasswordText {
  /// How long the text is without white space at its end.
  static func byteCountWithoutTrailingSpace(_ bytes: RawSpan) -> Int {
    var end = bytes.byteCount
    while let start = startOfLastScalar(bytes.extracting(0..<end)),
      let scalar = scalar(bytes.extracting(start..<end)), scalar.properties.isWhitespace
    {
      end = start
    }
    return end
  }

  /// Whether it is UTF-8 without control characters, surrogates and places where no character is.
  static func isHumanReadable(_ bytes: RawSpan) -> Bool {
    var offset = 0
    while offset < bytes.byteCount {
      guard let count = sequenceByteCount(byte(bytes, offset)), offset + count <= bytes.byteCount,
        let scalar = scalar(bytes.extracting(offset..<offset + count))
      else { return false }
      switch scalar.properties.generalCategory {
      case .control, .surrogate, .unassigned, .privateUse, .lineSeparator, .paragraphSeparator: return false
      default: offset += count
      }
    }
    return true
  }

  private static func startOfLastScalar(_ bytes: RawSpan) -> Int? {
    var start = bytes.byteCount - 1
    while start >= 0, byte(bytes, start) & 0xC0 == 0x80 { start -= 1 }
    return start >= 0 ? start : nil
  }

  /// The scalar that all of `bytes` are; nil when they are not one, in its shortest form.
  private static func scalar(_ bytes: RawSpan) -> Unicode.Scalar? {
    guard !bytes.isEmpty, sequenceByteCount(byte(bytes, 0)) == bytes.byteCount else { return nil }
    let count = bytes.byteCount
    var value = UInt32(byte(bytes, 0)) & (count == 1 ? 0x7F : 0xFF >> UInt32(count + 1))
    for offset in 1..<max(count, 1) {
      guard byte(bytes, offset) & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte(bytes, offset) & 0x3F)
    }
    guard let scalar = Unicode.Scalar(value), UTF8.width(scalar) == count else { return nil }
    return scalar
  }

  private static func sequenceByteCount(_ first: UInt8) -> Int? {
    switch first {
    case 0x00...0x7F: 1
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: nil
    }
  }

  private static func byte(_ bytes: RawSpan, _ offset: Int) -> UInt8 {
    unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}

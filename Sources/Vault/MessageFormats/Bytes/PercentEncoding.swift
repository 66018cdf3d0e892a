// SPDX-License-Identifier: Apache-2.0
//
// Percent encoding (RFC 3986 section 2.1), with which the headers of an mbox export carry any text in
// printable ASCII.

enum PercentEncoding {
  /// Appends `text`; letters, digits and `-._~/+;=` stay as they are.
  static func encode(_ text: String, into buffer: inout ByteBuffer) {
    let bytes = unsafe text.utf8Span.span.bytes
    for offset in 0..<bytes.byteCount {
      let byte = bytes.byte(offset)
      if isPlain(byte) {
        buffer.append(byte)
      } else {
        buffer.append(ASCII.percent)
        buffer.append(ASCII.upperHexDigit(byte >> 4))
        buffer.append(ASCII.upperHexDigit(byte & 15))
      }
    }
  }

  /// The text in `range`; nil when it is not percent-encoded UTF-8.
  static func decode(_ bytes: RawSpan, _ range: Range<Int>) -> String? {
    var text: [UInt8] = []
    text.reserveCapacity(range.count)
    var offset = range.lowerBound
    while offset < range.upperBound {
      let byte = bytes.byte(offset)
      if byte == ASCII.percent {
        guard let high = bytes.byte(offset + 1, in: range).flatMap(ASCII.hexValue),
          let low = bytes.byte(offset + 2, in: range).flatMap(ASCII.hexValue)
        else { return nil }
        text.append(high << 4 | low)
        offset += 3
      } else {
        guard isPlain(byte) else { return nil }
        text.append(byte)
        offset += 1
      }
    }
    return String(validating: text, as: UTF8.self)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    if ASCII.isLetter(byte) || ASCII.isDigit(byte) { return true }
    switch byte {
    case ASCII.dash, ASCII.dot, ASCII.underscore, 0x7E, ASCII.slash, 0x2B, ASCII.semicolon, ASCII.equals:
      return true
    default: return false
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Quoted-printable (RFC 2045 section 6.7) and the "Q" encoding of headers (RFC 2047 section 4.2). Malformed
// sequences stay unchanged.

enum QuotedPrintable {
  /// Appends the decoded body.
  static func decodeBody(_ bytes: RawSpan, into buffer: inout ByteBuffer) {
    var offset = 0
    let end = bytes.byteCount
    while offset < end {
      guard let mark = bytes.firstOffset(of: ASCII.equals, in: offset..<end) else {
        buffer.append(bytes.extracting(offset..<end))
        return
      }
      buffer.append(bytes.extracting(offset..<mark))
      offset = mark + 1
      if offset + 1 < end, let high = ASCII.hexValue(bytes.byte(offset)),
        let low = ASCII.hexValue(bytes.byte(offset + 1))
      {
        buffer.append(high << 4 | low)
        offset += 2
        continue
      }
      // A soft line break: blanks, then the newline, all dropped.
      var next = offset
      while next < end, ASCII.isBlank(bytes.byte(next)) { next += 1 }
      if next < end, bytes.byte(next) == ASCII.carriageReturn { next += 1 }
      if next < end, bytes.byte(next) == ASCII.newline {
        offset = next + 1
      } else if next == end {
        offset = end
      } else {
        buffer.append(ASCII.equals)
      }
    }
  }

  /// Appends the decoded text of an encoded word.
  static func decodeWord(_ bytes: RawSpan, into buffer: inout ByteBuffer) {
    var offset = 0
    while offset < bytes.byteCount {
      let byte = bytes.byte(offset)
      offset += 1
      if byte == ASCII.underscore {
        buffer.append(ASCII.space)
      } else if byte == ASCII.equals, offset + 1 < bytes.byteCount,
        let high = ASCII.hexValue(bytes.byte(offset)), let low = ASCII.hexValue(bytes.byte(offset + 1))
      {
        buffer.append(high << 4 | low)
        offset += 2
      } else {
        buffer.append(byte)
      }
    }
  }
}

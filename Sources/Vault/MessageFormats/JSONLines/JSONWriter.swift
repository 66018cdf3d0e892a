// SPDX-License-Identifier: Apache-2.0
//
// The one way in which this module writes JSON: members in a fixed order, no white space, and only those
// escapes that RFC 8259 section 7 demands.

internal import Texts

enum JSONWriter {
  /// Appends the members that describe a message: `"title":…,"tags":…,"type":…,"date":…`.
  static func append(_ metadata: MessageMetadata, into buffer: inout ByteBuffer) {
    buffer.append("\"title\":")
    append(metadata.title, into: &buffer)
    buffer.append(",\"tags\":[")
    for (index, tag) in metadata.tags.enumerated() {
      if index > 0 { buffer.append(ASCII.comma) }
      append(tag, into: &buffer)
    }
    buffer.append("],\"type\":")
    append(metadata.contentType, into: &buffer)
    buffer.append(",\"date\":\"")
    buffer.append(RFC3339.format(metadata.date))
    buffer.append(ASCII.quote)
  }

  /// Appends `text` as a string with its quotes.
  static func append(_ text: String, into buffer: inout ByteBuffer) {
    buffer.append(ASCII.quote)
    unsafe appendEscaped(text.utf8Span.span.bytes, into: &buffer)
    buffer.append(ASCII.quote)
  }

  /// Appends valid UTF-8 escaped.
  static func appendEscaped(_ text: RawSpan, into buffer: inout ByteBuffer) {
    var start = 0
    for offset in 0..<text.byteCount {
      let byte = text.byte(offset)
      guard byte < ASCII.space || byte == ASCII.quote || byte == ASCII.backslash else { continue }
      buffer.append(text.extracting(start..<offset))
      start = offset + 1
      buffer.append(ASCII.backslash)
      if let letter = shortEscape(byte) {
        buffer.append(letter)
      } else {
        buffer.append("u00")
        buffer.append(ASCII.hexDigit(byte >> 4))
        buffer.append(ASCII.hexDigit(byte & 15))
      }
    }
    buffer.append(text.extracting(start..<text.byteCount))
  }

  /// How many bytes ``appendEscaped(_:into:)`` appends.
  static func escapedByteCount(_ text: RawSpan) -> Int {
    var count = text.byteCount
    for offset in 0..<text.byteCount {
      let byte = text.byte(offset)
      if byte < ASCII.space || byte == ASCII.quote || byte == ASCII.backslash {
        count += shortEscape(byte) == nil ? 5 : 1
      }
    }
    return count
  }

  private static func shortEscape(_ byte: UInt8) -> UInt8? {
    switch byte {
    case ASCII.quote, ASCII.backslash: return byte
    case 0x08: return 0x62
    case 0x09: return 0x74
    case 0x0A: return 0x6E
    case 0x0C: return 0x66
    case 0x0D: return 0x72
    default: return nil
    }
  }
}

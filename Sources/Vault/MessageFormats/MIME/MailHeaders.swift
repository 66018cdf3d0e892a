// SPDX-License-Identifier: Apache-2.0
//
// Walking over the header lines of a mail (RFC 5322 section 2.2) without copying any.

/// One header: where its name and its value lie. The value has its line breaks.
struct MailHeaderField {
  var name: Range<Int>
  var value: Range<Int>
}

/// A walk over the headers in `range` of some bytes.
struct MailHeaderWalk {
  private var offset: Int
  private let end: Int
  private let sectionEnd: Int
  /// Where the body begins, once the walk is over.
  private(set) var bodyStart: Int

  init(_ range: Range<Int>) {
    offset = range.lowerBound
    sectionEnd = range.upperBound
    end = min(range.upperBound, range.lowerBound + MessageLimits.headerSectionByteCount)
    bodyStart = range.upperBound
  }

  /// The next header; nil after the last. A line that is not a header is passed over.
  mutating func next(_ bytes: RawSpan) -> MailHeaderField? {
    while offset < end {
      let start = offset
      let first = bytes.byte(start)
      if first == ASCII.newline {
        finish(at: start + 1)
        return nil
      }
      if first == ASCII.carriageReturn, start + 1 < end, bytes.byte(start + 1) == ASCII.newline {
        finish(at: start + 2)
        return nil
      }
      var lineEnd = bytes.lineEnd(from: start, until: end)
      let firstLineEnd = lineEnd
      while lineEnd < end, ASCII.isBlank(bytes.byte(lineEnd)) {
        lineEnd = bytes.lineEnd(from: lineEnd, until: end)
      }
      offset = lineEnd
      guard let colon = bytes.firstOffset(of: ASCII.colon, in: start..<firstLineEnd), colon > start,
        !ASCII.isBlank(first)
      else { continue }
      var nameEnd = colon
      while nameEnd > start, ASCII.isBlank(bytes.byte(nameEnd - 1)) { nameEnd -= 1 }
      return MailHeaderField(name: start..<nameEnd, value: colon + 1..<lineEnd)
    }
    finish(at: end == sectionEnd ? sectionEnd : end)
    return nil
  }

  private mutating func finish(at start: Int) {
    bodyStart = min(start, sectionEnd)
    offset = end
  }
}

/// The values that say how a body is to be read (RFC 2045).
struct MailContentHeaders {
  var contentType: Range<Int>?
  var transferEncoding: Range<Int>?
  /// RFC 2183.
  var disposition: Range<Int>?

  mutating func take(_ field: MailHeaderField, _ bytes: RawSpan) {
    guard field.name.count >= 12, ASCII.lowercased(bytes.byte(field.name.lowerBound)) == 0x63 else { return }
    if contentType == nil, bytes.equals("content-type", in: field.name) {
      contentType = field.value
    } else if transferEncoding == nil, bytes.equals("content-transfer-encoding", in: field.name) {
      transferEncoding = bytes.trimmed(field.value)
    } else if disposition == nil, bytes.equals("content-disposition", in: field.name) {
      disposition = field.value
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// What a text itself says of its charset, where its mail says nothing (RFC 6657, section 3): a byte order mark, and of HTML
// the `meta` elements at its beginning, as the HTML Living Standard has it ("prescan a byte stream").

/// A byte order mark (Encoding Standard, section 6.1). It decides, whatever a label says, and is not text.
struct ByteOrderMark {
  let byteCount: Int
  /// A label of the charset.
  let charset: String

  /// Nil for a text without one.
  init?(_ text: RawSpan) {
    if text.matches("\u{FEFF}", at: 0) {
      (byteCount, charset) = (3, "utf-8")
    } else if text.byteCount >= 2, text.byte(0) == 0xFE, text.byte(1) == 0xFF {
      (byteCount, charset) = (2, "utf-16be")
    } else if text.byteCount >= 2, text.byte(0) == 0xFF, text.byte(1) == 0xFE {
      (byteCount, charset) = (2, "utf-16le")
    } else {
      return nil
    }
  }
}

enum HTMLCharset {
  /// Where an HTML text names its charset; nil if it does not, or names one that is not known.
  static func declared(in html: RawSpan) -> Range<Int>? {
    let end = min(html.byteCount, prescanByteCount)
    var offset = html.trimmed(0..<end).lowerBound
    if html.matches("<?xml", at: offset), let found = xmlEncoding(html, offset..<end) { return found }
    while let tag = html.firstOffset(of: ASCII.less, in: offset..<end) {
      if html.matches("<!--", at: tag) {
        guard let close = html.firstOffset(of: "-->", in: tag + 2..<end) else { return nil }
        offset = close + 3
        continue
      }
      offset = tag + 1
      guard html.matches("<meta", at: tag, ignoringCase: true), tag + 5 < end,
        ASCII.isWhitespace(html.byte(tag + 5)) || html.byte(tag + 5) == ASCII.slash
      else { continue }
      offset = tag + 5
      if let found = meta(html, &offset, until: end) { return found }
    }
    return nil
  }

  /// Reads the attributes of one element.
  private static func meta(_ html: RawSpan, _ offset: inout Int, until end: Int) -> Range<Int>? {
    var (label, content): (Range<Int>?, Range<Int>?) = (nil, nil)
    var isContentType = false
    while let (name, value) = attribute(html, &offset, until: end) {
      if html.equals("charset", in: name) { label = label ?? value }
      if html.equals("content", in: name) { content = content ?? value }
      if html.equals("http-equiv", in: name), html.equals("content-type", in: html.trimmed(value)) {
        isContentType = true
      }
    }
    let found = label ?? (isContentType ? content.flatMap { charset(html, in: $0) } : nil)
    guard let found, !found.isEmpty, CharsetName(html.extracting(found)) != nil else { return nil }
    return found
  }

  /// The next attribute; nil at the end of the element.
  private static func attribute(
    _ html: RawSpan, _ offset: inout Int, until end: Int
  ) -> (name: Range<Int>, value: Range<Int>)? {
    while offset < end, ASCII.isWhitespace(html.byte(offset)) || html.byte(offset) == ASCII.slash {
      offset += 1
    }
    let start = offset
    while offset < end, html.byte(offset) != ASCII.equals, html.byte(offset) != ASCII.greater,
      html.byte(offset) != ASCII.slash, !ASCII.isWhitespace(html.byte(offset))
    {
      offset += 1
    }
    let name = start..<offset
    while offset < end, ASCII.isWhitespace(html.byte(offset)) { offset += 1 }
    guard offset < end, html.byte(offset) == ASCII.equals else {
      return name.isEmpty ? nil : (name, offset..<offset)
    }
    offset += 1
    let value = value(html, &offset, until: end)
    return (name, value)
  }

  /// In quotation marks of either kind, or up to white space or the end of the element.
  private static func value(_ html: RawSpan, _ offset: inout Int, until end: Int) -> Range<Int> {
    while offset < end, ASCII.isWhitespace(html.byte(offset)) { offset += 1 }
    guard offset < end else { return end..<end }
    let quote = html.byte(offset)
    if quote == ASCII.quote || quote == apostrophe {
      let start = offset + 1
      let close = html.firstOffset(of: quote, in: start..<end) ?? end
      offset = min(close + 1, end)
      return start..<close
    }
    let start = offset
    while offset < end, html.byte(offset) != ASCII.greater, !ASCII.isWhitespace(html.byte(offset)) {
      offset += 1
    }
    return start..<offset
  }

  /// Of `text/html; charset=koi8-r`.
  private static func charset(_ html: RawSpan, in content: Range<Int>) -> Range<Int>? {
    var offset = content.lowerBound
    while offset + 7 <= content.upperBound {
      if html.matches("charset", at: offset, ignoringCase: true) {
        let rest = html.trimmed(offset + 7..<content.upperBound)
        if !rest.isEmpty, html.byte(rest.lowerBound) == ASCII.equals {
          var start = rest.lowerBound + 1
          let value = value(html, &start, until: content.upperBound)
          let end = html.firstOffset(of: ASCII.semicolon, in: value) ?? value.upperBound
          return value.lowerBound..<end
        }
      }
      offset += 1
    }
    return nil
  }

  /// Of `<?xml version="1.0" encoding="koi8-r"?>`.
  private static func xmlEncoding(_ html: RawSpan, _ range: Range<Int>) -> Range<Int>? {
    guard let close = html.firstOffset(of: ASCII.greater, in: range),
      let mark = html.firstOffset(of: "encoding", in: range.lowerBound..<close)
    else { return nil }
    let rest = html.trimmed(mark + 8..<close)
    guard !rest.isEmpty, html.byte(rest.lowerBound) == ASCII.equals else { return nil }
    var start = rest.lowerBound + 1
    let label = value(html, &start, until: close)
    return !label.isEmpty && CharsetName(html.extracting(label)) != nil ? label : nil
  }

  private static let apostrophe: UInt8 = 0x27
  /// Browsers look at 1,024 bytes; mailers put styles before.
  private static let prescanByteCount = 4 << 10
}

// SPDX-License-Identifier: Apache-2.0
//
// The words of an HTML text, for search and for people: tags, comments, scripts and styles go, character references are
// resolved. No tree is built and nothing is looked at twice, so any input takes linear time.

enum HTMLText {
  /// Appends the text of `html` (UTF-8). Block elements become line breaks, inline ones nothing.
  /// - Parameter showsLinks: whether the address of a link follows its text, in angle brackets.
  static func append(_ html: RawSpan, showsLinks: Bool = false, into buffer: inout ByteBuffer) {
    let end = html.byteCount
    var offset = 0
    var tagsMayEnd = true
    var link: Range<Int>?
    while offset < end {
      let start = offset
      while offset < end, html.byte(offset) != ASCII.less, html.byte(offset) != ASCII.ampersand {
        offset += 1
      }
      buffer.append(html.extracting(start..<offset))
      guard offset < end else { return }
      if html.byte(offset) == ASCII.ampersand {
        offset = appendReference(html, at: offset, into: &buffer)
        continue
      }
      if html.matches("<!--", at: offset) {
        guard let close = html.firstOffset(of: "-->", in: offset + 4..<end) else { return }
        offset = close + 3
        continue
      }
      guard offset + 1 < end, tagsMayEnd, beginsTag(html.byte(offset + 1)) else {
        buffer.append(ASCII.less)
        offset += 1
        continue
      }
      guard let close = html.firstOffset(of: ASCII.greater, in: offset..<end) else {
        tagsMayEnd = false
        continue
      }
      let isClosing = html.byte(offset + 1) == ASCII.slash
      let nameStart = offset + (isClosing ? 2 : 1)
      var nameEnd = nameStart
      while nameEnd < close, ASCII.isLetter(html.byte(nameEnd)) { nameEnd += 1 }
      let name = nameStart..<nameEnd
      offset = close + 1
      if showsLinks, html.equals("a", in: name) {
        if let address = link { append(address: address, html, into: &buffer) }
        link = isClosing ? nil : address(html, nameEnd..<close)
      }
      if !isInline(html, name) { buffer.append(ASCII.newline) }
      if !isClosing, html.equals("script", in: name) || html.equals("style", in: name) {
        offset = endOfRawText(html, from: offset, name: name)
      }
    }
  }

  /// Makes text for people of what came out: without indentation, and with at most one empty line in a row. In place.
  static func tidy(_ text: inout ByteBuffer) {
    var (offset, written, hasGap) = (0, 0, false)
    while offset < text.count {
      let (line, next) = text.withBytes { bytes in
        let end = bytes.lineEnd(from: offset, until: bytes.byteCount)
        return (visible(bytes, offset..<end), end)
      }
      offset = next
      if line.isEmpty {
        hasGap = written > 0
        continue
      }
      // Each takes the place of a line end that has been read.
      for _ in 0..<(written == 0 ? 0 : hasGap ? 2 : 1) {
        text[written] = ASCII.newline
        written += 1
      }
      text.move(line, to: written)
      written += line.count
      hasGap = false
    }
    text.shorten(to: written)
  }

  /// A line without the white space around it, which may also be spaces that do not break (U+00A0).
  private static func visible(_ bytes: RawSpan, _ line: Range<Int>) -> Range<Int> {
    var line = bytes.trimmed(line)
    while line.count >= 2, bytes.byte(line.lowerBound) == 0xC2, bytes.byte(line.lowerBound + 1) == 0xA0 {
      line = bytes.trimmed(line.lowerBound + 2..<line.upperBound)
    }
    return line
  }

  /// Where the address of a link is in its tag.
  private static func address(_ html: RawSpan, _ tag: Range<Int>) -> Range<Int>? {
    var offset = tag.lowerBound
    while let hit = html.firstOffset(of: ASCII.equals, in: offset..<tag.upperBound) {
      let isAddress = html.matches("href", at: html.trimmed(offset..<hit).upperBound - 4, ignoringCase: true)
      let value = html.trimmed(hit + 1..<tag.upperBound)
      guard !value.isEmpty else { return nil }
      let quote = html.byte(value.lowerBound)
      let isQuoted = quote == ASCII.quote || quote == 0x27
      let start = isQuoted ? value.lowerBound + 1 : value.lowerBound
      var end = start
      while end < value.upperBound, isQuoted ? html.byte(end) != quote : !ASCII.isWhitespace(html.byte(end)) {
        end += 1
      }
      if isAddress { return start..<end }
      offset = min(end + 1, tag.upperBound)
    }
    return nil
  }

  private static func append(address: Range<Int>, _ html: RawSpan, into buffer: inout ByteBuffer) {
    guard !address.isEmpty else { return }
    buffer.append(" <")
    var offset = address.lowerBound
    while offset < address.upperBound {
      if html.byte(offset) == ASCII.ampersand {
        offset = appendReference(html, at: offset, into: &buffer)
      } else {
        buffer.append(html.byte(offset))
        offset += 1
      }
    }
    buffer.append(">")
  }

  private static func beginsTag(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || byte == ASCII.slash || byte == 0x21 || byte == ASCII.question
  }

  private static func isInline(_ html: RawSpan, _ name: Range<Int>) -> Bool {
    for inline in inlineNames where html.equals(inline, in: name) { return true }
    return false
  }

  /// Where `</name` stands; the end when it does not.
  private static func endOfRawText(_ html: RawSpan, from start: Int, name: Range<Int>) -> Int {
    var offset = start
    while let mark = html.firstOffset(of: "</", in: offset..<html.byteCount) {
      let candidate = mark + 2..<min(mark + 2 + name.count, html.byteCount)
      if html.equals("script", in: candidate) && name.count == 6 { return mark }
      if html.equals("style", in: candidate) && name.count == 5 { return mark }
      offset = mark + 2
    }
    return html.byteCount
  }

  /// Appends the character of the reference at `offset`, or an ampersand; where to go on.
  private static func appendReference(_ html: RawSpan, at offset: Int, into buffer: inout ByteBuffer) -> Int {
    let bound = min(html.byteCount, offset + 12)
    var end = offset + 1
    if end < bound, html.byte(end) == 0x23 {
      end += 1
      let isHex = end < bound && html.byte(end) | 0x20 == 0x78
      if isHex { end += 1 }
      let digits = end
      var value: UInt32 = 0
      while end < bound, let digit = ASCII.hexValue(html.byte(end)), isHex || digit < 10, value < 0x110000 {
        value = value * (isHex ? 16 : 10) + UInt32(digit)
        end += 1
      }
      if end > digits {
        buffer.append(scalar: value == 0 ? 0xFFFD : value)
        return end < html.byteCount && html.byte(end) == ASCII.semicolon ? end + 1 : end
      }
    } else {
      while end < bound, ASCII.isLetter(html.byte(end)) || ASCII.isDigit(html.byte(end)) { end += 1 }
      if end < bound, html.byte(end) == ASCII.semicolon,
        let value = references[html.string(offset + 1..<end)]
      {
        buffer.append(scalar: value)
        return end + 1
      }
    }
    buffer.append(ASCII.ampersand)
    return offset + 1
  }

  /// Elements within a word's line (HTML Living Standard, phrasing content).
  private static let inlineNames: [StaticString] = [
    "b", "i", "a", "u", "s", "em", "span", "font", "strong", "small", "big", "sub", "sup", "tt", "code",
    "wbr", "mark", "abbr", "o",
  ]

  /// Latin-1 and the typographic ones; mailers write the rest as numbers or plainly.
  private static let references: [String: UInt32] = {
    var table: [String: UInt32] = [
      "quot": 0x22, "amp": 0x26, "lt": 0x3C, "gt": 0x3E, "apos": 0x27, "euro": 0x20AC, "ndash": 0x2013,
      "mdash": 0x2014, "lsquo": 0x2018, "rsquo": 0x2019, "sbquo": 0x201A, "ldquo": 0x201C, "rdquo": 0x201D,
      "bdquo": 0x201E, "hellip": 0x2026, "bull": 0x2022, "trade": 0x2122, "zwnj": 0x200C, "zwj": 0x200D,
      "OElig": 0x152, "oelig": 0x153, "Scaron": 0x160, "scaron": 0x161, "Yuml": 0x178, "ensp": 0x2002,
      "emsp": 0x2003, "thinsp": 0x2009,
    ]
    let latin1 = """
      nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 \
      acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde \
      Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute \
      Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde \
      auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute \
      ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml
      """
    for (index, name) in latin1.split(separator: " ").enumerated() {
      table[String(name)] = 0xA0 + UInt32(index)
    }
    return table
  }()
}

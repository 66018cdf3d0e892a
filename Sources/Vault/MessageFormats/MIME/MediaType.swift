// SPDX-License-Identifier: Apache-2.0
//
// The value of a `Content-Type:` header (RFC 2045 section 5.1), as ranges into the bytes that hold it.

struct MediaType {
  var type: Range<Int>
  var subtype: Range<Int>
  var charset: Range<Int>
  var boundary: Range<Int>
  /// Whether there is a parameter `name`, or a piece of it.
  var hasName = false

  /// Reads what is there; missing pieces are empty ranges.
  init(_ bytes: RawSpan, _ value: Range<Int>) {
    let value = bytes.trimmed(
      value.lowerBound..<min(value.upperBound, value.lowerBound + Self.byteCountLimit))
    let typeEnd = bytes.firstOffset(of: ASCII.semicolon, in: value) ?? value.upperBound
    let slash = bytes.firstOffset(of: ASCII.slash, in: value.lowerBound..<typeEnd) ?? typeEnd
    type = bytes.trimmed(value.lowerBound..<slash)
    subtype = bytes.trimmed(min(slash + 1, typeEnd)..<typeEnd)
    charset = value.upperBound..<value.upperBound
    boundary = charset
    var offset = typeEnd
    while offset < value.upperBound {
      // At a semicolon.
      offset += 1
      guard let equals = bytes.firstOffset(of: ASCII.equals, in: offset..<value.upperBound) else { return }
      // A parameter without a value in between would otherwise be taken into the name.
      let lastSemicolon = Self.lastOffset(of: ASCII.semicolon, bytes, offset..<equals)
      let name = bytes.trimmed((lastSemicolon.map { $0 + 1 } ?? offset)..<equals)
      var start = equals + 1
      while start < value.upperBound, ASCII.isWhitespace(bytes.byte(start)) { start += 1 }
      let parameter: Range<Int>
      if start < value.upperBound, bytes.byte(start) == ASCII.quote {
        let close = bytes.firstOffset(of: ASCII.quote, in: start + 1..<value.upperBound) ?? value.upperBound
        parameter = start + 1..<close
        offset = bytes.firstOffset(of: ASCII.semicolon, in: close..<value.upperBound) ?? value.upperBound
      } else {
        offset = bytes.firstOffset(of: ASCII.semicolon, in: start..<value.upperBound) ?? value.upperBound
        parameter = bytes.trimmed(start..<offset)
      }
      if charset.isEmpty, bytes.equals("charset", in: name) { charset = parameter }
      if boundary.isEmpty, bytes.equals("boundary", in: name) { boundary = parameter }
      if bytes.matches("name", at: name.lowerBound, ignoringCase: true) { hasName = true }
    }
  }

  private static func lastOffset(of byte: UInt8, _ bytes: RawSpan, _ range: Range<Int>) -> Int? {
    for offset in range.reversed() where bytes.byte(offset) == byte { return offset }
    return nil
  }

  /// Longer than any real one; keeps odd headers cheap.
  private static let byteCountLimit = 4 << 10
}

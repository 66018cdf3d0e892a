// SPDX-License-Identifier: Apache-2.0
//
// Header values for people: unfolded (RFC 5322 section 2.2.3), encoded words decoded (RFC 2047).
// Neighbouring words of one charset are joined before conversion, since mailers split characters.

internal import Texts

/// The decoder with its working memory.
struct EncodedWords: ~Copyable, Sendable {
  /// Bytes of the words that are waiting for conversion.
  private var pending = ByteBuffer(capacity: 1 << 10)
  private var converters = CharsetConverters()

  init() {}

  /// Appends the value in `range` of `bytes` as UTF-8 on one line.
  mutating func decode(_ bytes: RawSpan, _ range: Range<Int>, into buffer: inout ByteBuffer) {
    let trimmed = bytes.trimmed(range)
    let end = min(trimmed.upperBound, trimmed.lowerBound + MessageLimits.headerFieldByteCount)
    var offset = trimmed.lowerBound
    var charset: Range<Int>? = nil
    pending.removeAll()
    while offset < end {
      guard let mark = bytes.firstOffset(of: "=?", in: offset..<end) else { break }
      guard let word = Word(bytes, at: mark, until: end) else {
        flush(bytes, &charset, into: &buffer)
        appendPlain(bytes, offset..<mark + 2, into: &buffer)
        offset = mark + 2
        continue
      }
      let gap = offset..<mark
      // White space between two encoded words is not shown (RFC 2047 section 6.2).
      if charset == nil || !bytes.trimmed(gap).isEmpty {
        flush(bytes, &charset, into: &buffer)
        appendPlain(bytes, gap, into: &buffer)
      }
      if let before = charset, !isSame(bytes, before, word.charset) { flush(bytes, &charset, into: &buffer) }
      charset = word.charset
      bytes.slice(word.text) { text in
        if word.isBase64 {
          Base64.decode(text, into: &pending)
        } else {
          QuotedPrintable.decodeWord(text, into: &pending)
        }
      }
      offset = word.end
    }
    flush(bytes, &charset, into: &buffer)
    appendPlain(bytes, min(offset, end)..<end, into: &buffer)
  }

  private mutating func flush(_ bytes: RawSpan, _ charset: inout Range<Int>?, into buffer: inout ByteBuffer) {
    guard let name = charset else { return }
    charset = nil
    let start = buffer.count
    pending.withBytes { text in
      converters.convert(
        text, charset: bytes.extracting(name), into: &buffer, limit: MessageLimits.headerFieldByteCount)
    }
    pending.removeAll()
    // A decoded line break must not make two lines of one.
    for offset in start..<buffer.count where buffer[offset] < ASCII.space { buffer[offset] = ASCII.space }
  }

  /// Appends text that is not encoded: without line breaks, repaired where it is not UTF-8.
  private func appendPlain(_ bytes: RawSpan, _ range: Range<Int>, into buffer: inout ByteBuffer) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      var end = offset
      while end < range.upperBound, bytes.byte(end) >= ASCII.space { end += 1 }
      if end > offset { CharsetConverters.appendRepaired(bytes.extracting(offset..<end), into: &buffer) }
      if end < range.upperBound {
        let byte = bytes.byte(end)
        if byte != ASCII.newline && byte != ASCII.carriageReturn { buffer.append(ASCII.space) }
      }
      offset = end + 1
    }
  }

  private func isSame(_ bytes: RawSpan, _ left: Range<Int>, _ right: Range<Int>) -> Bool {
    guard left.count == right.count else { return false }
    for (one, other) in zip(left, right)
    where ASCII.lowercased(bytes.byte(one)) != ASCII.lowercased(bytes.byte(other)) { return false }
    return true
  }

  /// `=?charset?B?text?=`, perhaps with a language after an asterisk (RFC 2231 section 5).
  private struct Word {
    let charset: Range<Int>
    let isBase64: Bool
    let text: Range<Int>
    let end: Int

    init?(_ bytes: RawSpan, at start: Int, until end: Int) {
      let bound = min(end, start + Self.byteCountLimit)
      guard let first = bytes.firstOffset(of: ASCII.question, in: start + 2..<bound),
        first + 2 < bound, bytes.byte(first + 2) == ASCII.question,
        let close = bytes.firstOffset(of: "?=", in: first + 3..<bound)
      else { return nil }
      switch ASCII.lowercased(bytes.byte(first + 1)) {
      case 0x62: isBase64 = true
      case 0x71: isBase64 = false
      default: return nil
      }
      for offset in start + 2..<first where ASCII.isWhitespace(bytes.byte(offset)) { return nil }
      let language = bytes.firstOffset(of: 0x2A, in: start + 2..<first)
      charset = start + 2..<(language ?? first)
      text = first + 3..<close
      self.end = close + 2
    }

    /// RFC 2047 allows 75; mailers exceed it, and a bound keeps the search for the end short.
    private static let byteCountLimit = 2048
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Search over one decrypted message at a time. Arguments and texts are folded and split alike and then
// compared byte by byte; long texts go through in pieces, so that the working memory stays small.

/// Words that must all occur in a message, in any order, whatever their case, accents and Unicode form.
///
/// A word is found anywhere, also inside of another; the words of one argument next to each other. Reuse one
/// query for all messages: its buffers are.
public struct SearchQuery: ~Copyable, Sendable {
  private var words: ByteBuffer
  private let ranges: [Range<Int>]
  private var folder = TextFolder(capacity: Self.chunkByteCount * 2)
  private var splitter = WordSplitter(capacity: Self.chunkByteCount * 2)
  private var reader: MIMEReader? = MIMEReader()
  private let longestWord: Int
  /// One bit for each argument that is still to be found.
  private var missing: UInt64 = 0

  /// Arguments without a word in them are left out, and so is what exceeds 64 arguments. Without any word,
  /// nothing matches.
  public init(words: [String]) {
    var folded = TextFolder(capacity: 4 << 10)
    var split = WordSplitter(capacity: 4 << 10)
    var found = ByteBuffer(capacity: 4 << 10)
    var ranges: [Range<Int>] = []
    for word in words {
      folded.removeAll()
      split.removeAll()
      unsafe folded.append(word.utf8Span.span.bytes)
      folded.output.withBytes { split.append($0) }
      let start = found.count
      split.output.withBytes { bytes in found.append(bytes.extracting(bytes.trimmed(bytes.whole))) }
      let range = start..<found.count
      if !range.isEmpty && ranges.count < MessageLimits.searchPartCount { ranges.append(range) }
    }
    self.words = found
    self.ranges = ranges
    longestWord = ranges.map(\.count).max() ?? 0
  }

  /// Whether every word occurs in the title, the tags or the text.
  ///
  /// The text of a mail is its subject, sender, recipients and text parts; that of `text/…` is the content, and
  /// so is any other content that is text, whatever its type says.
  public mutating func matches(_ metadata: MessageMetadata, _ content: RawSpan) -> Bool {
    if ranges.isEmpty { return false }
    missing = UInt64.max >> UInt64(64 - ranges.count)
    splitter.removeAll()
    unsafe take(metadata.title.utf8Span.span.bytes)
    for tag in metadata.tags { unsafe take(tag.utf8Span.span.bytes) }
    if metadata.isMail {
      var reader = exchange(&self.reader, with: nil) ?? MIMEReader()
      reader.read(content) { _, text in
        take(text)
        return missing != 0
      }
      self.reader = consume reader
    } else if metadata.isText {
      var reader = exchange(&self.reader, with: nil) ?? MIMEReader()
      reader.readText(content, contentType: metadata.contentType) { take($0) }
      self.reader = consume reader
    } else if MessageMetadata.isText(content) {
      take(content)
    }
    look()
    return missing == 0
  }

  /// Folds and splits a text, and looks for the words whenever a piece is full.
  private mutating func take(_ text: RawSpan) {
    var offset = 0
    while text.byteCount - offset > Self.chunkByteCount {
      if missing == 0 { return }
      var end = offset + Self.chunkByteCount
      // Before an ASCII character nothing combines.
      while end > offset + Self.chunkByteCount / 2, text.byte(end) >= 0x80 { end -= 1 }
      if end == offset + Self.chunkByteCount / 2 {
        end = Self.characterStart(text, offset + Self.chunkByteCount)
      }
      split(text.extracting(offset..<end))
      offset = end
      look()
      splitter.keepLast(longestWord - 1)
    }
    split(text.extracting(offset..<text.byteCount))
    splitter.endText()
    if splitter.output.count >= Self.chunkByteCount {
      look()
      splitter.removeAll()
    }
  }

  private mutating func split(_ piece: RawSpan) {
    folder.removeAll()
    folder.append(piece)
    folder.output.withBytes { splitter.append($0) }
  }

  private static func characterStart(_ text: RawSpan, _ offset: Int) -> Int {
    var start = offset
    while start > offset - 3, text.byte(start) & 0xC0 == 0x80 { start -= 1 }
    return start
  }

  /// Crosses out the arguments that occur in what has been split.
  private mutating func look() {
    let end = splitter.output.count
    for (index, range) in ranges.enumerated() where missing & 1 << UInt64(index) != 0 {
      let isThere = splitter.output.withBytes { text in
        words.withBytes(in: range) { text.firstOffset(of: $0, in: 0..<end) != nil }
      }
      if isThere { missing &= ~(1 << UInt64(index)) }
    }
  }

  /// One piece of a long text: stays in the processor's cache.
  private static let chunkByteCount = 64 << 10
}

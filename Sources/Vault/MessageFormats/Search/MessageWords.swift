// SPDX-License-Identifier: Apache-2.0
//
// The words of a message by analyser 1, for an index: the texts, the folding and the splitting of ``SearchQuery``.

/// Hands out the words of messages, one message after the other.
package struct MessageWords: ~Copyable, Sendable {
  /// The number of the analyser (Specs/search.md).
  package static let analyser = 1

  private var texts = MessageTexts()
  private var analyser: PieceAnalyser? = PieceAnalyser()

  package init() {}

  /// Hands out the words of every text of a message: pieces of folded words with one space between two, and perhaps one
  /// at the end. No word is in two pieces. A subject that is the title is left out.
  ///
  /// - Parameters:
  ///   - metadata: of the message.
  ///   - content: of the message.
  ///   - begin: takes each text before its words.
  ///   - words: takes a piece; answers whether it wants more.
  /// - Returns: whether all words were handed out. A word of more than 256 KiB ends the reading.
  package mutating func read(
    _ metadata: MessageMetadata, _ content: RawSpan, begin: (MessageTexts.Kind, RawSpan) -> Void,
    words: (MessageTexts.Kind, RawSpan) -> Bool
  ) -> Bool {
    var isWhole = true
    var analyser = exchange(&self.analyser, with: nil) ?? PieceAnalyser()
    texts.read(metadata, content) { kind, text in
      begin(kind, text)
      if kind == .subject, unsafe text.isSame(as: metadata.title.utf8Span.span.bytes) { return true }
      isWhole = analyser.read(text) { words(kind, $0) }
      return isWhole
    }
    self.analyser = consume analyser
    return isWhole
  }
}

/// Folds and splits one text.
private struct PieceAnalyser: ~Copyable, Sendable {
  private var folder = TextFolder(capacity: 2 * MessageTexts.pieceByteCount)
  private var splitter = WordSplitter(capacity: 2 * MessageTexts.pieceByteCount)

  mutating func read(_ text: RawSpan, _ words: (RawSpan) -> Bool) -> Bool {
    splitter.removeAll()
    var offset = 0
    while offset < text.byteCount {
      let end = MessageTexts.pieceEnd(text, from: offset)
      folder.removeAll()
      folder.append(text.extracting(offset..<end))
      folder.output.withBytes { splitter.append($0) }
      offset = end
      let count = splitter.output.count
      var whole = count
      if offset < text.byteCount {
        // The last word may go on.
        splitter.output.withBytes { output in
          while whole > 0, output.byte(whole - 1) != ASCII.space { whole -= 1 }
        }
        if count - whole > Self.wordByteCountLimit { return false }
      }
      let goesOn = splitter.output.withBytes { words($0.extracting(first: whole)) }
      guard goesOn else { return false }
      splitter.keepLast(count - whole)
    }
    return true
  }

  /// Longer than any word that a text is written in.
  private static let wordByteCountLimit = 256 << 10
}

extension RawSpan {
  /// Whether these are the bytes of another text.
  func isSame(as other: RawSpan) -> Bool {
    byteCount == other.byteCount && (byteCount == 0 || firstOffset(of: other, in: whole) == 0)
  }
}

extension MessageMetadata {
  /// What `tag:` compares: the words of a tag with one space between; empty if it has none.
  package static func searchedTag(_ tag: String) -> String {
    SearchPhrase.analysed(tag).joined(separator: " ")
  }
}

extension SearchPhrase {
  /// Where the characters of a word of a dense run end, each with its marks; empty for another word.
  /// - Parameter word: folded.
  package static func denseEnds(_ word: RawSpan, into ends: inout [Int]) {
    ends.removeAll(keepingCapacity: true)
    guard word.byteCount > 2, word.byte(0) >= 0xE0, wordClass(word, at: 0) == .dense else { return }
    var offset = 0
    while offset < word.byteCount {
      let length = max(1, word.utf8Length(at: offset, until: word.byteCount))
      if offset > 0, wordClass(word, at: offset) != .mark { ends.append(offset) }
      offset += length
    }
    ends.append(word.byteCount)
  }

  private static func wordClass(_ text: RawSpan, at offset: Int) -> WordClass {
    var end = offset
    return WordClass(of: WordSplitter.codePoint(text, &end))
  }
}

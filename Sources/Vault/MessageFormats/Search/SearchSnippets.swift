// SPDX-License-Identifier: Apache-2.0
//
// The place in a message that a search has found, for people. A text is folded in windows first, to find the one with
// the most parts of the search; only that window is folded character by character, to know which of them match.

/// A line of a text around what was found in it.
public struct SearchSnippet: Sendable, Equatable {
  /// A part of the line.
  public struct Piece: Sendable, Equatable {
    /// As it is in the message, with one space for white space; not made safe for a terminal.
    public var text: String
    /// Whether it is what was looked for.
    public let isMatch: Bool
  }

  /// The line.
  public let pieces: [Piece]

  /// The line without marks.
  public var text: String { pieces.map(\.text).joined() }
}

/// Finds snippets in message after message.
public struct SearchSnippetFinder: ~Copyable, Sendable {
  private let wanted: [(field: SearchExpression.Field, needle: [UInt8])]
  private let sideCount: Int
  private var folder = TextFolder(capacity: 4 * Self.windowByteCount)
  private var splitter = WordSplitter(capacity: 4 * Self.windowByteCount)
  private var reader: MIMEReader? = MIMEReader()
  private var best: Found?

  /// - Parameters:
  ///   - expression: what is looked for; excluded parts, tags and titles have no snippets.
  ///   - sideCount: at most so many characters before and after the first match.
  public init(_ expression: SearchExpression, sideCount: Int = 60) {
    wanted = expression.parts.compactMap { part in
      guard part.role != .excluded, case .phrase(let phrase, let field) = part.condition, field != .title
      else {
        return nil
      }
      return (field, Array(phrase.needle.utf8))
    }
    self.sideCount = sideCount
  }

  /// The first of the places in the texts of a message with the most parts of the search; nil if they are in its title
  /// and tags alone.
  public mutating func snippet(_ metadata: MessageMetadata, _ content: RawSpan) -> SearchSnippet? {
    best = nil
    guard !wanted.isEmpty else { return nil }
    var reader = exchange(&self.reader, with: nil) ?? MIMEReader()
    if metadata.isMail {
      reader.read(content) { item, text in
        switch item {
        case .from: look(text, .sender)
        case .to, .cc: look(text, .recipients)
        case .subject:
          if unsafe !text.isSame(as: metadata.title.utf8Span.span.bytes) { look(text, .anywhere) }
        case .text, .attachment: look(text, .anywhere)
        case .unknownCharset: break
        }
        return best?.partCount != wanted.count
      }
    } else if metadata.isText {
      reader.readText(content, contentType: metadata.contentType) { look($0, .anywhere) }
    } else if MessageMetadata.isText(content) {
      look(content, .anywhere)
    }
    self.reader = consume reader
    return best?.snippet
  }

  private struct Found {
    let partCount: Int
    let snippet: SearchSnippet
  }

  // MARK: Windows

  /// Keeps the best place of a text if it is better than those before.
  private mutating func look(_ text: RawSpan, _ field: SearchExpression.Field) {
    var window: Range<Int>?
    var most = best?.partCount ?? 0
    var offset = 0
    while offset < text.byteCount, most < wanted.count {
      let end = Self.wordEnd(text, before: offset + Self.windowByteCount)
      let count = partCount(text.extracting(offset..<end), field)
      if count > most { (window, most) = (offset..<end, count) }
      offset = end == text.byteCount ? end : Self.wordEnd(text, before: offset + Self.windowByteCount / 2)
    }
    guard let window else { return }
    let start = Self.wordEnd(text, before: window.lowerBound - Self.marginByteCount)
    let end = Self.wordEnd(text, before: window.upperBound + Self.marginByteCount)
    if let found = place(in: text.string(start..<end), field) { best = found }
  }

  /// Where a piece of a text may end: after white space, if there is some, or between two characters.
  private static func wordEnd(_ text: RawSpan, before end: Int) -> Int {
    guard end > 0 else { return 0 }
    guard end < text.byteCount else { return text.byteCount }
    for offset in (max(0, end - 256)..<end).reversed() where ASCII.isWhitespace(text.byte(offset)) {
      return offset + 1
    }
    var start = end
    while start > end - 3, text.byte(start) & 0xC0 == 0x80 { start -= 1 }
    return start
  }

  /// How many parts of the search are in a window.
  private mutating func partCount(_ window: RawSpan, _ field: SearchExpression.Field) -> Int {
    splitter.removeAll()
    splitter.endText()
    append(window)
    splitter.endText()
    return splitter.output.withBytes { words in
      wanted.count { part in
        guard part.field == .anywhere || part.field == field else { return false }
        return unsafe words.firstOffset(of: part.needle.span.bytes, in: words.whole) != nil
      }
    }
  }

  private mutating func append(_ text: RawSpan) {
    folder.removeAll()
    folder.append(text)
    folder.output.withBytes { splitter.append($0) }
  }

  // MARK: The place

  /// The best place in a piece of a text.
  private mutating func place(in text: String, _ field: SearchExpression.Field) -> Found? {
    let characters = Array(text)
    splitter.removeAll()
    splitter.endText()
    // Where the words of each character end in the output.
    var ends: [Int] = []
    for character in characters {
      unsafe append(String(character).utf8Span.span.bytes)
      ends.append(splitter.output.count)
    }
    splitter.endText()
    let hits = hits(field, ends)
    guard let (first, partCount) = Self.densest(hits, within: sideCount) else { return nil }
    let shown = shownRange(characters, around: hits[first].range)
    var isMatch = Array(repeating: false, count: characters.count)
    for hit in hits { for index in hit.range { isMatch[index] = true } }
    return Found(partCount: partCount, snippet: Self.line(characters, isMatch, shown))
  }

  private struct Hit {
    let part: Int
    /// Characters of the text.
    let range: Range<Int>
  }

  /// All matches, by their beginnings.
  private func hits(_ field: SearchExpression.Field, _ ends: [Int]) -> [Hit] {
    var hits: [Hit] = []
    for (part, (wantedField, needle)) in wanted.enumerated()
    where wantedField == .anywhere || wantedField == field {
      let leading = needle.first == ASCII.space ? 1 : 0
      let trailing = needle.last == ASCII.space ? 1 : 0
      var offset = 0
      while let start = splitter.output.withBytes({ words in
        unsafe words.firstOffset(of: needle.span.bytes, in: offset..<words.byteCount)
      }) {
        offset = start + 1
        let first = ends.partitionIndex { $0 > start + leading }
        let last = ends.partitionIndex { $0 >= start + needle.count - trailing }
        if first <= last, last < ends.count { hits.append(Hit(part: part, range: first..<last + 1)) }
      }
    }
    return hits.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }

  /// The first hit that has the most different parts within `count` characters after it, and how many.
  private static func densest(_ hits: [Hit], within count: Int) -> (Int, partCount: Int)? {
    var best: (Int, partCount: Int)?
    for (index, hit) in hits.enumerated() {
      let near = hits[index...].prefix { $0.range.lowerBound <= hit.range.lowerBound + count }
      let partCount = Set(near.map(\.part)).count
      if partCount > best?.partCount ?? 0 { best = (index, partCount) }
    }
    return best
  }

  /// What is shown: to the nearest words within a few characters.
  private func shownRange(_ characters: [Character], around match: Range<Int>) -> Range<Int> {
    var start = max(0, match.lowerBound - sideCount)
    var end = min(characters.count, match.upperBound + sideCount)
    if start > 0, !characters[start - 1].isWhitespace,
      let space = characters[start..<match.lowerBound].prefix(12).firstIndex(where: \.isWhitespace)
    {
      start = space + 1
    }
    if end < characters.count, !characters[end].isWhitespace,
      let space = characters[match.upperBound..<end].suffix(12).lastIndex(where: \.isWhitespace)
    {
      end = space
    }
    return start..<end
  }

  /// The pieces of a line, with dots where the text goes on.
  private static func line(_ characters: [Character], _ isMatch: [Bool], _ shown: Range<Int>) -> SearchSnippet
  {
    var pieces: [SearchSnippet.Piece] = []
    func add(_ text: String, isMatch: Bool) {
      if pieces.last?.isMatch == isMatch {
        pieces[pieces.count - 1].text += text
      } else {
        pieces.append(SearchSnippet.Piece(text: text, isMatch: isMatch))
      }
    }
    if shown.lowerBound > 0 { add("...", isMatch: false) }
    var space: Int?
    for index in shown {
      if characters[index].isWhitespace {
        space = space ?? index
        continue
      }
      if let space, space > shown.lowerBound { add(" ", isMatch: isMatch[space]) }
      space = nil
      add(String(characters[index]), isMatch: isMatch[index])
    }
    if shown.upperBound < characters.count { add("...", isMatch: false) }
    return SearchSnippet(pieces: pieces)
  }

  /// A window is folded in some microseconds, and character by character in a millisecond.
  private static let windowByteCount = 4 << 10
  /// Has what is shown before and after a match at the end of a window.
  private static let marginByteCount = 512
}

// SPDX-License-Identifier: Apache-2.0
//
// Words next to each other (Specs/search.md, "Finding"), in two forms: as words, and as tokens, which is what an index
// by words holds. Scripts that are written without spaces have no words to look up; there each two neighbouring
// characters are a token.

/// One word or several, next to each other and in this order.
public struct SearchPhrase: Sendable, Equatable {
  /// The words by analyser 1; at least one. A run of dense characters is one.
  public let words: [String]
  /// Whether the first word must begin where a word of the text begins. Without meaning for dense characters: every
  /// one begins and ends a word.
  public let beginsWord: Bool
  /// Whether the last word must end where a word of the text ends; as ``beginsWord``.
  public let endsWord: Bool

  /// Nil without a word. Marks at the beginning are left out: there is no character that they belong to.
  /// - Parameter text: not yet folded.
  init?(_ text: String, beginsWord: Bool = false, endsWord: Bool = false) {
    var words = Self.analysed(text)[...]
    while let first = words.popFirst() {
      let rest = first.unicodeScalars.drop { WordClass(of: $0.value) == .mark }
      guard !rest.isEmpty else { continue }
      words.insert(String(rest), at: words.startIndex)
      break
    }
    if words.isEmpty { return nil }
    self.words = Array(words)
    (self.beginsWord, self.endsWord) = (beginsWord, endsWord)
  }

  /// The words of a text.
  static func analysed(_ text: String) -> [String] {
    var folder = TextFolder(capacity: 256)
    var splitter = WordSplitter(capacity: 256)
    unsafe folder.append(text.utf8Span.span.bytes)
    folder.output.withBytes { splitter.append($0) }
    // By code points: a mark after the space would be one character with it.
    return splitter.output.withBytes { $0.string($0.whole) }.unicodeScalars.split(separator: " ")
      .map { String($0) }
  }

  /// What to look for in folded text whose words have one space between them, and one before the first and after the
  /// last.
  var needle: String {
    let start = beginsWord && !Self.isDense(words[0]) ? " " : ""
    let end = endsWord && !Self.isDense(words[words.count - 1]) ? " " : ""
    return start + words.joined(separator: " ") + end
  }

  // MARK: Tokens

  /// What an index has at one position: a word; two neighbouring dense characters, each with its marks; or the last
  /// character of a dense run.
  public struct Token: Sendable, Equatable {
    /// How much of a token of the index ``text`` is.
    public enum Extent: Sendable { case whole, beginning, ending, inside }

    /// Folded.
    public let text: String
    /// How much it is.
    public let extent: Extent
    /// How many positions after the first of the phrase.
    public let position: Int
  }

  /// The phrase as tokens. They occur at these positions exactly where ``words`` do.
  public var tokens: [Token] {
    var tokens: [Token] = []
    var position = 0
    for (index, word) in words.enumerated() {
      let isLast = index == words.count - 1
      guard Self.isDense(word) else {
        let isOpen = (start: index == 0 && !beginsWord, end: isLast && !endsWord)
        let extent: Token.Extent =
          isOpen.start ? (isOpen.end ? .inside : .ending) : isOpen.end ? .beginning : .whole
        tokens.append(Token(text: word, extent: extent, position: position))
        position += 1
        continue
      }
      let characters = Self.characters(word)
      for (first, second) in zip(characters, characters.dropFirst()) {
        tokens.append(Token(text: first + second, extent: .whole, position: position))
        position += 1
      }
      if !isLast {
        tokens.append(Token(text: characters[characters.count - 1], extent: .whole, position: position))
        position += 1
      } else if characters.count > 1, let pair = tokens.popLast() {
        // More marks may follow the last character.
        tokens.append(Token(text: pair.text, extent: .beginning, position: pair.position))
      } else {
        tokens.append(Token(text: word, extent: .beginning, position: position))
      }
    }
    return tokens
  }

  /// A word has characters of one kind only.
  private static func isDense(_ word: String) -> Bool {
    word.unicodeScalars.first.map { WordClass(of: $0.value) == .dense } ?? false
  }

  /// The characters of a dense word with their marks.
  private static func characters(_ word: String) -> [String] {
    var characters: [String.UnicodeScalarView] = []
    for scalar in word.unicodeScalars {
      if WordClass(of: scalar.value) == .mark, !characters.isEmpty {
        characters[characters.count - 1].append(scalar)
      } else {
        characters.append(String.UnicodeScalarView([scalar]))
      }
    }
    return characters.map(String.init)
  }
}

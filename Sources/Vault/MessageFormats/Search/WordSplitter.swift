// SPDX-License-Identifier: Apache-2.0
//
// Splitting, the second half of analyser 1 (Specs/search.md). Folded text becomes its words with one space
// between them, so that looking for bytes is looking for words: whatever stood between two words in a text
// and in a query, here it is the same.

/// Appends the words of folded text to a reused buffer, piece by piece.
struct WordSplitter: ~Copyable, Sendable {
  private(set) var output: ByteBuffer
  /// What the output ends with; a separator at the beginning of a text.
  private var last = WordClass.separator
  /// Whether an apostrophe follows the last letter: before another letter it is left out.
  private var hasApostrophe = false

  init(capacity: Int) { output = ByteBuffer(capacity: capacity) }

  /// Forgets everything.
  mutating func removeAll() {
    output.removeAll()
    (last, hasApostrophe) = (.separator, false)
  }

  /// Forgets all but the last `byteCount` bytes; the next piece goes on where the last one ended.
  mutating func keepLast(_ byteCount: Int) {
    if output.count > byteCount { output.removeFirst(output.count - byteCount) }
  }

  /// Ends a text, so that no word and no words next to each other are found across two.
  mutating func endText() {
    output.append(ASCII.newline)
    (last, hasApostrophe) = (.separator, false)
  }

  /// Appends the words of `folded`, which is UTF-8 and ends between two characters.
  mutating func append(_ folded: RawSpan) {
    var offset = 0
    while offset < folded.byteCount {
      offset = appendASCII(folded, from: offset)
      if offset == folded.byteCount { return }
      let length = max(1, folded.utf8Length(at: offset, until: folded.byteCount))
      take(folded.extracting(offset..<offset + length))
      offset += length
    }
  }

  /// Appends ASCII words; where the first apostrophe or other character stands.
  private mutating func appendASCII(_ folded: RawSpan, from start: Int) -> Int {
    var offset = start
    guard let first = folded.byte(offset, in: folded.whole), first < 0x80, first != Self.apostrophe else {
      return offset
    }
    begin(Self.isWord(first) ? .letter : .separator)
    var isInWord = last == .letter
    unsafe output.appendFilling(atLeast: folded.byteCount - start) { free in
      // A buffer always has an address, and here room for the rest of the text.
      let target = unsafe free.baseAddress.unsafelyUnwrapped
      var filled = 0
      while offset < folded.byteCount {
        let byte = folded.byte(offset)
        if byte >= 0x80 || byte == Self.apostrophe { break }
        let isWord = Self.isWord(byte)
        unsafe target.storeBytes(of: isWord ? byte : ASCII.space, toByteOffset: filled, as: UInt8.self)
        // Of several separators the first is kept.
        filled += isWord || isInWord ? 1 : 0
        isInWord = isWord
        offset += 1
      }
      return filled
    }
    last = isInWord ? .letter : .separator
    return offset
  }

  /// Takes one apostrophe or character outside of ASCII.
  private mutating func take(_ character: RawSpan) {
    let point = Self.codePoint(character)
    if point == UInt32(Self.apostrophe) || point == 0x2019 {
      let joins = last == .letter && !hasApostrophe
      if !joins { begin(.separator) }
      hasApostrophe = joins
      return
    }
    let found = WordClass(of: point)
    let own: WordClass = found != .mark ? found : last == .dense ? .dense : .letter
    begin(own)
    if own != .separator { output.append(character) }
  }

  /// Writes the space, if there is one, between what was last and a character of the class `next`.
  private mutating func begin(_ next: WordClass) {
    let goesOn = next == last && next != .symbol && !(hasApostrophe && next != .letter)
    hasApostrophe = false
    if !goesOn, last != .separator { output.append(ASCII.space) }
    last = next
  }

  private static func codePoint(_ character: RawSpan) -> UInt32 {
    let first = UInt32(character.byte(0))
    if character.byteCount == 1 { return first }
    var point = first & (0x7F >> UInt32(character.byteCount))
    for offset in 1..<character.byteCount { point = point << 6 | UInt32(character.byte(offset) & 0x3F) }
    return point
  }

  private static let apostrophe: UInt8 = 0x27

  @inline(__always) private static func isWord(_ byte: UInt8) -> Bool {
    byte &- ASCII.zero < 10 || byte &- 0x61 < 26
  }
}

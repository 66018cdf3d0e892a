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

  /// Ends a text, so that no words next to each other are found across two. There is a space after the last word, and
  /// one before the first of the next text.
  mutating func endText() {
    output.append(ASCII.space)
    output.append(ASCII.newline)
    output.append(ASCII.space)
    (last, hasApostrophe) = (.separator, false)
  }

  /// Appends the words of `folded`, which is UTF-8 and ends between two characters.
  mutating func append(_ folded: RawSpan) {
    var offset = 0
    while offset < folded.byteCount {
      offset = appendASCII(folded, from: offset)
      if offset == folded.byteCount { return }
      offset = appendRun(folded, from: offset)
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
        if folded.byteCount - offset >= 8 {
          let bytes = unsafe folded.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
          if let words = Self.words(UInt64(littleEndian: bytes), isInWord: &isInWord) {
            unsafe target.storeBytes(of: words.littleEndian, toByteOffset: filled, as: UInt64.self)
            (filled, offset) = (filled + 8, offset + 8)
            continue
          }
        }
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

  /// Eight characters with spaces for separators; nil where they are not ASCII, have an apostrophe, or one
  /// separator after another.
  @inline(__always) private static func words(_ bytes: UInt64, isInWord: inout Bool) -> UInt64? {
    let top: UInt64 = 0x8080_8080_8080_8080
    let notApostrophe = (bytes ^ 0x2727_2727_2727_2727) &+ 0x7F7F_7F7F_7F7F_7F7F
    guard bytes & top == 0, notApostrophe & top == top else { return nil }
    // In each byte the top bit tells whether it is at least the first, and not above the last.
    let digits = (bytes &+ 0x5050_5050_5050_5050) & ~(bytes &+ 0x4646_4646_4646_4646)
    let letters = (bytes &+ 0x1F1F_1F1F_1F1F_1F1F) & ~(bytes &+ 0x0505_0505_0505_0505)
    let separators = ~(digits | letters) & top
    guard separators & (separators << 8 | (isInWord ? 0 : 0x80)) == 0 else { return nil }
    isInWord = separators >> 63 == 0
    let mask = (separators >> 7) &* 0xFF
    return bytes & ~mask | 0x2020_2020_2020_2020 & mask
  }

  /// Takes one apostrophe, or a character outside of ASCII with those of its class after it; where the next
  /// character is.
  private mutating func appendRun(_ folded: RawSpan, from start: Int) -> Int {
    var end = start
    let point = Self.codePoint(folded, &end)
    if point == UInt32(Self.apostrophe) || point == 0x2019 {
      let joins = last == .letter && !hasApostrophe
      if !joins { begin(.separator) }
      hasApostrophe = joins
      return end
    }
    let (found, alike) = WordClass.find(point)
    let own: WordClass = found != .mark ? found : last == .dense ? .dense : .letter
    begin(own)
    guard own != .separator else { return end }
    while own != .symbol, end < folded.byteCount, folded.byte(end) >= 0x80 {
      var next = end
      guard alike.contains(Self.codePoint(folded, &next)) else { break }
      end = next
    }
    output.append(folded.extracting(start..<end))
    return end
  }

  /// Writes the space, if there is one, between what was last and a character of the class `next`.
  private mutating func begin(_ next: WordClass) {
    let goesOn = next == last && next != .symbol && !(hasApostrophe && next != .letter)
    hasApostrophe = false
    if !goesOn, last != .separator { output.append(ASCII.space) }
    last = next
  }

  /// The character at `offset`, which moves behind it.
  @inline(__always) static func codePoint(_ text: RawSpan, _ offset: inout Int) -> UInt32 {
    let length = max(1, text.utf8Length(at: offset, until: text.byteCount))
    let first = UInt32(text.byte(offset))
    var point = length == 1 ? first : first & (0x7F >> UInt32(length))
    for next in offset + 1..<offset + length { point = point << 6 | UInt32(text.byte(next) & 0x3F) }
    offset += length
    return point
  }

  private static let apostrophe: UInt8 = 0x27

  @inline(__always) private static func isWord(_ byte: UInt8) -> Bool {
    byte &- ASCII.zero < 10 || byte &- 0x61 < 26
  }
}

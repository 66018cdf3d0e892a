// SPDX-License-Identifier: Apache-2.0

internal import CUtf8proc

/// Finds the words of a line, which any Unicode white space may separate.
struct WordCursor {
  /// A word's place, and its spelling if it can be one of BIP-39's.
  struct Word {
    var range: Range<Int>
    /// Up to eight letters in lower case, from the highest byte down, then spaces.
    var spelling: UInt64?
  }

  private var offset = 0

  /// The next word of `text`, which must be the same in every call.
  mutating func next(in text: RawSpan) -> Word? {
    while offset < text.byteCount, case let space = spaceByteCount(text, offset), space > 0 {
      offset += space
    }
    guard offset < text.byteCount else { return nil }
    let start = offset
    var spelling: UInt64? = 0
    while offset < text.byteCount && spaceByteCount(text, offset) == 0 {
      let letter = byte(text, offset) | 0x20
      let isLetter = UInt8(ascii: "a")...UInt8(ascii: "z") ~= letter
      let fits = offset - start < BIP39EnglishWords.longestWordByteCount
      spelling = isLetter && fits ? spelling.map { $0 << 8 | UInt64(letter) } : nil
      offset += 1
    }
    for _ in offset - start..<max(BIP39EnglishWords.longestWordByteCount, offset - start) {
      spelling = spelling.map { $0 << 8 | UInt64(UInt8(ascii: " ")) }
    }
    return Word(range: start..<offset, spelling: spelling)
  }

  /// How many bytes the white space at `offset` has; 0 when there is none.
  private func spaceByteCount(_ text: RawSpan, _ offset: Int) -> Int {
    let first = byte(text, offset)
    // Space, and tab to carriage return.
    if first < 0x80 { return first == 0x20 || 0x09...0x0D ~= first ? 1 : 0 }
    var scalar: Int32 = 0
    let length = unsafe text.extracting(offset..<text.byteCount).withUnsafeBytes { rest in
      unsafe utf8proc_iterate(rest.baseAddress?.assumingMemoryBound(to: UInt8.self), rest.count, &scalar)
    }
    guard length > 0 else { return 0 }
    switch utf8proc_category(scalar) {
    case UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZL, UTF8PROC_CATEGORY_ZP: return length
    default: return scalar == 0x85 ? length : 0
    }
  }

  private func byte(_ text: RawSpan, _ offset: Int) -> UInt8 {
    unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}

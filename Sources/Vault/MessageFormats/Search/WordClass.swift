// SPDX-License-Identifier: Apache-2.0

/// What a character is to the words of a text (Specs/search.md).
enum WordClass: UInt32 {
  /// It ends a word.
  case separator
  /// It is written in words: letters and digits.
  case letter
  /// It is written without spaces between words: Han, kana, Hangul, Thai and others.
  case dense
  /// It belongs to the character before it.
  case mark
  /// It is a word by itself, such as an emoji. What Unicode 15.0 does not assign is one too.
  case symbol

  /// The class of a code point, by ``AnalyserTables``.
  init(of point: UInt32) {
    // Most dense text is Han or Hangul, each in one range.
    if 0x4E00...0x9FFF ~= point || 0xAC00...0xD7A3 ~= point {
      self = .dense
      return
    }
    let classes = AnalyserTables.classes
    var (lower, upper) = (0, classes.count)
    while upper - lower > 1 {
      let middle = (lower + upper) / 2
      if classes[middle] >> 3 <= point { lower = middle } else { upper = middle }
    }
    self = WordClass(rawValue: classes[lower] & 7) ?? .separator
  }
}

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

  /// The class of a code point.
  init(of point: UInt32) { self = Self.find(point).0 }

  /// The class of a code point by ``AnalyserTables``, and code points around it that have the same.
  static func find(_ point: UInt32) -> (WordClass, Range<UInt32>) {
    // Most dense text is Han.
    if 0x4E00..<0xA000 ~= point { return (.dense, 0x4E00..<0xA000) }
    let classes = AnalyserTables.classes
    // The first class begins with the first code point.
    let upper = classes.indices.dropFirst().partitionIndex { classes[$0] >> 3 > point }
    let lower = upper - 1
    let end = upper < classes.count ? classes[upper] >> 3 : 0x110000
    return (WordClass(rawValue: classes[lower] & 7) ?? .separator, classes[lower] >> 3..<end)
  }
}

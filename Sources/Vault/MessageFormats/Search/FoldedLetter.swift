// SPDX-License-Identifier: Apache-2.0
//
// What folding leaves out and replaces beyond Unicode's own case folding (Specs/search.md).

/// The rules of analyser 1 for single characters.
enum FoldedLetter {
  /// Whether a character of a decomposed text is an accent or a vowel point. A sign stays what it is: the
  /// stroke through "=" makes another sign of it.
  static func isLeftOut(_ point: UInt32, after before: UInt32) -> Bool {
    switch point {
    case 0..<0x300: false
    case 0x338: !(0x3C...0x3E ~= before || WordClass(of: before) == .symbol)
    // Accents of Latin, Greek and Cyrillic letters.
    case 0x300...0x36F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
    // Points of Hebrew, without the signs and letters between them.
    case 0x591...0x5BD, 0x5BF, 0x5C1...0x5C2, 0x5C4...0x5C5, 0x5C7: true
    // Vowel signs of Arabic, hamza and madda above and below, and the stroke that lengthens a word.
    case 0x610...0x61A, 0x640, 0x64B...0x65F, 0x670: true
    case 0x6D6...0x6DC, 0x6DF...0x6E4, 0x6E7...0x6E8, 0x6EA...0x6ED: true
    default: false
    }
  }

  /// Appends a composed character; a letter with a stroke and a ligature as plain letters.
  static func append(_ point: UInt32, to output: inout ByteBuffer) {
    switch point {
    case 0x00E6: output.append("ae")
    case 0x00F8: output.append("o")
    case 0x00FE: output.append("th")
    case 0x0111: output.append("d")
    case 0x0127: output.append("h")
    case 0x0131: output.append("i")
    case 0x0142: output.append("l")
    case 0x0153: output.append("oe")
    case 0x0671: output.append(scalar: 0x0627)
    default: output.append(scalar: point)
    }
  }
}

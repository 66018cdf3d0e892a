// SPDX-License-Identifier: Apache-2.0
//
// Text that may come from anywhere (a title, a file's name, a variable of the environment), made fit for a
// terminal. Control characters and invisible characters are shown as U+FFFD: an escape sequence acts on the
// terminal, a direction mark makes a line read as another, and an invisible character makes two names look
// the same.

/// Makes text safe to show.
package enum TerminalText {
  /// One line: line ends and tabs do not fit either.
  /// - Parameter keepsFormat: whether format characters stay that are visible, or join what is beside them.
  package static func line(_ text: String, keepsFormat: Bool = true) -> String {
    replacing(text, keepsLines: false, keepsFormat: keepsFormat) { _ in "\u{FFFD}" }
  }

  /// Several lines; line feeds and tabs stay.
  package static func lines(_ text: String) -> String {
    replacing(text, keepsLines: true) { _ in "\u{FFFD}" }
  }

  /// Whether ``lines(_:)`` would change nothing.
  package static func isFit(_ text: String) -> Bool {
    var isFit = true
    _ = replacing(text, keepsLines: true) { _ in
      isFit = false
      return ""
    }
    return isFit
  }

  /// The text with `replacement` in the place of every character that does not fit.
  package static func replacing(
    _ text: String, keepsLines: Bool, keepsFormat: Bool = true, _ replacement: (Unicode.Scalar) -> String
  ) -> String {
    // Most of what is printed has no other characters than these.
    if text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 || keepsLines && ($0 == 0x0A || $0 == 0x09) }) { return text }
    var shown = String.UnicodeScalarView()
    var neighbours = Neighbours()
    var scalars = text.unicodeScalars.makeIterator()
    var next = scalars.next()
    while let scalar = next {
      next = scalars.next()
      let isFit =
        if scalar == "\n" || scalar == "\t" {
          keepsLines
        } else if !keepsFormat && scalar.properties.generalCategory == .format {
          false
        } else {
          neighbours.accept(scalar, before: next)
        }
      if isFit { shown.append(scalar) } else { shown.append(contentsOf: replacement(scalar).unicodeScalars) }
      neighbours.note(isFit ? scalar : nil)
    }
    return String(shown)
  }
}

/// The characters before another one: some that are invisible alone belong to their neighbours.
private struct Neighbours {
  /// The character before; nil where there is none, or it does not fit.
  private var last: Unicode.Scalar?
  /// The last one that is not a mark or joiner of another.
  private var base: Unicode.Scalar?

  mutating func note(_ scalar: Unicode.Scalar?) {
    last = scalar
    guard let scalar else { return base = nil }
    if !scalar.properties.isEmojiModifier, !scalar.properties.isDefaultIgnorableCodePoint { base = scalar }
  }

  func accept(_ scalar: Unicode.Scalar, before next: Unicode.Scalar?) -> Bool {
    switch scalar.value {
    case 0x20..<0x7F: return true
    case 0x200C, 0x200D: return joins(scalar, next)
    case 0xFE00...0xFE0F, 0xE0100...0xE01EF: return selects(scalar)
    default: break
    }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return false
    // Annotations, which hide the text that they annotate.
    case .format where 0xFFF9...0xFFFB ~= scalar.value: return false
    default: return !scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  /// Whether a joiner or non-joiner has an effect here: inside an emoji that is made of several, after a sign
  /// that ends a syllable in the scripts of India, between letters of scripts that are written joined.
  private func joins(_ joiner: Unicode.Scalar, _ next: Unicode.Scalar?) -> Bool {
    guard let last, let next, let base, last != "\u{200D}" else { return false }
    if joiner == "\u{200D}", Self.isPicture(base), Self.isPicture(next) { return true }
    return last.properties.canonicalCombiningClass == .virama || Self.isCursive(last) && Self.isCursive(next)
  }

  /// Whether a variation selector has a character whose look it can select.
  private func selects(_ selector: Unicode.Scalar) -> Bool {
    guard let last, last == base else { return false }
    // Text or picture; digits too, which are keys with a frame around them.
    if 0xFE0E...0xFE0F ~= selector.value { return last.properties.isEmoji }
    let category = last.properties.generalCategory
    return !last.isASCII && (last.properties.isAlphabetic || category == .mathSymbol)
  }

  private static func isPicture(_ scalar: Unicode.Scalar) -> Bool {
    !scalar.isASCII && scalar.properties.isEmoji
  }

  /// Arabic and what is written like it; Mongolian.
  private static func isCursive(_ scalar: Unicode.Scalar) -> Bool {
    0x0600...0x08FF ~= scalar.value || 0x1800...0x18AF ~= scalar.value
  }
}

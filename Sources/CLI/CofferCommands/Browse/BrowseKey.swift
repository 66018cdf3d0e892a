// SPDX-License-Identifier: Apache-2.0
//
// Keys out of the bytes that a terminal sends for them.

/// A key, as far as `coffer browse` knows it.
enum BrowseKey: Equatable {
  case up, down, pageUp, pageDown, home, end
  case enter, escape, backspace
  /// Control-C, Control-Z, Control-L, Control-U.
  case interrupt, suspend, redraw, clear
  case character(Character)
}

/// Puts the bytes of keys together.
struct BrowseKeyDecoder {
  private var bytes: [UInt8] = []

  /// Whether the bytes so far may be the Escape key alone, or the start of another one.
  var isAtEscape: Bool { bytes == [Self.escape] }

  /// Takes the next byte; nil as long as a key is not complete, or for one without a meaning.
  mutating func take(_ byte: UInt8) -> BrowseKey? {
    if bytes.isEmpty, let key = Self.single(byte) { return key }
    bytes.append(byte)
    if bytes[0] == Self.escape { return takeSequence() }
    return takeCharacter()
  }

  /// No byte has followed: an Escape was the key itself.
  mutating func flush() -> BrowseKey? {
    defer { bytes = [] }
    return isAtEscape ? .escape : nil
  }

  private static let escape: UInt8 = 0x1B

  private static func single(_ byte: UInt8) -> BrowseKey? {
    switch byte {
    case 0x0A, 0x0D: .enter
    case 0x08, 0x7F: .backspace
    case 0x03: .interrupt
    case 0x1A: .suspend
    case 0x0C: .redraw
    case 0x15: .clear
    case 0x0E: .down
    case 0x10: .up
    case 0x04, 0x06: .pageDown
    case 0x02: .pageUp
    case 0x20..<0x7F: .character(Character(UnicodeScalar(byte)))
    default: nil
    }
  }

  /// ESC [ or ESC O, numbers, and a letter or tilde that ends it.
  private mutating func takeSequence() -> BrowseKey? {
    guard bytes.count > 1 else { return nil }
    guard bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else {
      // Escape and a key at once: with Alt. It has no meaning.
      bytes = []
      return nil
    }
    guard bytes.count > 2 else { return nil }
    let last = bytes[bytes.count - 1]
    guard 0x40...0x7E ~= last || bytes.count > Self.longestSequence else { return nil }
    defer { bytes = [] }
    switch last {
    case UInt8(ascii: "A"): return .up
    case UInt8(ascii: "B"): return .down
    case UInt8(ascii: "H"): return .home
    case UInt8(ascii: "F"): return .end
    case UInt8(ascii: "~"):
      switch bytes[2] {
      case UInt8(ascii: "1"), UInt8(ascii: "7"): return .home
      case UInt8(ascii: "4"), UInt8(ascii: "8"): return .end
      case UInt8(ascii: "5"): return .pageUp
      case UInt8(ascii: "6"): return .pageDown
      default: return nil
      }
    default: return nil
    }
  }

  private static let longestSequence = 16

  /// UTF-8 of more than one byte.
  private mutating func takeCharacter() -> BrowseKey? {
    let count =
      switch bytes[0] {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 0
      }
    guard count > 0, bytes.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else {
      bytes = []
      return nil
    }
    guard bytes.count == count else { return nil }
    defer { bytes = [] }
    return String(validating: bytes, as: UTF8.self)?.first.map { .character($0) }
  }
}

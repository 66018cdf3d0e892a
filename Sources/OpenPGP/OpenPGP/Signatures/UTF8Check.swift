// SPDX-License-Identifier: Apache-2.0
//
// RFC 3629: whether octets that come piece by piece are UTF-8: no surrogates, nothing beyond U+10FFFF, and
// nothing longer than it need be.

/// Octets that should be UTF-8.
struct UTF8Check {
  /// Whether an octet has come that cannot be there.
  private(set) var hasFailed = false
  /// Octets that the character under way still lacks, and what the next of them may be.
  private var missing = 0
  private var allowed: ClosedRange<UInt8> = continuation

  private static let continuation: ClosedRange<UInt8> = 0x80...0xBF

  /// Whether all that has come is UTF-8, and ends with a character.
  var isComplete: Bool { !hasFailed && missing == 0 }

  /// Takes in the next octets.
  mutating func update(_ bytes: RawSpan) {
    var offset = 0
    while offset < bytes.byteCount && !hasFailed {
      if missing == 0 {
        offset = Self.endOfASCII(in: bytes, from: offset)
        if offset == bytes.byteCount { return }
      }
      take(unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
      offset += 1
    }
  }

  private mutating func take(_ octet: UInt8) {
    if missing > 0 {
      hasFailed = !allowed.contains(octet)
      missing -= 1
      allowed = Self.continuation
      return
    }
    switch octet {
    case 0x00...0x7F: return
    case 0xC2...0xDF: missing = 1
    case 0xE0: (missing, allowed) = (2, 0xA0...0xBF)
    case 0xED: (missing, allowed) = (2, 0x80...0x9F)
    case 0xE1...0xEF: missing = 2
    case 0xF0: (missing, allowed) = (3, 0x90...0xBF)
    case 0xF1...0xF3: missing = 3
    case 0xF4: (missing, allowed) = (3, 0x80...0x8F)
    default: hasFailed = true
    }
  }

  /// The first offset whose octet is not ASCII; eight octets at a time.
  private static func endOfASCII(in bytes: RawSpan, from start: Int) -> Int {
    var offset = start
    let highBits: UInt64 = 0x8080_8080_8080_8080
    while offset + 8 <= bytes.byteCount {
      let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
      if word & highBits != 0 { break }
      offset += 8
    }
    while offset < bytes.byteCount {
      let octet = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
      if octet >= 0x80 { break }
      offset += 1
    }
    return offset
  }
}

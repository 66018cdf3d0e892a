// SPDX-License-Identifier: Apache-2.0
//
// ECDSA signatures as 64 bytes, r ‖ s, with s in the lower half of the group's order: of (r, s) and (r, n - s), which are
// both valid, only one is accepted, so that nobody can change the bytes of a signed object.

internal import LibCrypto

/// An ECDSA signature over P-256 with s in the lower half of the group's order.
public struct LowSignature: Sendable {
  /// Bytes of a signature.
  public static let byteCount = 64

  private let r: [UInt8]
  private let s: [UInt8]

  /// The order of the group (SP 800-186, 3.2.1.3).
  private static let order: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
  ]

  /// Reads DER (RFC 3279, 2.2.3), and takes the lower of both values of s; nil for anything else.
  public init?(der: [UInt8]) {
    guard let (r, s) = ECDSASequence.numbers(der), (1...32).contains(r.count), (1...32).contains(s.count),
      // One form alone: nothing behind it, and no other spelling of the numbers.
      ECDSASequence.make(r: r, s: s) == der
    else { return nil }
    let padded = Self.padded(s)
    guard padded.lexicographicallyPrecedes(Self.order) else { return nil }
    self.r = Self.padded(r)
    let other = Self.orderLess(padded)
    self.s = other.lexicographicallyPrecedes(padded) ? other : padded
  }

  /// Reads r ‖ s; nil when s is in the upper half.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    r = Array(bytes[..<32])
    s = Array(bytes[32...])
    guard s.lexicographicallyPrecedes(Self.order), !Self.orderLess(s).lexicographicallyPrecedes(s) else {
      return nil
    }
  }

  /// r ‖ s.
  public var bytes: [UInt8] { r + s }

  /// As libcrypto and enclaves take it (RFC 3279, 2.2.3).
  public var der: [UInt8] { ECDSASequence.make(r: r, s: s) }

  private static func padded(_ number: [UInt8]) -> [UInt8] {
    [UInt8](repeating: 0, count: 32 - number.count) + number
  }

  private static func orderLess(_ value: [UInt8]) -> [UInt8] {
    var difference = [UInt8](repeating: 0, count: 32)
    var borrow = 0
    for index in (0..<32).reversed() {
      let digit = Int(order[index]) - Int(value[index]) - borrow
      borrow = digit < 0 ? 1 : 0
      difference[index] = UInt8(digit + 256 * borrow)
    }
    return difference
  }
}

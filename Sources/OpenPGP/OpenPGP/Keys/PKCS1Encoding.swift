// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 12.1.2 and 13.5: the block that RSA decrypts to. Anybody who can tell a block of the
// right form from one of a wrong form, by an answer or by its time, can decrypt with enough tries
// (Bleichenbacher 1998). So nothing here branches on the block or uses it as an index, up to the one answer
// at the end: every form that a session key can have is compared with the whole block, and the results are
// joined by masks.

internal import Secrets

/// A block `00 02 PS 00 M`, with a session key as M.
struct PKCS1Encoding: ~Copyable {
  /// All ones or all zeros.
  private typealias Mask = UInt32

  private let version: UInt8
  private var key = SecretBytes(zeroed: 32)
  private var keyByteCount: UInt32 = 0
  private var cipher: UInt32 = 0

  /// - Parameters:
  ///   - block: as many octets as the modulus.
  ///   - version: of the packet, 3 or 6.
  /// - Returns: nil in the same time, whatever is wrong.
  static func sessionKey(_ block: RawSpan, version: UInt8) -> SessionKey? {
    // Also the size of the public key, so no secret.
    guard block.byteCount >= leastByteCount else { return nil }
    var reading = PKCS1Encoding(version: version)
    let separator = Self.separator(block)
    for keyByteCount in SessionKeyPayload.keyByteCounts {
      reading.take(block, keyByteCount: keyByteCount, separator: separator)
    }
    return reading.finish()
  }

  private init(version: UInt8) { self.version = version }

  /// Two octets, at least eight of padding, the separator, and the longest session key.
  private static let leastByteCount = 3 + leastPaddingByteCount + 1 + 32 + SessionKeyPayload.checksumByteCount
  private static let leastPaddingByteCount = 8

  /// Where the first zero after the two octets is; zero when the block is of a wrong form.
  private static func separator(_ block: RawSpan) -> UInt32 {
    var found: Mask = 0
    var place: UInt32 = 0
    for offset in 2..<block.byteCount {
      let isZero = equal(octet(block, offset), 0)
      place |= UInt32(truncatingIfNeeded: offset) & isZero & ~found
      found |= isZero
    }
    var early: Mask = 0
    for offset in 2..<2 + leastPaddingByteCount { early |= equal(octet(block, offset), 0) }
    return place & found & ~early & equal(octet(block, 0), 0) & equal(octet(block, 1), 2)
  }

  /// Takes the key over if the block holds one of this length.
  private mutating func take(_ block: RawSpan, keyByteCount count: Int, separator: UInt32) {
    let checksumStart = block.byteCount - SessionKeyPayload.checksumByteCount
    let keyStart = checksumStart - count
    let headByteCount = version == 3 ? 1 : 0
    var isIt = Self.equal(separator, UInt32(keyStart - headByteCount - 1))
    var sum: UInt32 = 0
    for offset in keyStart..<checksumStart { sum &+= Self.octet(block, offset) }
    let expected = Self.octet(block, checksumStart) << 8 | Self.octet(block, checksumStart + 1)
    isIt &= Self.equal(sum & 0xFFFF, expected)
    let head = Self.octet(block, keyStart - 1)
    if version == 3 {
      var fits: Mask = 0
      for cipher in SessionKeyPayload.ciphers(keyByteCount: count) {
        fits |= Self.equal(head, UInt32(cipher.rawValue))
      }
      isIt &= fits
      cipher |= head & isIt
    }
    keyByteCount |= UInt32(count) & isIt
    key.withMutableBytes { key in
      for offset in 0..<count {
        let mine = unsafe key.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        let theirs = UInt8(truncatingIfNeeded: Self.octet(block, keyStart + offset) & isIt)
        key.storeBytes(of: mine | theirs, toByteOffset: offset, as: UInt8.self)
      }
    }
  }

  private consuming func finish() -> SessionKey? {
    guard keyByteCount != 0 else { return nil }
    var bytes = key.duplicate()
    bytes.shorten(to: Int(keyByteCount))
    let cipher = version == 3 ? SymmetricAlgorithm(rawValue: UInt8(cipher)) : nil
    return SessionKey(cipher: cipher, bytes: SharedSecretBytes(bytes))
  }

  private static func octet(_ block: RawSpan, _ offset: Int) -> UInt32 {
    UInt32(unsafe block.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self))
  }

  /// Whether both are equal, by arithmetic: the highest bit of `x | -x` is clear for zero only.
  private static func equal(_ left: UInt32, _ right: UInt32) -> Mask {
    let difference = left ^ right
    return ((difference | (0 &- difference)) >> 31) &- 1
  }
}

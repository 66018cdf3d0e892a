// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.13.1: a block of random octets with its last two repeated, in front of the plaintext; and
// the modification detection code behind it.

internal import Primitives

/// The octets around the plaintext of a message of version 1.
enum SEIPDv1Prefix {
  /// Octets of the packet at the end: two of header, and a SHA-1.
  static let mdcByteCount = 22
  /// The header of the packet at the end.
  static let mdcHeader: [UInt8] = [0xD3, 0x14]

  static func byteCount(_ cipher: SymmetricAlgorithm) throws(OpenPGPError) -> Int {
    guard let blockByteCount = cipher.blockByteCount else {
      throw .unsupported(.symmetricAlgorithm(cipher.rawValue))
    }
    return blockByteCount + 2
  }

  static func random(_ cipher: SymmetricAlgorithm) throws(OpenPGPError) -> [UInt8] {
    let block = SystemRandom.publicBytes(count: try byteCount(cipher) - 2)
    return block + block.suffix(2)
  }

  /// Whether the last two octets repeat the two before them.
  static func isRepeated(_ prefix: [UInt8]) -> Bool {
    Array(prefix.suffix(4).prefix(2)) == Array(prefix.suffix(2))
  }

  /// The modification detection code: what is hashed is the prefix, the plaintext, and the code's own header.
  static func digest(_ hash: borrowing HashContext) -> [UInt8] {
    var hash = hash.duplicate()
    hash.update(mdcHeader)
    return hash.finish()
  }

  /// CFB with the session key, and an IV of zeros.
  static func cipher(
    _ algorithm: SymmetricAlgorithm, _ direction: CFBCipher.Direction, key: RawSpan
  ) throws(OpenPGPError) -> CFBCipher {
    let iv = [UInt8](repeating: 0, count: try byteCount(algorithm) - 2)
    return try CFBCipher(algorithm, direction, key: key, iv: unsafe iv.span.bytes)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// CFB with feedback of a whole block, without resynchronisation (RFC 9580, section 12.9).

internal import LibCrypto

/// CFB from an IV, over a stream, in place.
struct CFBCipher: ~Copyable, Sendable {
  enum Direction { case encrypt, decrypt }

  private var stream: CFBStream

  /// - Parameters:
  ///   - key: as long as the cipher wants it.
  ///   - iv: as long as the cipher's block.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` when libcrypto does not have the cipher;
  ///   ``OpenPGPError/malformed(_:)`` with `sessionKey` for a key of another length.
  init(
    _ algorithm: SymmetricAlgorithm, _ direction: Direction, key: RawSpan, iv: RawSpan
  ) throws(OpenPGPError) {
    let cipher = try algorithm.blockCipher(.cfb, key: key)
    precondition(iv.byteCount == algorithm.blockByteCount, "an IV is as long as the cipher's block")
    let stream = CFBStream(cipher, direction == .encrypt ? .encrypt : .decrypt, key: key, iv: iv)
    guard let stream else { throw .internalFailure }
    self.stream = stream
  }

  /// The next bytes of the stream; any number.
  mutating func process(_ buffer: inout MutableRawSpan) { stream.process(&buffer) }
}

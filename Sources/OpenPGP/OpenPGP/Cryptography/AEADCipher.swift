// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 9.6: EAX, OCB and GCM, all with tags of 16 octets. One context serves many messages with one
// key: the key is set once, the nonce for each.

internal import LibCrypto

/// OCB, GCM or EAX with one key for many nonces.
struct AEADCipher: ~Copyable, Sendable {
  enum Direction { case seal, open }

  private var context: AEADContext
  private let nonceByteCount: Int

  /// - Throws: ``OpenPGPError/unsupported(_:)`` for a cipher that libcrypto does not have in this mode: it has
  ///   AES in all three, and Camellia in EAX. ``OpenPGPError/malformed(_:)`` with `sessionKey` for a key of
  ///   another length than the cipher's.
  init(
    _ cipher: SymmetricAlgorithm, _ algorithm: AEADAlgorithm, _ direction: Direction, key: RawSpan
  ) throws(OpenPGPError) {
    guard let nonceByteCount = algorithm.nonceByteCount else {
      throw .unsupported(.aeadAlgorithm(algorithm.rawValue))
    }
    try self.init(cipher, algorithm, direction, key: key, nonceByteCount: nonceByteCount)
  }

  /// - Parameter nonceByteCount: another length than the standard's, for published vectors.
  init(
    _ cipher: SymmetricAlgorithm, _ algorithm: AEADAlgorithm, _ direction: Direction, key: RawSpan,
    nonceByteCount: Int
  ) throws(OpenPGPError) {
    // No mode of AEAD is defined for blocks of eight octets.
    guard cipher.blockByteCount == 16 else { throw .unsupported(.symmetricAlgorithm(cipher.rawValue)) }
    let (mode, blockMode) = try Self.mode(algorithm)
    let blockCipher = try cipher.blockCipher(blockMode, key: key)
    let context = AEADContext(
      blockCipher, mode, direction == .seal ? .seal : .open, key: key, nonceByteCount: nonceByteCount)
    guard let context else { throw .internalFailure }
    self.context = context
    self.nonceByteCount = nonceByteCount
  }

  private static func mode(
    _ algorithm: AEADAlgorithm
  ) throws(OpenPGPError) -> (AEADContext.Mode, BlockCipher.Mode) {
    switch algorithm {
    case .eax: (.eax, .cbc)
    case .ocb: (.ocb, .ocb)
    case .gcm: (.gcm, .gcm)
    default: throw .unsupported(.aeadAlgorithm(algorithm.rawValue))
    }
  }

  /// Encrypts all but the last 16 bytes of `buffer` in place and writes the tag there.
  /// - Parameter nonce: never used before with this key.
  mutating func seal(_ buffer: inout MutableRawSpan, nonce: RawSpan, authenticating data: RawSpan) {
    precondition(nonce.byteCount == nonceByteCount, "a nonce is as long as its algorithm says")
    context.seal(&buffer, nonce: nonce, authenticating: data)
  }

  /// Decrypts all but the last 16 bytes of `buffer`, the tag, in place; erases it when they do not match.
  /// - Throws: ``OpenPGPError/notAuthentic``, also for fewer bytes than a tag.
  mutating func open(
    _ buffer: inout MutableRawSpan, nonce: RawSpan, authenticating data: RawSpan
  ) throws(OpenPGPError) {
    precondition(nonce.byteCount == nonceByteCount, "a nonce is as long as its algorithm says")
    guard context.open(&buffer, nonce: nonce, authenticating: data) else { throw .notAuthentic }
  }
}

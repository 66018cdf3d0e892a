// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.13.2: what the chunks of a message of version 2 are sealed with. Key and nonces are
// derived from the session key, the salt and the fields of the header, so that none of these can be changed.

internal import Primitives
internal import Secrets

/// The keys of one message, and how it is cut.
struct ChunkKeys: Sendable {
  let suite: AEADCiphersuite
  /// Octets of plaintext in a chunk.
  let chunkByteCount: Int
  /// The fields of the header that every chunk authenticates.
  private let fields: [UInt8]
  /// The message key, and the beginning of the nonces behind it.
  private let derived: SharedSecret
  private let keyByteCount: Int

  /// - Throws: ``OpenPGPError/unsupported(_:)``; ``OpenPGPError/malformed(_:)`` with `sessionKey` for a key of
  ///   another length than the cipher's.
  init(
    _ suite: AEADCiphersuite, chunkOctet: UInt8, salt: [UInt8], sessionKey: SharedSecret
  ) throws(OpenPGPError) {
    guard let keyByteCount = suite.cipher.keyByteCount else {
      throw .unsupported(.symmetricAlgorithm(suite.cipher.rawValue))
    }
    guard let nonceByteCount = suite.aead.nonceByteCount else {
      throw .unsupported(.aeadAlgorithm(suite.aead.rawValue))
    }
    guard sessionKey.count == keyByteCount else { throw .malformed(.sessionKey) }
    self.suite = suite
    self.keyByteCount = keyByteCount
    chunkByteCount = 1 << (Int(chunkOctet) + 6)
    let fields =
      [0xC0 | PacketType.integrityProtectedData.rawValue, 2]
      + [suite.cipher.rawValue, suite.aead.rawValue, chunkOctet]
    self.fields = fields
    derived = SharedSecret(
      sessionKey.withBytes { key in
        HKDF.derive(
          .sha256, ikm: key, salt: unsafe salt.span.bytes, info: fields,
          byteCount: keyByteCount + nonceByteCount - 8)
      })
  }

  /// A cipher for any number of chunks, on one thread.
  func cipher(_ direction: AEADCipher.Direction) throws(OpenPGPError) -> ChunkCipher {
    try derived.withBytes { (derived) throws(OpenPGPError) in
      ChunkCipher(
        try AEADCipher(suite.cipher, suite.aead, direction, key: derived.extracting(0..<keyByteCount)),
        nonceStart: [UInt8](copying: derived.extracting(keyByteCount..<derived.byteCount)), fields: fields)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The registry's algorithms as libcrypto has them, and its errors as the engine's.

internal import LibCrypto
internal import Primitives
internal import Secrets

extension SymmetricAlgorithm {
  /// nil for what libcrypto never has.
  var blockCipher: BlockCipher.Algorithm? {
    switch self {
    case .idea: .idea
    case .tripleDES: .tripleDES
    case .cast5: .cast5
    case .blowfish: .blowfish
    case .aes128: .aes128
    case .aes192: .aes192
    case .aes256: .aes256
    case .camellia128: .camellia128
    case .camellia192: .camellia192
    case .camellia256: .camellia256
    default: nil
    }
  }

  /// libcrypto's cipher, if `key` is a key for it.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` when libcrypto does not have the cipher in this mode;
  ///   ``OpenPGPError/malformed(_:)`` with `sessionKey` for a key of another length.
  func blockCipher(_ mode: BlockCipher.Mode, key: RawSpan) throws(OpenPGPError) -> BlockCipher.Algorithm {
    guard let blockCipher, let cipher = BlockCipher(blockCipher, mode) else {
      throw .unsupported(.symmetricAlgorithm(rawValue))
    }
    guard key.byteCount == cipher.keyByteCount else { throw .malformed(.sessionKey) }
    return blockCipher
  }
}

extension HashAlgorithm {
  /// nil when libcrypto does not have it.
  var digest: Digest? {
    switch self {
    case .md5: .md5
    case .sha1: .sha1
    case .ripemd160: .ripemd160
    case .sha256: .sha256
    case .sha384: .sha384
    case .sha512: .sha512
    case .sha224: .sha224
    case .sha3_256: .sha3_256
    case .sha3_512: .sha3_512
    default: nil
    }
  }
}

extension HKDF {
  /// A key of `byteCount` octets by HKDF with SHA-256 or SHA-512.
  static func derive(
    _ hash: HashAlgorithm, ikm: RawSpan, salt: RawSpan, info: [UInt8], byteCount: Int
  ) -> SecretBytes {
    precondition(hash == .sha256 || hash == .sha512, "HKDF here is with SHA-256 or SHA-512")
    precondition(ikm.byteCount > 0, "a key is not derived from nothing")
    var hkdf = HKDF(hash == .sha256 ? Digest.sha256 : .sha512)
    return SecretBytes(byteCount: byteCount) {
      hkdf.derive(ikm: ikm, salt: salt, info: info.rawSpan, into: &$0)
    }
  }
}

extension OpenPGPError {
  /// - Parameter refused: the error to throw when libcrypto refuses its input.
  init(_ error: LibCryptoError, refused: OpenPGPError) {
    self = error == .refused ? refused : .internalFailure
  }
}

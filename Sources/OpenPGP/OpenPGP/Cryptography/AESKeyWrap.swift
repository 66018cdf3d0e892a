// SPDX-License-Identifier: Apache-2.0
//
// AES key wrap (RFC 3394): a key under a key, with an integrity check of eight octets.

internal import LibCrypto
internal import Secrets

/// AES key wrap.
enum AESKeyWrap {
  /// Octets that wrapped and unwrapped keys are made of.
  static let unitByteCount = KeyWrap.unitByteCount

  /// - Parameters:
  ///   - key: 16 octets or more, in units of eight.
  ///   - wrappingKey: as long as the cipher wants it.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` for a cipher other than AES.
  static func wrap(
    _ key: RawSpan, with cipher: SymmetricAlgorithm, key wrappingKey: RawSpan
  ) throws(OpenPGPError) -> [UInt8] {
    let cipher = try checked(cipher, wrappingKey)
    guard let wrapped = KeyWrap.wrap(key, with: cipher, key: wrappingKey) else { throw .internalFailure }
    return wrapped
  }

  /// - Throws: ``OpenPGPError/notAuthentic`` when it was wrapped with another key or changed, or cannot have
  ///   been wrapped at all; ``OpenPGPError/unsupported(_:)`` for a cipher other than AES.
  static func unwrap(
    _ wrapped: [UInt8], with cipher: SymmetricAlgorithm, key wrappingKey: RawSpan
  ) throws(OpenPGPError) -> SecretBytes {
    // Two units and the check at least, which is public: the cipher is looked at only then.
    guard wrapped.count >= 24, wrapped.count % unitByteCount == 0 else { throw .notAuthentic }
    let cipher = try checked(cipher, wrappingKey)
    do throws(LibCryptoError) {
      return try KeyWrap.unwrap(wrapped.rawSpan, with: cipher, key: wrappingKey)
    } catch {
      throw OpenPGPError(error, refused: .notAuthentic)
    }
  }

  private static func checked(
    _ cipher: SymmetricAlgorithm, _ key: RawSpan
  ) throws(OpenPGPError) -> BlockCipher.Algorithm {
    guard cipher.isAES else { throw .unsupported(.symmetricAlgorithm(cipher.rawValue)) }
    return try cipher.blockCipher(.keyWrap, key: key)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// AES key wrap (RFC 3394) by libcrypto: a key under a key, with an integrity check of eight octets.

internal import COpenSSL
internal import Secrets

/// AES key wrap.
enum AESKeyWrap {
  /// Octets that wrapping adds.
  static let overheadByteCount = 8
  /// Octets that wrapped and unwrapped keys are made of.
  static let unitByteCount = 8

  /// - Parameters:
  ///   - key: 16 octets or more, in units of eight.
  ///   - wrappingKey: as long as the cipher wants it.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` for a cipher other than AES.
  static func wrap(
    _ key: RawSpan, with cipher: SymmetricAlgorithm, key wrappingKey: RawSpan
  ) throws(OpenPGPError) -> [UInt8] {
    precondition(key.byteCount >= 16 && key.byteCount % unitByteCount == 0, "keys come in units of eight")
    var context = try context(cipher, encrypts: true, key: wrappingKey)
    var output = [UInt8](repeating: 0, count: key.byteCount + overheadByteCount)
    let written = unsafe key.withUnsafeBytes { key in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe context.updateOnce(key, to: output)
      }
    }
    guard written == output.count else { throw .internalFailure }
    return output
  }

  /// - Throws: ``OpenPGPError/notAuthentic`` when it was wrapped with another key or changed, or cannot have
  ///   been wrapped at all; ``OpenPGPError/unsupported(_:)`` for a cipher other than AES.
  static func unwrap(
    _ wrapped: [UInt8], with cipher: SymmetricAlgorithm, key wrappingKey: RawSpan
  ) throws(OpenPGPError) -> SecretBytes {
    guard wrapped.count >= 24, wrapped.count % unitByteCount == 0 else { throw .notAuthentic }
    var context = try context(cipher, encrypts: false, key: wrappingKey)
    // libcrypto works on as many octets as came, though the last eight stay behind.
    var output = SecretBytes(zeroed: wrapped.count)
    let written = output.withMutableBytes { output in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe wrapped.withUnsafeBytes { unsafe context.updateOnce($0, to: output) }
      }
    }
    guard written == wrapped.count - overheadByteCount else { throw .notAuthentic }
    output.shorten(to: wrapped.count - overheadByteCount)
    return output
  }

  private static func context(
    _ cipher: SymmetricAlgorithm, encrypts: Bool, key: RawSpan
  ) throws(OpenPGPError) -> CipherContext {
    guard cipher.isAES else { throw .unsupported(.symmetricAlgorithm(cipher.rawValue)) }
    return try CipherContext(try BlockCipher(cipher, .keyWrap), encrypts: encrypts, key: key)
  }
}

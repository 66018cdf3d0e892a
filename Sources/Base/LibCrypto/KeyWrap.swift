// SPDX-License-Identifier: Apache-2.0
//
// AES key wrap (RFC 3394) by libcrypto: a key under a key, with an integrity check of eight octets.

package import Secrets

/// AES key wrap.
package enum KeyWrap {
  /// Octets that wrapping adds.
  package static let overheadByteCount = 8
  /// Octets that wrapped and unwrapped keys are made of.
  package static let unitByteCount = 8

  /// - Parameters:
  ///   - key: 16 octets or more, in units of eight.
  ///   - wrappingKey: as long as the cipher wants it.
  /// - Returns: nil when libcrypto fails.
  package static func wrap(
    _ key: RawSpan, with cipher: BlockCipher.Algorithm, key wrappingKey: RawSpan
  ) -> [UInt8]? {
    precondition(key.byteCount >= 16 && key.byteCount % unitByteCount == 0, "keys come in units of eight")
    guard var context = context(cipher, encrypts: true, key: wrappingKey) else { return nil }
    var output = [UInt8](repeating: 0, count: key.byteCount + overheadByteCount)
    let written = output.withMutableRawSpan { context.updateOnce(key, into: &$0) }
    return written == output.count ? output : nil
  }

  /// - Throws: `refused` when it was wrapped with another key or changed, or cannot have been wrapped at all.
  package static func unwrap(
    _ wrapped: RawSpan, with cipher: BlockCipher.Algorithm, key wrappingKey: RawSpan
  ) throws(LibCryptoError) -> SecretBytes {
    let count = wrapped.byteCount - overheadByteCount
    guard count >= 16, count % unitByteCount == 0 else { throw .refused }
    guard var context = context(cipher, encrypts: false, key: wrappingKey) else { throw .failed }
    // libcrypto uses as many octets of output as of input, although the result is eight octets shorter.
    var output = SecretBytes(zeroed: wrapped.byteCount)
    let written = output.withMutableBytes { context.updateOnce(wrapped, into: &$0) }
    guard written == count else { throw .refused }
    output.shorten(to: count)
    return output
  }

  private static func context(
    _ cipher: BlockCipher.Algorithm, encrypts: Bool, key: RawSpan
  ) -> CipherContext? {
    guard let cipher = BlockCipher(cipher, .keyWrap) else { return nil }
    return CipherContext(cipher, encrypts: encrypts, key: key)
  }
}

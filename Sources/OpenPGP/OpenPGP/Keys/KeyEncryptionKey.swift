// SPDX-License-Identifier: Apache-2.0
//
// From a shared secret to the key that wraps a session key: RFC 9580, section 11.5 for ECDH, sections 5.1.6 and
// 5.1.7 for X25519 and X448.

internal import Primitives
internal import Secrets

/// A key that wraps session keys.
struct KeyEncryptionKey: ~Copyable {
  let cipher: SymmetricAlgorithm
  let bytes: SecretBytes

  /// ECDH: the hash of a counter, the shared secret and who the key is (section 11.4).
  /// - Throws: ``OpenPGPError/unsupported(_:)`` when the key asks for a hash that is weaker than SHA-256 or
  ///   shorter than the cipher's key, or for a cipher other than AES.
  static func ecdh(
    _ secret: RawSpan, curve: Curve, derivation: PublicKeyMaterial.KeyDerivation, fingerprint: Fingerprint
  ) throws(OpenPGPError) -> KeyEncryptionKey {
    let (hash, cipher) = (derivation.hash, derivation.cipher)
    guard cipher.isAES, let keyByteCount = cipher.keyByteCount else {
      throw .unsupported(.symmetricAlgorithm(cipher.rawValue))
    }
    guard let digestByteCount = hash.digestByteCount, digestByteCount >= leastDigestByteCount,
      digestByteCount >= keyByteCount, HashContext.isAvailable(hash)
    else { throw .unsupported(.hashAlgorithm(hash.rawValue)) }
    var parameters = [UInt8(curve.objectIdentifier.count)] + curve.objectIdentifier
    parameters.append(PublicKeyAlgorithm.ecdh.rawValue)
    parameters += [3, 1, hash.rawValue, cipher.rawValue]
    parameters += Array("Anonymous Sender    ".utf8)
    parameters += fingerprint.bytes
    var key = SecretBytes(zeroed: digestByteCount)
    key.withMutableBytes { digest(hash, secret, parameters, into: &$0) }
    key.shorten(to: keyByteCount)
    return KeyEncryptionKey(cipher: cipher, bytes: key)
  }

  /// Section 11.4 requires SHA-256 or stronger.
  private static let leastDigestByteCount = 32

  private static func digest(
    _ hash: HashAlgorithm, _ secret: RawSpan, _ parameters: [UInt8], into output: inout MutableRawSpan
  ) {
    var context = HashContext(hash)
    context.update([0, 0, 0, 1])
    context.update(secret)
    context.update(parameters)
    context.finish(into: &output)
  }

  /// X25519: HKDF with SHA-256 over both public keys and the shared secret, for AES-128.
  static func x25519(ephemeral: [UInt8], recipient: [UInt8], secret: RawSpan) -> KeyEncryptionKey {
    native(.sha256, .aes128, "OpenPGP X25519", ephemeral, recipient, secret)
  }

  /// X448: HKDF with SHA-512 over both public keys and the shared secret, for AES-256.
  static func x448(ephemeral: [UInt8], recipient: [UInt8], secret: RawSpan) -> KeyEncryptionKey {
    native(.sha512, .aes256, "OpenPGP X448", ephemeral, recipient, secret)
  }

  private static func native(
    _ hash: HashAlgorithm, _ cipher: SymmetricAlgorithm, _ info: String, _ ephemeral: [UInt8],
    _ recipient: [UInt8], _ secret: RawSpan
  ) -> KeyEncryptionKey {
    var writer = SecretWriter(byteCount: ephemeral.count + recipient.count + secret.byteCount)
    writer.append(ephemeral)
    writer.append(recipient)
    writer.append(secret)
    let bytes = writer.finish().withBytes {
      HKDF.derive(
        hash, ikm: $0, salt: RawSpan(), info: Array(info.utf8), byteCount: cipher.keyByteCount ?? 0)
    }
    return KeyEncryptionKey(cipher: cipher, bytes: bytes)
  }

  func wrap(_ payload: borrowing SecretBytes) throws(OpenPGPError) -> [UInt8] {
    try payload.withBytes { payload throws(OpenPGPError) in
      try bytes.withBytes { key throws(OpenPGPError) in
        try AESKeyWrap.wrap(payload, with: cipher, key: key)
      }
    }
  }

  func unwrap(_ wrapped: [UInt8]) throws(OpenPGPError) -> SecretBytes {
    try bytes.withBytes { key throws(OpenPGPError) in
      try AESKeyWrap.unwrap(wrapped, with: cipher, key: key)
    }
  }
}

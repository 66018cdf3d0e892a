// SPDX-License-Identifier: Apache-2.0
//
// Session keys, the form in which they are encrypted, and the keys that encrypt them.
//
// RSA and ECDH encrypt a payload (RFC 9580, sections 5.1.3 and 5.1.5): version 3 puts the cipher's number
// before the key, version 6 leaves it out, both put a checksum after it. ECDH, X25519 and X448 wrap with a
// key that is derived from the shared secret (sections 11.5, 5.1.6 and 5.1.7); so do ECDH and ML-KEM together, from
// both their secrets (RFC 9980, section 4.2.1).

internal import Primitives
public import Secrets

/// The key that a message is encrypted with.
public struct SessionKey: Sendable {
  /// Nil where the packet of the session key does not say (version 6): then the data packet does.
  public let cipher: SymmetricAlgorithm?
  /// The key, as long as its cipher wants.
  public let bytes: SharedSecretBytes

  /// A key that you have kept or were given.
  public init(cipher: SymmetricAlgorithm?, bytes: SharedSecretBytes) {
    self.cipher = cipher
    self.bytes = bytes
  }

  /// A new key for `cipher`, which this engine has.
  static func random(_ cipher: SymmetricAlgorithm) -> SessionKey {
    SessionKey(
      cipher: cipher, bytes: SharedSecretBytes(SystemRandom.secretBytes(count: cipher.keyByteCount ?? 0)))
  }
}

/// The octets that a session key is encrypted as.
enum SessionKeyPayload {
  /// Octets of the keys that are read: those of all ciphers in the registry.
  static let keyByteCounts = [16, 24, 32]
  static let checksumByteCount = 2

  /// The ciphers of the registry with keys of so many octets.
  static func ciphers(keyByteCount: Int) -> [SymmetricAlgorithm] {
    (1...13).map { SymmetricAlgorithm(rawValue: $0) }.filter { $0.keyByteCount == keyByteCount }
  }

  static func make(_ key: SessionKey, version: UInt8) throws(OpenPGPError) -> SecretBytes {
    let cipher = try checkedCipher(key, version: version)
    return key.bytes.withBytes { bytes in
      var writer = SecretWriter(byteCount: 1 + bytes.byteCount + checksumByteCount)
      if version == 3 { writer.append([cipher.rawValue]) }
      writer.append(bytes)
      let checksum = SecretMaterial.checksum(bytes)
      writer.append([UInt8(checksum >> 8), UInt8(checksum & 255)])
      return writer.finish()
    }
  }

  /// The cipher of a key that is to be encrypted; the caller must have made it fit.
  static func checkedCipher(_ key: SessionKey, version: UInt8) throws(OpenPGPError) -> SymmetricAlgorithm {
    guard keyByteCounts.contains(key.bytes.count) else { throw .malformed(.sessionKey) }
    guard version == 3 else { return key.cipher ?? .plaintext }
    guard let cipher = key.cipher, cipher.keyByteCount == key.bytes.count else {
      throw .malformed(.sessionKey)
    }
    return cipher
  }

  /// The session key in octets whose integrity has been checked.
  /// - Throws: ``OpenPGPError/notAuthentic``.
  static func read(_ payload: RawSpan, version: UInt8) throws(OpenPGPError) -> SessionKey {
    let headByteCount = version == 3 ? 1 : 0
    let keyByteCount = payload.byteCount - headByteCount - checksumByteCount
    guard keyByteCounts.contains(keyByteCount) else { throw .notAuthentic }
    func octet(_ offset: Int) -> UInt8 { unsafe payload.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
    let key = payload.extracting(headByteCount..<headByteCount + keyByteCount)
    let end = headByteCount + keyByteCount
    let expected = UInt16(octet(end)) << 8 | UInt16(octet(end + 1))
    var cipher: SymmetricAlgorithm?
    if version == 3 { cipher = SymmetricAlgorithm(rawValue: octet(0)) }
    guard cipher == nil || cipher?.keyByteCount == keyByteCount, SecretMaterial.checksum(key) == expected
    else { throw .notAuthentic }
    return SessionKey(cipher: cipher, bytes: SharedSecretBytes(SecretBytes(copying: key)))
  }
}

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

  /// ECDH and ML-KEM: SHA3-256 over both shared secrets, the public keys of ECDH and the algorithm, for AES-256. The
  /// secret of ML-KEM comes first, and its ciphertext and public key are not hashed (RFC 9980, section 4.2.1).
  static func composite(
    _ kind: CompositeKEMAlgorithm, latticeShare: RawSpan, curveShare: RawSpan, ephemeral: [UInt8],
    recipient: [UInt8]
  ) -> KeyEncryptionKey {
    let name = Array("OpenPGPCompositeKDFv1".utf8)
    var key = SecretBytes(zeroed: 32)
    key.withMutableBytes { output in
      var hash = HashContext(.sha3_256)
      hash.update(latticeShare)
      hash.update(curveShare)
      hash.update(ephemeral)
      hash.update(recipient)
      hash.update([kind.algorithm.rawValue] + name + [UInt8(name.count)])
      hash.finish(into: &output)
    }
    return KeyEncryptionKey(cipher: .aes256, bytes: key)
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

// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.1, and RFC 9980, section 4.2.3: session keys encrypted to a public key.

internal import LibCrypto
internal import PostQuantum
internal import Primitives
internal import Secrets

extension PublicKey {
  /// Encrypts a session key to this key: version 3 for SEIPD version 1, 6 for 2.
  ///
  /// - Parameters:
  ///   - key: with its cipher for version 3.
  ///   - isAnonymous: leaves out who the recipient is.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` for an algorithm, curve, hash or cipher that is not there or
  ///   not encrypted with; ``OpenPGPError/malformed(_:)`` with `publicKey` when the fields are not a key, with
  ///   `sessionKey` for a key that does not fit its cipher.
  func encrypt(_ key: SessionKey, version: UInt8, isAnonymous: Bool) throws(OpenPGPError)
    -> PKESK
  {
    precondition(version == 3 || version == 6, "a session key's packet is of version 3 or 6")
    guard algorithm.encrypts else { throw .unsupported(.publicKeyAlgorithm(algorithm.rawValue)) }
    let encrypted = try encryptedMaterial(key, version: version)
    var recipient: PKESK.Recipient = .anonymous
    if !isAnonymous { recipient = version == 3 ? .keyID(keyID) : .fingerprint(fingerprint) }
    return PKESK(
      version: version, recipient: recipient, algorithm: algorithm, material: encrypted)
  }

  private func encryptedMaterial(
    _ key: SessionKey, version: UInt8
  ) throws(OpenPGPError) -> PKESK.Material {
    switch material {
    case .rsa:
      let payload = try SessionKeyPayload.make(key, version: version)
      return .rsa(MPI(try EVPKey.make(self).encryptedPayload(payload)))
    case .ecdh(let curve, _, let derivation):
      return try ecdh(curve, derivation, try SessionKeyPayload.make(key, version: version))
    case .x25519(let recipient):
      let cipher = try outerCipher(key, version: version)
      let (ephemeral, secret) = try agree(.x25519)
      let wrapped = try secret.withBytes { secret throws(OpenPGPError) in
        try Self.wrap(key, .x25519(ephemeral: ephemeral, recipient: recipient, secret: secret))
      }
      return .x25519(ephemeral: ephemeral, cipher, wrapped: wrapped)
    case .x448(let recipient):
      let cipher = try outerCipher(key, version: version)
      let (ephemeral, secret) = try agree(.x448)
      let wrapped = try secret.withBytes { secret throws(OpenPGPError) in
        try Self.wrap(key, .x448(ephemeral: ephemeral, recipient: recipient, secret: secret))
      }
      return .x448(ephemeral: ephemeral, cipher, wrapped: wrapped)
    case .compositeKEM(let kind, let ecdh, let mlkem):
      let cipher = try outerCipher(key, version: version)
      guard let (ciphertext, latticeShare) = kind.lattice.encapsulate(to: mlkem) else {
        throw .malformed(.publicKey)
      }
      let (ephemeral, curveShare) = try agree(kind.curve, with: try EVPKey.native(kind.curve, ecdh))
      let wrapped = try latticeShare.withBytes { latticeShare throws(OpenPGPError) in
        try curveShare.withBytes { curveShare throws(OpenPGPError) in
          try Self.wrap(
            key,
            .composite(
              kind, latticeShare: latticeShare, curveShare: curveShare, ephemeral: ephemeral, recipient: ecdh)
          )
        }
      }
      return .compositeKEM(kind, ephemeral: ephemeral, ciphertext: ciphertext, cipher, wrapped: wrapped)
    default: throw .unsupported(.publicKeyAlgorithm(algorithm.rawValue))
    }
  }

  /// Section 5.1.6: version 3 has the cipher in the clear, and it must be AES.
  private func outerCipher(
    _ key: SessionKey, version: UInt8
  ) throws(OpenPGPError) -> SymmetricAlgorithm? {
    let cipher = try SessionKeyPayload.checkedCipher(key, version: version)
    guard version == 3 else { return nil }
    guard cipher.isAES else { throw .unsupported(.symmetricAlgorithm(cipher.rawValue)) }
    return cipher
  }

  private static func wrap(
    _ key: SessionKey, _ wrappingKey: consuming KeyEncryptionKey
  ) throws(OpenPGPError) -> [UInt8] {
    let bytes = key.bytes.withBytes { SecretBytes(copying: $0) }
    return try wrappingKey.wrap(bytes)
  }

  /// A key for this once, and the secret that it shares with this key.
  private func agree(
    _ kind: EVPKey.Kind, group: String? = nil
  ) throws(OpenPGPError) -> (ephemeral: [UInt8], secret: SharedSecretBytes) {
    try agree(kind, group: group, with: try EVPKey.make(self))
  }

  private func agree(
    _ kind: EVPKey.Kind, group: String? = nil, with theirs: borrowing EVPKey
  ) throws(OpenPGPError) -> (ephemeral: [UInt8], secret: SharedSecretBytes) {
    guard let mine = EVPKey.generate(kind, group: group) else { throw .internalFailure }
    do throws(OpenPGPError) {
      return (try mine.publicPoint(), SharedSecretBytes(try mine.agreedSecret(with: theirs)))
    } catch {
      // The recipient's point is of small order, or none.
      throw error == .notAuthentic ? .malformed(.publicKey) : error
    }
  }

  /// Section 11.5: the payload is padded to units of eight octets, the padding says its length.
  private func ecdh(
    _ curve: Curve, _ derivation: PublicKeyMaterial.KeyDerivation, _ payload: borrowing SecretBytes
  ) throws(OpenPGPError) -> PKESK.Material {
    if version == 6, derivation != curve.keyDerivation {
      // Section 11.5.1: no message may be encrypted to such a key.
      throw .unsupported(.symmetricAlgorithm(derivation.cipher.rawValue))
    }
    let isNative = curve == .curve25519Legacy
    guard isNative || curve.groupName != nil else { throw .unsupported(.curve) }
    let (octets, secret) = try agree(isNative ? .x25519 : .ellipticCurve, group: curve.groupName)
    let padding = AESKeyWrap.unitByteCount - payload.count % AESKeyWrap.unitByteCount
    var writer = SecretWriter(byteCount: payload.count + padding)
    payload.withBytes { writer.append($0) }
    writer.append([UInt8](repeating: UInt8(padding), count: padding))
    let padded = writer.finish()
    let wrapped = try secret.withBytes { secret throws(OpenPGPError) in
      try KeyEncryptionKey.ecdh(secret, curve: curve, derivation: derivation, fingerprint: fingerprint)
        .wrap(padded)
    }
    return .ecdh(point: MPI(isNative ? [0x40] + octets : octets), wrapped: wrapped)
  }
}

extension EVPKey {
  /// PKCS#1 version 1.5.
  fileprivate func encryptedPayload(_ payload: borrowing SecretBytes) throws(OpenPGPError) -> [UInt8] {
    do throws(LibCryptoError) {
      return try payload.withBytes { payload throws(LibCryptoError) in try encryptedByRSA(payload) }
    } catch {
      throw OpenPGPError(error, refused: .malformed(.publicKey))
    }
  }
}

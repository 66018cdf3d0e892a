// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.1, and RFC 9980, section 4.2.4: session keys out of their packets. Whatever is wrong with a packet gives the one answer
// that it is not authentic.

internal import LibCrypto
internal import Secrets

extension UnlockedKey {
  /// See ``Decryptor/decrypt(_:)``.
  public func decrypt(_ packet: PKESK) throws(OpenPGPError) -> SessionKey {
    guard publicKey.algorithm.encrypts else { throw .keyCannot(.decrypt) }
    guard publicKey.material.hasUsablePrivateKeys else {
      throw .unsupported(.publicKeyAlgorithm(publicKey.algorithm.rawValue))
    }
    do throws(OpenPGPError) {
      return try sessionKey(packet)
    } catch {
      throw error == .internalFailure ? error : .notAuthentic
    }
  }

  private func sessionKey(_ packet: PKESK) throws(OpenPGPError) -> SessionKey {
    let version = packet.version
    switch (publicKey.material, packet.material) {
    case (.rsa(let modulus, _), .rsa(let value)):
      guard let ciphertext = value.padded(to: modulus.bytes.count) else { throw .notAuthentic }
      let block = try evpKey().rawDecrypted(ciphertext)
      guard let key = block.withBytes({ PKCS1Encoding.sessionKey($0, version: version) }) else {
        throw .notAuthentic
      }
      return key
    case (.ecdh(let curve, _, let derivation), .ecdh(let point, let wrapped)):
      let secret = try evpKey().agreedSecret(with: try Self.ephemeral(curve, point))
      let padded = try secret.withBytes { secret throws(OpenPGPError) in
        try KeyEncryptionKey.ecdh(
          secret, curve: curve, derivation: derivation, fingerprint: publicKey.fingerprint
        ).unwrap(wrapped)
      }
      return try padded.withBytes { padded throws(OpenPGPError) in
        try SessionKeyPayload.read(
          padded.extracting(first: try Self.countWithoutPadding(padded)), version: version)
      }
    case (.x25519(let recipient), .x25519(let ephemeral, let cipher, let wrapped)):
      let secret = try evpKey().agreedSecret(with: try EVPKey.native(.x25519, ephemeral))
      let wrappingKey = secret.withBytes {
        KeyEncryptionKey.x25519(ephemeral: ephemeral, recipient: recipient, secret: $0)
      }
      return try Self.bare(try wrappingKey.unwrap(wrapped), cipher, version: version)
    case (.x448(let recipient), .x448(let ephemeral, let cipher, let wrapped)):
      let secret = try evpKey().agreedSecret(with: try EVPKey.native(.x448, ephemeral))
      let wrappingKey = secret.withBytes {
        KeyEncryptionKey.x448(ephemeral: ephemeral, recipient: recipient, secret: $0)
      }
      return try Self.bare(try wrappingKey.unwrap(wrapped), cipher, version: version)
    case (_, .compositeKEM(let kind, let ephemeral, let ciphertext, let cipher, let wrapped)):
      let wrappingKey = try keyEncryptionKey(kind, ephemeral: ephemeral, ciphertext: ciphertext)
      return try Self.bare(try wrappingKey.unwrap(wrapped), cipher, version: version)
    default: throw .notAuthentic
    }
  }

  private static func ephemeral(_ curve: Curve, _ point: MPI) throws(OpenPGPError) -> EVPKey {
    guard curve == .curve25519Legacy else { return try EVPKey.publicKey(curve, point: point) }
    return try EVPKey.native(.x25519, try EVPKey.nativeOctets(point))
  }

  /// Section 11.5: every octet of the padding is its length. It may hide the key's length, so it may be longer
  /// than a unit.
  private static func countWithoutPadding(_ padded: RawSpan) throws(OpenPGPError) -> Int {
    func octet(_ offset: Int) -> UInt8 { unsafe padded.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
    guard padded.byteCount > 0 else { throw .notAuthentic }
    let count = Int(octet(padded.byteCount - 1))
    guard count >= 1, count < padded.byteCount else { throw .notAuthentic }
    for offset in padded.byteCount - count..<padded.byteCount where octet(offset) != count {
      throw .notAuthentic
    }
    return padded.byteCount - count
  }

  /// Sections 5.1.6 and 5.1.7: the key without a checksum; in version 3 for AES, and of its length.
  private static func bare(
    _ key: consuming SecretBytes, _ cipher: SymmetricAlgorithm?, version: UInt8
  ) throws(OpenPGPError) -> SessionKey {
    guard SessionKeyPayload.keyByteCounts.contains(key.count) else { throw .notAuthentic }
    if version == 3 {
      guard let cipher, cipher.isAES, cipher.keyByteCount == key.count else { throw .notAuthentic }
    }
    return SessionKey(cipher: version == 3 ? cipher : nil, bytes: SharedSecretBytes(key))
  }
}

extension EVPKey {
  /// The power of RSA, without its padding: as many octets as the modulus.
  fileprivate func rawDecrypted(_ ciphertext: [UInt8]) throws(OpenPGPError) -> SecretBytes {
    do throws(LibCryptoError) {
      return try rawDecryptedByRSA(ciphertext)
    } catch {
      // Only a number that is not below the modulus is refused here, and everybody can see that.
      throw OpenPGPError(error, refused: .notAuthentic)
    }
  }
}

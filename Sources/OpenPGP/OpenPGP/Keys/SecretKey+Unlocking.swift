// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 3.7.2.1 and 5.5.3: taking the protection off a secret key.

internal import LibCrypto
internal import Primitives
internal import Secrets

extension SecretKey {
  /// The key without its protection.
  ///
  /// - Parameters:
  ///   - password: not looked at when the key has no protection.
  ///   - isSubkey: whether the packet is that of a subkey: AEAD binds it.
  /// - Throws: ``OpenPGPError/keyIsLocked`` without a password; ``OpenPGPError/wrongPassword`` when the
  ///   password is wrong or the packet was changed; ``OpenPGPError/notAuthentic`` when the checksum of an
  ///   unprotected key is wrong; ``OpenPGPError/malformed(_:)`` with `secretKey` when the fields are not a
  ///   key, or not the private half of its public key; and what ``StringToKey`` throws.
  public func unlocked(password: RawSpan?, isSubkey: Bool) throws(OpenPGPError) -> UnlockedKey {
    let material = SharedSecretBytes(try unprotectedMaterial(password: password, isSubkey: isSubkey))
    let key = UnlockedKey(publicKey: publicKey, material: material)
    if publicKey.material.hasUsablePrivateKeys { try key.checkHalves() }
    return key
  }

  private func unprotectedMaterial(
    password: RawSpan?, isSubkey: Bool
  ) throws(OpenPGPError) -> SecretBytes {
    if case .none = protection { return try unlockedMaterial() }
    guard let password else { throw .keyIsLocked }
    switch protection {
    case .none: return try unlockedMaterial()
    case .cfb(let cipher, let s2k, let iv): return try decryptedByCFB(cipher, s2k, iv, password)
    case .cfbChecksum(let cipher, let s2k, let iv):
      // Without a specifier the key is the MD5 of the password, from the times before there was one.
      var material = try decrypted(cipher, s2k ?? .simple(.md5), iv, password)
      guard Self.removeChecksum(&material) else { throw .wrongPassword }
      return material
    case .aead(let cipher, let aead, let s2k, let nonce):
      return try decryptedByAEAD(cipher, aead, s2k, nonce, password, isSubkey)
    case .unknown(_, let parameters):
      // Cipher, in version 6 the length of the specifier, and its type: 101 is a key that is elsewhere.
      let typeOffset = publicKey.version == 6 ? 2 : 1
      throw .unsupported(.stringToKey(parameters.count > typeOffset ? parameters[typeOffset] : 0))
    }
  }

  /// Looks at what can be seen of a secret key without using it: of one that nothing protects, whether its
  /// fields are those of its algorithm, and its checksum. A protected key, or one that is elsewhere, cannot
  /// be checked.
  /// - Throws: ``OpenPGPError/notAuthentic`` when the checksum is wrong, ``OpenPGPError/malformed(_:)`` with
  ///   `secretKey` when the fields are others.
  func checkUnprotected() throws(OpenPGPError) {
    guard case .none = protection else { return }
    try protectedMaterial.withBytes { (material) throws(OpenPGPError) in
      var fields = material
      if publicKey.version == 4 {
        guard Self.endsWithChecksum(material) else { throw .notAuthentic }
        fields = material.extracting(first: material.byteCount - Self.checksumByteCount)
      }
      guard SecretMaterial.fit(fields, publicKey) else { throw .malformed(.secretKey) }
    }
  }

  private func unlockedMaterial() throws(OpenPGPError) -> SecretBytes {
    var material = protectedMaterial.withBytes { SecretBytes(copying: $0) }
    if publicKey.version == 4 {
      guard Self.removeChecksum(&material) else { throw .notAuthentic }
    }
    return material
  }

  /// Whether the last two octets are the checksum of the others; takes them away.
  private static func removeChecksum(_ material: inout SecretBytes) -> Bool {
    guard material.withBytes({ endsWithChecksum($0) }) else { return false }
    material.shorten(to: material.count - checksumByteCount)
    return true
  }

  private static func endsWithChecksum(_ material: RawSpan) -> Bool {
    let count = material.byteCount - checksumByteCount
    guard count >= 0 else { return false }
    let sum = SecretMaterial.checksum(material.extracting(first: count))
    let octets = [UInt8(sum >> 8), UInt8(sum & 255)]
    return constantTimeEqual(material.extracting(last: checksumByteCount), octets.rawSpan)
  }

  private static let checksumByteCount = 2

  // MARK: CFB

  private func decryptedByCFB(
    _ cipher: SymmetricAlgorithm, _ s2k: StringToKey, _ iv: [UInt8], _ password: RawSpan
  ) throws(OpenPGPError) -> SecretBytes {
    var material = try decrypted(cipher, s2k, iv, password)
    let count = material.count - UnlockedKey.digestByteCount
    guard count >= 0 else { throw .wrongPassword }
    let digest = material.withBytes { UnlockedKey.digest($0.extracting(first: count)) }
    let isRight = material.withBytes { material in
      digest.withBytes { constantTimeEqual(material.extracting(last: UnlockedKey.digestByteCount), $0) }
    }
    guard isRight else { throw .wrongPassword }
    material.shorten(to: count)
    return material
  }

  private func decrypted(
    _ cipher: SymmetricAlgorithm, _ s2k: StringToKey, _ iv: [UInt8], _ password: RawSpan
  ) throws(OpenPGPError) -> SecretBytes {
    // Section 3.7.2.1: Argon2 is for AEAD alone, and anything else is to be rejected as malformed.
    if case .argon2 = s2k { throw .malformed(.secretKey) }
    guard let keyByteCount = cipher.keyByteCount else {
      throw .unsupported(.symmetricAlgorithm(cipher.rawValue))
    }
    let key = try s2k.deriveKey(password: password, byteCount: keyByteCount)
    var material = protectedMaterial.withBytes { SecretBytes(copying: $0) }
    var stream = try key.withBytes { key throws(OpenPGPError) in
      try CFBCipher(cipher, .decrypt, key: key, iv: iv.rawSpan)
    }
    material.withMutableBytes { stream.process(&$0) }
    return material
  }

  // MARK: AEAD

  private func decryptedByAEAD(
    _ cipher: SymmetricAlgorithm, _ aead: AEADAlgorithm, _ s2k: StringToKey, _ nonce: [UInt8],
    _ password: RawSpan, _ isSubkey: Bool
  ) throws(OpenPGPError) -> SecretBytes {
    let binding = SecretKeyAEAD(publicKey, isSubkey: isSubkey)
    let key = try binding.key(cipher, aead, s2k, password: password)
    var material = protectedMaterial.withBytes { SecretBytes(copying: $0) }
    var opener = try key.withBytes { key throws(OpenPGPError) in
      try AEADCipher(cipher, aead, .open, key: key)
    }
    do throws(OpenPGPError) {
      try material.withMutableBytes { material throws(OpenPGPError) in
        try opener.open(
          &material, nonce: nonce.rawSpan,
          authenticating: binding.associatedData.rawSpan)
      }
    } catch {
      throw .wrongPassword
    }
    material.shorten(to: material.count - AEADAlgorithm.tagByteCount)
    return material
  }
}

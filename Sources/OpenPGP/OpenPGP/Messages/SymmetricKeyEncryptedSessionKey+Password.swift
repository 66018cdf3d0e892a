// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.3: a session key under a password.

internal import Primitives
internal import Secrets

extension SymmetricKeyEncryptedSessionKey {
  /// The session key.
  /// - Throws: ``OpenPGPError/notAuthentic`` for another password, as far as that can be seen here; what the
  ///   derivation throws.
  func open(password: SharedSecret) throws(OpenPGPError) -> SessionKey {
    guard let keyByteCount = cipher.keyByteCount else {
      throw .unsupported(.symmetricAlgorithm(cipher.rawValue))
    }
    let derived = try password.withBytes { (password) throws(OpenPGPError) in
      try stringToKey.deriveKey(password: password, byteCount: keyByteCount)
    }
    switch form {
    case .version4(let encrypted) where encrypted.isEmpty:
      return SessionKey(cipher: cipher, bytes: SharedSecret(derived))
    case .version4(let encrypted): return try openVersion4(encrypted, derived)
    case .version6(let aead, let nonce, let encrypted):
      let fields = fields(aead)
      let key = try sealed(aead, derived, .open) { (cipher) throws(OpenPGPError) in
        var bytes = SecretBytes(copying: unsafe encrypted.span.bytes)
        try bytes.withMutableBytes { (bytes) throws(OpenPGPError) in
          try cipher.open(
            &bytes, nonce: unsafe nonce.span.bytes, authenticating: unsafe fields.span.bytes)
        }
        bytes.shorten(to: bytes.count - AEADAlgorithm.tagByteCount)
        return SharedSecret(bytes)
      }
      return SessionKey(cipher: nil, bytes: key)
    }
  }

  /// A packet of version 4: the number of the cipher and the key, in CFB with an IV of zeros.
  static func version4(
    _ key: SessionKey, cipher: SymmetricAlgorithm, password: SharedSecret, _ stringToKey: StringToKey
  ) throws(OpenPGPError) -> SymmetricKeyEncryptedSessionKey {
    let derived = try password.withBytes { (password) throws(OpenPGPError) in
      try stringToKey.deriveKey(password: password, byteCount: cipher.keyByteCount ?? 0)
    }
    var writer = SecretWriter(byteCount: key.bytes.count + 1)
    writer.append([(key.cipher ?? cipher).rawValue])
    key.bytes.withBytes { writer.append($0) }
    var bytes = writer.finish()
    var stream = try derived.withBytes { (derived) throws(OpenPGPError) in
      try IntegrityPrefix.cipher(cipher, .encrypt, key: derived)
    }
    bytes.withMutableBytes { stream.process(&$0) }
    let encrypted = bytes.withBytes { [UInt8](copying: $0) }
    return SymmetricKeyEncryptedSessionKey(
      cipher: cipher, stringToKey: stringToKey, form: .version4(encrypted: encrypted))
  }

  /// A packet of version 6: the key under AEAD.
  static func version6(
    _ key: SessionKey, _ suite: AEADCiphersuite, password: SharedSecret, _ stringToKey: StringToKey
  ) throws(OpenPGPError) -> SymmetricKeyEncryptedSessionKey {
    let nonce = SystemRandom.publicBytes(count: suite.aead.nonceByteCount ?? 0)
    let draft = SymmetricKeyEncryptedSessionKey(
      cipher: suite.cipher, stringToKey: stringToKey,
      form: .version6(suite.aead, nonce: nonce, encrypted: []))
    let derived = try password.withBytes { (password) throws(OpenPGPError) in
      try stringToKey.deriveKey(password: password, byteCount: suite.cipher.keyByteCount ?? 0)
    }
    let fields = draft.fields(suite.aead)
    let encrypted = try draft.sealed(suite.aead, derived, .seal) { (cipher) throws(OpenPGPError) in
      var writer = SecretWriter(byteCount: key.bytes.count + AEADAlgorithm.tagByteCount)
      key.bytes.withBytes { writer.append($0) }
      writer.append([UInt8](repeating: 0, count: AEADAlgorithm.tagByteCount))
      var bytes = writer.finish()
      bytes.withMutableBytes { bytes in
        cipher.seal(
          &bytes, nonce: unsafe nonce.span.bytes,
          authenticating: unsafe fields.span.bytes)
      }
      return bytes.withBytes { [UInt8](copying: $0) }
    }
    return SymmetricKeyEncryptedSessionKey(
      cipher: suite.cipher, stringToKey: stringToKey,
      form: .version6(suite.aead, nonce: nonce, encrypted: encrypted))
  }

  private func openVersion4(
    _ encrypted: [UInt8], _ derived: borrowing SecretBytes
  ) throws(OpenPGPError) -> SessionKey {
    var stream = try derived.withBytes { (derived) throws(OpenPGPError) in
      try IntegrityPrefix.cipher(cipher, .decrypt, key: derived)
    }
    var bytes = SecretBytes(copying: unsafe encrypted.span.bytes)
    bytes.withMutableBytes { stream.process(&$0) }
    let algorithm = bytes.withBytes {
      SymmetricAlgorithm(rawValue: unsafe $0.unsafeLoad(as: UInt8.self))
    }
    guard algorithm.keyByteCount == bytes.count - 1 else { throw .notAuthentic }
    let key = bytes.withBytes { SecretBytes(copying: $0.extracting(1..<$0.byteCount)) }
    return SessionKey(cipher: algorithm, bytes: SharedSecret(key))
  }

  /// The fields that version 6 authenticates and derives its key with.
  private func fields(_ aead: AEADAlgorithm) -> [UInt8] {
    [0xC0 | PacketType.symmetricKeyEncryptedSessionKey.rawValue, 6, cipher.rawValue, aead.rawValue]
  }

  /// Lends the cipher under the key that the derived one gives.
  private func sealed<R>(
    _ aead: AEADAlgorithm, _ derived: borrowing SecretBytes, _ direction: AEADCipher.Direction,
    _ body: (inout AEADCipher) throws(OpenPGPError) -> R
  ) throws(OpenPGPError) -> R {
    let info = fields(aead)
    let key = derived.withBytes { derived in
      HKDF.derive(.sha256, ikm: derived, salt: RawSpan(), info: info, byteCount: derived.byteCount)
    }
    var context = try key.withBytes { (key) throws(OpenPGPError) in
      try AEADCipher(cipher, aead, direction, key: key)
    }
    return try body(&context)
  }
}

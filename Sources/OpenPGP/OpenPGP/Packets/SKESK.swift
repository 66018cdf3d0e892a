// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.3: session keys under a password, versions 4 and 6. Version 5, which is LibrePGP's, is
// a packet of unknown form.

internal import Primitives
internal import Secrets

/// A session key encrypted with a password, or derived from it.
///
/// [RFC 9580, section 5.3](https://www.rfc-editor.org/rfc/rfc9580#section-5.3)
public struct SKESK: Hashable, Sendable {
  /// The two forms.
  public enum Form: Hashable, Sendable {
    /// Version 4: CFB; without an encrypted key the derived key is the session key.
    case version4(encrypted: [UInt8])
    /// Version 6: the encrypted key is followed by its tag.
    case version6(AEADAlgorithm, nonce: [UInt8], encrypted: [UInt8])
  }

  /// The cipher of the session key, or of what wraps it.
  public let cipher: SymmetricAlgorithm
  /// How the password becomes a key.
  public let stringToKey: StringToKey
  /// The fields that only this version has.
  public let form: Form

  /// 4 or 6.
  public var version: UInt8 {
    switch form {
    case .version4: 4
    case .version6: 6
    }
  }

  /// A packet to be written.
  public init(cipher: SymmetricAlgorithm, stringToKey: StringToKey, form: Form) {
    self.cipher = cipher
    self.stringToKey = stringToKey
    self.form = form
  }

  init(body: RawSpan) throws(OpenPGPError) {
    var cursor = PacketCursor()
    let version = try cursor.readByte(body)
    switch version {
    case 4:
      cipher = SymmetricAlgorithm(rawValue: try cursor.readByte(body))
      stringToKey = try StringToKey(&cursor, body)
      form = .version4(encrypted: cursor.readRest(body))
    case 6:
      let end = Int(try cursor.readByte(body)) + cursor.offset
      cipher = SymmetricAlgorithm(rawValue: try cursor.readByte(body))
      let aead = AEADAlgorithm(rawValue: try cursor.readByte(body))
      let count = Int(try cursor.readByte(body))
      stringToKey = try StringToKey(&cursor, body, count: count)
      guard let nonceByteCount = aead.nonceByteCount else {
        throw .unsupported(.aeadAlgorithm(aead.rawValue))
      }
      let nonce = try cursor.readBytes(body, count: nonceByteCount)
      guard cursor.offset == end else { throw .malformed(.sessionKey) }
      form = .version6(aead, nonce: nonce, encrypted: cursor.readRest(body))
    default: throw .unsupported(.packetVersion(.skesk, version))
    }
  }

  /// The body of the packet.
  public var body: [UInt8] {
    switch form {
    case .version4(let encrypted): return [4, cipher.rawValue] + stringToKey.bytes + encrypted
    case .version6(let aead, let nonce, let encrypted):
      let specifier = stringToKey.bytes
      let count = 3 + specifier.count + nonce.count
      return [6, UInt8(count), cipher.rawValue, aead.rawValue, UInt8(specifier.count)] + specifier + nonce
        + encrypted
    }
  }
}

extension SKESK {
  /// The session key.
  /// - Throws: ``OpenPGPError/notAuthentic`` for another password, as far as that can be seen here; what the
  ///   derivation throws.
  func open(password: SharedSecretBytes) throws(OpenPGPError) -> SessionKey {
    guard let keyByteCount = cipher.keyByteCount else {
      throw .unsupported(.symmetricAlgorithm(cipher.rawValue))
    }
    let derived = try password.withBytes { (password) throws(OpenPGPError) in
      try stringToKey.deriveKey(password: password, byteCount: keyByteCount)
    }
    switch form {
    case .version4(let encrypted) where encrypted.isEmpty:
      return SessionKey(cipher: cipher, bytes: SharedSecretBytes(derived))
    case .version4(let encrypted): return try openVersion4(encrypted, derived)
    case .version6(let aead, let nonce, let encrypted):
      let fields = fields(aead)
      let key = try sealed(aead, derived, .open) { (cipher) throws(OpenPGPError) in
        var bytes = SecretBytes(copying: encrypted.rawSpan)
        try bytes.withMutableBytes { (bytes) throws(OpenPGPError) in
          try cipher.open(
            &bytes, nonce: nonce.rawSpan, authenticating: fields.rawSpan)
        }
        bytes.shorten(to: bytes.count - AEADAlgorithm.tagByteCount)
        return SharedSecretBytes(bytes)
      }
      return SessionKey(cipher: nil, bytes: key)
    }
  }

  /// A packet of version 4: the number of the cipher and the key, in CFB with an IV of zeros.
  static func version4(
    _ key: SessionKey, cipher: SymmetricAlgorithm, password: SharedSecretBytes, _ stringToKey: StringToKey
  ) throws(OpenPGPError) -> SKESK {
    let derived = try password.withBytes { (password) throws(OpenPGPError) in
      try stringToKey.deriveKey(password: password, byteCount: cipher.keyByteCount ?? 0)
    }
    var writer = SecretWriter(byteCount: key.bytes.count + 1)
    writer.append([(key.cipher ?? cipher).rawValue])
    key.bytes.withBytes { writer.append($0) }
    var bytes = writer.finish()
    var stream = try derived.withBytes { (derived) throws(OpenPGPError) in
      try SEIPDv1Prefix.cipher(cipher, .encrypt, key: derived)
    }
    bytes.withMutableBytes { stream.process(&$0) }
    let encrypted = bytes.withBytes { [UInt8](copying: $0) }
    return SKESK(
      cipher: cipher, stringToKey: stringToKey, form: .version4(encrypted: encrypted))
  }

  /// A packet of version 6: the key under AEAD.
  static func version6(
    _ key: SessionKey, _ suite: AEADCiphersuite, password: SharedSecretBytes, _ stringToKey: StringToKey
  ) throws(OpenPGPError) -> SKESK {
    let nonce = SystemRandom.publicBytes(count: suite.aead.nonceByteCount ?? 0)
    let draft = SKESK(
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
          &bytes, nonce: nonce.rawSpan,
          authenticating: fields.rawSpan)
      }
      return bytes.withBytes { [UInt8](copying: $0) }
    }
    return SKESK(
      cipher: suite.cipher, stringToKey: stringToKey,
      form: .version6(suite.aead, nonce: nonce, encrypted: encrypted))
  }

  private func openVersion4(
    _ encrypted: [UInt8], _ derived: borrowing SecretBytes
  ) throws(OpenPGPError) -> SessionKey {
    var stream = try derived.withBytes { (derived) throws(OpenPGPError) in
      try SEIPDv1Prefix.cipher(cipher, .decrypt, key: derived)
    }
    var bytes = SecretBytes(copying: encrypted.rawSpan)
    bytes.withMutableBytes { stream.process(&$0) }
    let algorithm = bytes.withBytes {
      SymmetricAlgorithm(rawValue: unsafe $0.unsafeLoad(as: UInt8.self))
    }
    guard algorithm.keyByteCount == bytes.count - 1 else { throw .notAuthentic }
    let key = bytes.withBytes { SecretBytes(copying: $0.extracting(1..<$0.byteCount)) }
    return SessionKey(cipher: algorithm, bytes: SharedSecretBytes(key))
  }

  /// The fields that version 6 authenticates and derives its key with.
  private func fields(_ aead: AEADAlgorithm) -> [UInt8] {
    [0xC0 | PacketType.skesk.rawValue, 6, cipher.rawValue, aead.rawValue]
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

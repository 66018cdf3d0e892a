// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.3: versions 4 and 6. LibrePGP's version 5 is a packet of unknown form.

/// A session key encrypted with a password, or derived from it.
public struct SKESK: Hashable, Sendable {
  /// The two forms.
  public enum Form: Hashable, Sendable {
    /// Version 4: CFB; without an encrypted key the derived key is the session key.
    case version4(encrypted: [UInt8])
    /// Version 6: the encrypted key is followed by its tag.
    case version6(AEADAlgorithm, nonce: [UInt8], encrypted: [UInt8])
  }

  public let cipher: SymmetricAlgorithm
  public let stringToKey: StringToKey
  public let form: Form

  /// 4 or 6.
  public var version: UInt8 {
    switch form {
    case .version4: 4
    case .version6: 6
    }
  }

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

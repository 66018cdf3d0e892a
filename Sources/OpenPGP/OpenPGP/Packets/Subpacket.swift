// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3.7: signature subpackets, known or not, and the areas that hold them, whose octets
// are kept as they were read. How the content of each type is read and written is in Subpacket+Content.

internal import Primitives
internal import Secrets

/// A signature subpacket.
///
/// [RFC 9580, section 5.2.3.7](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.3.7)
public struct Subpacket: Hashable, Sendable {
  /// The type, known or not.
  public let type: SubpacketType
  /// Whether a reader that does not know the type must treat the signature as invalid.
  public let isCritical: Bool
  /// What comes after the type octet.
  public let body: [UInt8]
  /// What `body` means; nil for a type that this engine does not know.
  public let content: Content?

  /// What the known types say, in the registry's order.
  public enum Content: Hashable, Sendable {
    /// When the signature was made.
    case signatureCreationTime(Timestamp)
    /// Seconds after the creation of the signature; 0 is never.
    case signatureExpirationTime(seconds: UInt32)
    /// Whether others may be given the certification.
    case exportableCertification(Bool)
    /// How far certifications by the certified key are trusted; read and not used.
    case trustSignature(level: UInt8, amount: UInt8)
    /// Limits trust to some user IDs; read and not used.
    case regularExpression
    /// Whether the signature can be revoked.
    case revocable(Bool)
    /// Seconds after the creation of the key; 0 is never.
    case keyExpirationTime(seconds: UInt32)
    /// The ciphers that the holder prefers.
    case preferredSymmetricAlgorithms([SymmetricAlgorithm])
    /// Another key that may revoke this one.
    case revocationKey(RevocationKey)
    /// The ID of the key that made the signature: a hint.
    case issuerKeyID(KeyID)
    /// A named value.
    case notation(Notation)
    /// The hashes that the holder prefers.
    case preferredHashAlgorithms([HashAlgorithm])
    /// The compressions that the holder prefers.
    case preferredCompressionAlgorithms([CompressionAlgorithm])
    /// What key servers should do.
    case keyServerPreferences([UInt8])
    /// Where the holder publishes updates.
    case preferredKeyServer([UInt8])
    /// Whether this is the user ID that speaks for the certificate.
    case primaryUserID(Bool)
    /// Where the issuer states a policy.
    case policyURI([UInt8])
    /// What the key may be used for.
    case keyFlags(KeyFlags)
    /// Which of the signer's user IDs is meant.
    case signersUserID([UInt8])
    /// Why something was revoked.
    case reasonForRevocation(RevocationReason)
    /// What the software of the holder can read.
    case features(Features)
    /// Another signature that this one is about; read and not used.
    case signatureTarget
    /// Elsewhere in memory: else every subpacket would have room for a signature.
    indirect case embeddedSignature(Signature)
    /// The fingerprint of the key that made the signature: a hint.
    case issuerFingerprint(Fingerprint)
    /// The primary key of somebody the signed message is for.
    case intendedRecipientFingerprint(Fingerprint)
    /// The pairs of cipher and AEAD that the holder prefers.
    case preferredAEADCiphersuites([AEADCiphersuite])
    /// The primary key that replaces this one, or those that it replaces.
    case keyReplacement(KeyReplacement)
  }
}

/// A key that may revoke another one besides its owner; read only.
///
/// [RFC 9580, section 5.2.3.23](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.3.23)
public struct RevocationKey: Hashable, Sendable {
  /// Whether the holder asks not to publish who it is.
  public let isSensitive: Bool
  /// The algorithm of that key.
  public let algorithm: PublicKeyAlgorithm
  /// The fingerprint of that key.
  public let fingerprint: Fingerprint
}

/// A notation.
///
/// [RFC 9580, section 5.2.3.24](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.3.24)
public struct Notation: Hashable, Sendable {
  /// Whether the value is text.
  public let isHumanReadable: Bool
  /// The name, UTF-8 by the standard.
  public let name: [UInt8]
  /// The value.
  public let value: [UInt8]

  /// A notation to be written.
  public init(isHumanReadable: Bool, name: [UInt8], value: [UInt8]) {
    self.isHumanReadable = isHumanReadable
    self.name = name
    self.value = value
  }
}

/// A pair of cipher and AEAD algorithm that a recipient can read.
///
/// [RFC 9580, section 5.2.3.15](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.3.15)
public struct AEADCiphersuite: Hashable, Sendable {
  /// The cipher.
  public let cipher: SymmetricAlgorithm
  /// The AEAD algorithm.
  public let aead: AEADAlgorithm

  /// A pair of cipher and AEAD algorithm.
  public init(_ cipher: SymmetricAlgorithm, _ aead: AEADAlgorithm) {
    self.cipher = cipher
    self.aead = aead
  }
}

/// The hashed or the unhashed subpackets of a signature.
///
/// [RFC 9580, section 5.2.3.7](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.3.7)
public struct SubpacketArea: Hashable, Sendable {
  /// The octets as they came, or as they are to be written.
  public let bytes: [UInt8]
  /// Their contents, in their order.
  public let subpackets: [Subpacket]

  /// An area to be written.
  public init(_ subpackets: [Subpacket] = []) {
    self.subpackets = subpackets
    var output: [UInt8] = []
    for subpacket in subpackets {
      let count = subpacket.body.count + 1
      PacketHeader.write(
        length: count, octetCount: count < 192 ? 1 : count < 16320 ? 2 : 5, to: &output)
      output.append(subpacket.type.rawValue | (subpacket.isCritical ? 0x80 : 0))
      output += subpacket.body
    }
    bytes = output
  }

  init(bytes: [UInt8], isEmbedded: Bool) throws(OpenPGPError) {
    self.bytes = bytes
    var subpackets: [Subpacket] = []
    let area = bytes.rawSpan
    var cursor = PacketCursor()
    while !cursor.isAtEnd(area) {
      let count = try Self.readLength(&cursor, area)
      guard count > 0 else { throw .malformed(.subpacket) }
      let octet = try cursor.readByte(area)
      let body = try cursor.readBytes(area, count: count - 1)
      subpackets.append(try Subpacket(typeOctet: octet, body: body, isEmbedded: isEmbedded))
    }
    self.subpackets = subpackets
  }

  /// The last content that `select` picks, as the standard advises where there should be one (section 5.2.3.9).
  func last<Value>(_ select: (Subpacket.Content) -> Value?) -> Value? {
    for subpacket in subpackets.reversed() {
      if let content = subpacket.content, let value = select(content) { return value }
    }
    return nil
  }

  /// All contents that `select` picks.
  func all<Value>(_ select: (Subpacket.Content) -> Value?) -> [Value] {
    subpackets.compactMap { $0.content.flatMap(select) }
  }

  /// Like that of packets, and the second octet form reaches further (section 5.2.3.7).
  private static func readLength(
    _ cursor: inout PacketCursor, _ area: RawSpan
  ) throws(OpenPGPError) -> Int {
    let first = Int(try cursor.readByte(area))
    switch first {
    case 0..<192: return first
    case 192..<255: return (first - 192) << 8 + Int(try cursor.readByte(area)) + 192
    default: return Int(try cursor.readUInt32(area))
    }
  }
}

/// A signature subpacket type ID, without the critical bit.
///
/// [RFC 9580, section 5.2.3.7](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.3.7)
public struct SubpacketType: RawRepresentable, Hashable, Sendable {
  /// The number in the registry.
  public let rawValue: UInt8

  /// A value by its number, known here or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// When the signature was made (section 5.2.3.11).
  public static let signatureCreationTime = SubpacketType(rawValue: 2)
  /// When the signature ends (section 5.2.3.18).
  public static let signatureExpirationTime = SubpacketType(rawValue: 3)
  /// Whether the certification may be exported (section 5.2.3.19).
  public static let exportableCertification = SubpacketType(rawValue: 4)
  /// Depth and amount of trust (section 5.2.3.21).
  public static let trustSignature = SubpacketType(rawValue: 5)
  /// A limit of trust (section 5.2.3.22).
  public static let regularExpression = SubpacketType(rawValue: 6)
  /// Whether the signature can be revoked (section 5.2.3.20).
  public static let revocable = SubpacketType(rawValue: 7)
  /// When the key ends (section 5.2.3.13).
  public static let keyExpirationTime = SubpacketType(rawValue: 9)
  /// Preferred ciphers for version 1 (section 5.2.3.14).
  public static let preferredSymmetricAlgorithms = SubpacketType(rawValue: 11)
  /// Another key that may revoke (section 5.2.3.23).
  public static let revocationKey = SubpacketType(rawValue: 12)
  /// The ID of the issuer (section 5.2.3.12).
  public static let issuerKeyID = SubpacketType(rawValue: 16)
  /// A named value (section 5.2.3.24).
  public static let notation = SubpacketType(rawValue: 20)
  /// Preferred hashes (section 5.2.3.16).
  public static let preferredHashAlgorithms = SubpacketType(rawValue: 21)
  /// Preferred compressions (section 5.2.3.17).
  public static let preferredCompressionAlgorithms = SubpacketType(rawValue: 22)
  /// Preferences for key servers (section 5.2.3.25).
  public static let keyServerPreferences = SubpacketType(rawValue: 23)
  /// The preferred key server (section 5.2.3.26).
  public static let preferredKeyServer = SubpacketType(rawValue: 24)
  /// Whether the user ID is the primary one (section 5.2.3.27).
  public static let primaryUserID = SubpacketType(rawValue: 25)
  /// The URI of a policy (section 5.2.3.28).
  public static let policyURI = SubpacketType(rawValue: 26)
  /// What the key is for (section 5.2.3.29).
  public static let keyFlags = SubpacketType(rawValue: 27)
  /// The user ID of the signer (section 5.2.3.30).
  public static let signersUserID = SubpacketType(rawValue: 28)
  /// Why something was revoked (section 5.2.3.31).
  public static let reasonForRevocation = SubpacketType(rawValue: 29)
  /// What the holder can read (section 5.2.3.32).
  public static let features = SubpacketType(rawValue: 30)
  /// Another signature (section 5.2.3.33).
  public static let signatureTarget = SubpacketType(rawValue: 31)
  /// A signature within (section 5.2.3.34).
  public static let embeddedSignature = SubpacketType(rawValue: 32)
  /// The fingerprint of the issuer (section 5.2.3.35).
  public static let issuerFingerprint = SubpacketType(rawValue: 33)
  /// Whom the message is for (section 5.2.3.36).
  public static let intendedRecipientFingerprint = SubpacketType(rawValue: 35)
  /// Preferred pairs for version 2 (section 5.2.3.15).
  public static let preferredAEADCiphersuites = SubpacketType(rawValue: 39)
  /// What replaces the key, or what it replaces; a number for experiments, see `KeyReplacement`.
  public static let keyReplacement = SubpacketType(rawValue: 100)
}

/// What a key may be used for.
///
/// [RFC 9580, section 5.2.3.29](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.3.29)
public struct KeyFlags: OptionSet, Hashable, Sendable {
  /// The first two octets of the field; the first octet is the lower one.
  public let rawValue: UInt16

  /// Flags by their bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// May certify keys and user IDs.
  public static let certify = KeyFlags(rawValue: 0x01)
  /// May sign data.
  public static let sign = KeyFlags(rawValue: 0x02)
  /// May encrypt messages.
  public static let encryptCommunications = KeyFlags(rawValue: 0x04)
  /// May encrypt stored data.
  public static let encryptStorage = KeyFlags(rawValue: 0x08)
  /// The secret part may have been split.
  public static let split = KeyFlags(rawValue: 0x10)
  /// May be used for authentication.
  public static let authenticate = KeyFlags(rawValue: 0x20)
  /// Several people may have the secret part.
  public static let group = KeyFlags(rawValue: 0x80)

  /// The first octet of the field is the lowest.
  init(bytes: [UInt8]) {
    let low = UInt16(bytes.first ?? 0)
    let high = UInt16(bytes.count > 1 ? bytes[1] : 0)
    rawValue = high << 8 | low
  }

  /// One octet, or two when the second has a flag.
  var bytes: [UInt8] {
    let low = UInt8(truncatingIfNeeded: rawValue)
    let high = UInt8(truncatingIfNeeded: rawValue >> 8)
    return high == 0 ? [low] : [low, high]
  }
}

/// What the software of a certificate's holder can read. Bits 0x02 and 0x04 are
/// LibrePGP's, and are never written.
///
/// [RFC 9580, section 5.2.3.32](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.3.32)
public struct Features: OptionSet, Hashable, Sendable {
  /// The first octet of the field.
  public let rawValue: UInt8

  /// Features by their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Symmetrically encrypted and integrity protected data, version 1.
  public static let seipdVersion1 = Features(rawValue: 0x01)
  /// Symmetrically encrypted and integrity protected data, version 2.
  public static let seipdVersion2 = Features(rawValue: 0x08)
}

/// Why a key or a user ID was revoked.
///
/// [RFC 9580, section 5.2.3.31](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.3.31)
public struct RevocationReason: Hashable, Sendable {
  /// The reason by its number.
  public let code: Code
  /// Text for people, UTF-8 by the standard and unchecked here.
  public let text: [UInt8]

  /// A reason, with words for people if you like.
  public init(_ code: Code, text: [UInt8] = []) {
    self.code = code
    self.text = text
  }

  /// The registry's order.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The octet in the subpacket.
    public let rawValue: UInt8

    /// A code by its octet, known here or not.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// No reason is given: hard.
    public static let none = Code(rawValue: 0)
    /// There is a newer key: soft.
    public static let superseded = Code(rawValue: 1)
    /// Somebody else may have the secret key: hard.
    public static let compromised = Code(rawValue: 2)
    /// The key is no longer used: soft.
    public static let retired = Code(rawValue: 3)
    /// The user ID is no longer right: soft.
    public static let userIDInvalid = Code(rawValue: 32)
  }

  /// Whether only signatures made later are worthless: superseded and retired keys, user IDs given up. All
  /// other reasons, unknown ones and none at all put everything in doubt.
  public var isSoft: Bool { [.superseded, .retired, .userIDInvalid].contains(code) }
}

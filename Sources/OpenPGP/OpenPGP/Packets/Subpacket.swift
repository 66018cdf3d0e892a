// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3.7: signature subpackets, known or not, and the areas that hold them, whose octets
// are kept as they were read. How the content of each type is read and written is in Subpacket+Content.

internal import Primitives

/// A signature subpacket.
public struct Subpacket: Hashable, Sendable {
  public let type: SubpacketType
  /// Whether who does not know it must treat the signature as invalid.
  public let isCritical: Bool
  /// What stands behind the type octet.
  public let body: [UInt8]
  /// What `body` means; nil for a type that this engine does not know.
  public let content: Content?

  /// What the known types say, in the registry's order.
  public enum Content: Hashable, Sendable {
    case signatureCreationTime(Timestamp)
    /// Seconds after the creation of the signature; 0 is never.
    case signatureExpirationTime(seconds: UInt32)
    case exportableCertification(Bool)
    case trustSignature(level: UInt8, amount: UInt8)
    case regularExpression
    case revocable(Bool)
    /// Seconds after the creation of the key; 0 is never.
    case keyExpirationTime(seconds: UInt32)
    case preferredSymmetricAlgorithms([SymmetricAlgorithm])
    case revocationKey(RevocationKey)
    case issuerKeyID(KeyID)
    case notation(Notation)
    case preferredHashAlgorithms([HashAlgorithm])
    case preferredCompressionAlgorithms([CompressionAlgorithm])
    case keyServerPreferences([UInt8])
    case preferredKeyServer([UInt8])
    case primaryUserID(Bool)
    case policyURI([UInt8])
    case keyFlags(KeyFlags)
    case signersUserID([UInt8])
    case reasonForRevocation(RevocationReason)
    case features(Features)
    case signatureTarget
    /// Elsewhere in memory: else every subpacket would have room for a signature.
    indirect case embeddedSignature(Signature)
    case issuerFingerprint(Fingerprint)
    case intendedRecipientFingerprint(Fingerprint)
    case preferredAEADCiphersuites([AEADCiphersuite])
  }
}

/// Who may revoke a key besides its owner (section 5.2.3.23); read only.
public struct RevocationKey: Hashable, Sendable {
  public let isSensitive: Bool
  public let algorithm: PublicKeyAlgorithm
  public let fingerprint: Fingerprint
}

/// A notation (section 5.2.3.24).
public struct Notation: Hashable, Sendable {
  public let isHumanReadable: Bool
  public let name: [UInt8]
  public let value: [UInt8]

  public init(isHumanReadable: Bool, name: [UInt8], value: [UInt8]) {
    self.isHumanReadable = isHumanReadable
    self.name = name
    self.value = value
  }
}

/// A pair of cipher and AEAD algorithm that a recipient can read (section 5.2.3.15).
public struct AEADCiphersuite: Hashable, Sendable {
  public let cipher: SymmetricAlgorithm
  public let aead: AEADAlgorithm

  public init(_ cipher: SymmetricAlgorithm, _ aead: AEADAlgorithm) {
    self.cipher = cipher
    self.aead = aead
  }
}

/// The hashed or the unhashed subpackets of a signature.
public struct SubpacketArea: Hashable, Sendable {
  public let bytes: [UInt8]
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
    let area = unsafe bytes.span.bytes
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

  /// The last content that `select` picks, as the standard advises where one should stand (section 5.2.3.9).
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
public struct SubpacketType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let signatureCreationTime = SubpacketType(rawValue: 2)
  public static let signatureExpirationTime = SubpacketType(rawValue: 3)
  public static let exportableCertification = SubpacketType(rawValue: 4)
  public static let trustSignature = SubpacketType(rawValue: 5)
  public static let regularExpression = SubpacketType(rawValue: 6)
  public static let revocable = SubpacketType(rawValue: 7)
  public static let keyExpirationTime = SubpacketType(rawValue: 9)
  public static let preferredSymmetricAlgorithms = SubpacketType(rawValue: 11)
  public static let revocationKey = SubpacketType(rawValue: 12)
  public static let issuerKeyID = SubpacketType(rawValue: 16)
  public static let notation = SubpacketType(rawValue: 20)
  public static let preferredHashAlgorithms = SubpacketType(rawValue: 21)
  public static let preferredCompressionAlgorithms = SubpacketType(rawValue: 22)
  public static let keyServerPreferences = SubpacketType(rawValue: 23)
  public static let preferredKeyServer = SubpacketType(rawValue: 24)
  public static let primaryUserID = SubpacketType(rawValue: 25)
  public static let policyURI = SubpacketType(rawValue: 26)
  public static let keyFlags = SubpacketType(rawValue: 27)
  public static let signersUserID = SubpacketType(rawValue: 28)
  public static let reasonForRevocation = SubpacketType(rawValue: 29)
  public static let features = SubpacketType(rawValue: 30)
  public static let signatureTarget = SubpacketType(rawValue: 31)
  public static let embeddedSignature = SubpacketType(rawValue: 32)
  public static let issuerFingerprint = SubpacketType(rawValue: 33)
  public static let intendedRecipientFingerprint = SubpacketType(rawValue: 35)
  public static let preferredAEADCiphersuites = SubpacketType(rawValue: 39)
}

/// What a key may be used for.
public struct KeyFlags: OptionSet, Hashable, Sendable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let certify = KeyFlags(rawValue: 0x01)
  public static let sign = KeyFlags(rawValue: 0x02)
  public static let encryptCommunications = KeyFlags(rawValue: 0x04)
  public static let encryptStorage = KeyFlags(rawValue: 0x08)
  public static let split = KeyFlags(rawValue: 0x10)
  public static let authenticate = KeyFlags(rawValue: 0x20)
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

/// What the software of a certificate's holder can read (RFC 9580, section 5.2.3.32). Bits 0x02 and 0x04 are
/// LibrePGP's, and are never written.
public struct Features: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Symmetrically encrypted and integrity protected data, version 1.
  public static let seipdVersion1 = Features(rawValue: 0x01)
  /// Symmetrically encrypted and integrity protected data, version 2.
  public static let seipdVersion2 = Features(rawValue: 0x08)
}

/// Why a key or a user ID was revoked.
public struct RevocationReason: Hashable, Sendable {
  public let code: Code
  /// Text for people, UTF-8 by the standard and unchecked here.
  public let text: [UInt8]

  public init(_ code: Code, text: [UInt8] = []) {
    self.code = code
    self.text = text
  }

  /// The registry's order.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let none = Code(rawValue: 0)
    public static let superseded = Code(rawValue: 1)
    public static let compromised = Code(rawValue: 2)
    public static let retired = Code(rawValue: 3)
    public static let userIDInvalid = Code(rawValue: 32)
  }

  /// Whether only signatures made later are worthless: superseded and retired keys, user IDs given up. All
  /// other reasons, unknown ones and none at all put everything in doubt.
  public var isSoft: Bool { [.superseded, .retired, .userIDInvalid].contains(code) }
}

// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5: the packets that are held in memory, in the registry's order. Data packets are
// streamed by the code that knows what is in them.

internal import Primitives
public import Secrets

/// A packet with its body.
///
/// [RFC 9580, section 5](https://www.rfc-editor.org/rfc/rfc9580#section-5)
public enum Packet: Sendable {
  /// A session key encrypted to a public key (section 5.1).
  case pkesk(PKESK)
  /// A signature (section 5.2).
  case signature(Signature)
  /// A session key under a password (section 5.3).
  case skesk(SKESK)
  /// A one-pass signature (section 5.4).
  case onePassSignature(OnePassSignature)
  /// A primary secret key (section 5.5.1.3).
  case secretKey(SecretKey)
  /// A primary public key (section 5.5.1.1).
  case publicKey(PublicKey)
  /// A secret subkey (section 5.5.1.4).
  case secretSubkey(SecretKey)
  /// A marker, which means nothing (section 5.8).
  case marker
  /// Trust, which is for the keyring it is in and no other (section 5.10).
  case trust([UInt8])
  /// A user ID (section 5.11).
  case userID(UserID)
  /// A public subkey (section 5.5.1.2).
  case publicSubkey(PublicKey)
  /// A user attribute (section 5.12).
  case userAttribute(UserAttribute)
  /// Padding, which means nothing (section 5.14).
  case padding([UInt8])
  /// Of a type or version that this engine does not have, or malformed; `why` says which of these.
  case unknown(PacketType, body: [UInt8], why: OpenPGPError)
  /// The same of a secret key, whose body stays in memory for secrets.
  case unknownSecret(PacketType, body: SharedSecretBytes, why: OpenPGPError)

  /// The packet of this type and body. A body that cannot be read becomes ``unknown(_:body:why:)``, so that
  /// one packet never spoils a sequence in which it may be skipped.
  public init(type: PacketType, body: RawSpan) {
    do {
      self = try Self.parse(type, body)
    } catch {
      self =
        type == .secretKey || type == .secretSubkey
        ? .unknownSecret(type, body: SharedSecretBytes(SecretBytes(copying: body)), why: error)
        : .unknown(type, body: [UInt8](copying: body), why: error)
    }
  }

  private static func parse(_ type: PacketType, _ body: RawSpan) throws(OpenPGPError) -> Packet {
    switch type {
    case .pkesk:
      return .pkesk(try PKESK(body: body))
    case .signature: return .signature(try Signature(body: body))
    case .skesk:
      return .skesk(try SKESK(body: body))
    case .onePassSignature: return .onePassSignature(try OnePassSignature(body: body))
    case .secretKey: return .secretKey(try SecretKey(body: body))
    case .publicKey: return .publicKey(try PublicKey(body: body))
    case .secretSubkey: return .secretSubkey(try SecretKey(body: body))
    case .marker:
      guard [UInt8](copying: body) == markerBody else { throw .malformed(.packetHeader) }
      return .marker
    case .trust: return .trust([UInt8](copying: body))
    case .userID: return .userID(UserID(bytes: [UInt8](copying: body)))
    case .publicSubkey: return .publicSubkey(try PublicKey(body: body))
    case .userAttribute: return .userAttribute(UserAttribute(bytes: [UInt8](copying: body)))
    case .padding: return .padding([UInt8](copying: body))
    default: throw .unsupported(.packetType(type.rawValue))
    }
  }

  /// The type, known or not.
  public var type: PacketType {
    switch self {
    case .pkesk: .pkesk
    case .signature: .signature
    case .skesk: .skesk
    case .onePassSignature: .onePassSignature
    case .secretKey: .secretKey
    case .publicKey: .publicKey
    case .secretSubkey: .secretSubkey
    case .marker: .marker
    case .trust: .trust
    case .userID: .userID
    case .publicSubkey: .publicSubkey
    case .userAttribute: .userAttribute
    case .padding: .padding
    case .unknown(let type, _, _), .unknownSecret(let type, _, _): type
    }
  }

  /// The body, in memory for secrets, since it may be a secret key.
  public func body() -> SecretBytes {
    let bytes: [UInt8]
    switch self {
    case .pkesk(let packet): bytes = packet.body
    case .signature(let packet): bytes = packet.body
    case .skesk(let packet): bytes = packet.body
    case .onePassSignature(let packet): bytes = packet.body
    case .secretKey(let packet), .secretSubkey(let packet): return packet.body()
    case .unknownSecret(_, let body, _): return body.withBytes { SecretBytes(copying: $0) }
    case .publicKey(let packet), .publicSubkey(let packet): bytes = packet.body
    case .marker: bytes = Self.markerBody
    case .userID(let packet): bytes = packet.bytes
    case .userAttribute(let packet): bytes = packet.bytes
    case .trust(let body), .padding(let body), .unknown(_, let body, _): bytes = body
    }
    var writer = SecretWriter(byteCount: bytes.count)
    writer.append(bytes)
    return writer.finish()
  }

  /// Writes the packet with a header in the OpenPGP format.
  public func write(to sink: any ByteSink) throws(OpenPGPError) {
    let body = body()
    try sink.write(PacketHeader(type: type, byteCount: body.count).bytes)
    try body.withBytes { (bytes) throws(OpenPGPError) in try sink.write(bytes) }
  }

  private static let markerBody = Array("PGP".utf8)
}

/// A packet type ID.
///
/// [RFC 9580, section 5](https://www.rfc-editor.org/rfc/rfc9580#section-5)
public struct PacketType: RawRepresentable, Hashable, Sendable {
  /// The number in the registry, 0 to 63.
  public let rawValue: UInt8

  /// A value by its number, known here or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Must not be used.
  public static let reserved = PacketType(rawValue: 0)
  /// A session key encrypted to a public key.
  public static let pkesk = PacketType(rawValue: 1)
  /// A signature.
  public static let signature = PacketType(rawValue: 2)
  /// A session key under a password.
  public static let skesk = PacketType(rawValue: 3)
  /// A one-pass signature.
  public static let onePassSignature = PacketType(rawValue: 4)
  /// A primary secret key.
  public static let secretKey = PacketType(rawValue: 5)
  /// A primary public key.
  public static let publicKey = PacketType(rawValue: 6)
  /// A secret subkey.
  public static let secretSubkey = PacketType(rawValue: 7)
  /// Compressed data.
  public static let compressedData = PacketType(rawValue: 8)
  /// Encrypted data without protection of its integrity: always refused.
  public static let symmetricallyEncryptedData = PacketType(rawValue: 9)
  /// A marker.
  public static let marker = PacketType(rawValue: 10)
  /// Literal data.
  public static let literalData = PacketType(rawValue: 11)
  /// Trust.
  public static let trust = PacketType(rawValue: 12)
  /// A user ID.
  public static let userID = PacketType(rawValue: 13)
  /// A public subkey.
  public static let publicSubkey = PacketType(rawValue: 14)
  /// A user attribute.
  public static let userAttribute = PacketType(rawValue: 17)
  /// Encrypted data with protection of its integrity.
  public static let seipd = PacketType(rawValue: 18)
  /// LibrePGP's OCB packet, which is not of the standard.
  public static let ocbEncryptedData = PacketType(rawValue: 20)
  /// Padding.
  public static let padding = PacketType(rawValue: 21)

  /// Whether the packet may have partial body lengths, and is streamed.
  public var isData: Bool {
    switch self {
    case .compressedData, .symmetricallyEncryptedData, .literalData, .seipd,
      .ocbEncryptedData:
      true
    default: false
    }
  }

  /// Whether a reader that does not know the type must refuse the packet sequence (section 4.3): types 0 to 39.
  public var isCritical: Bool { rawValue < 40 }
}

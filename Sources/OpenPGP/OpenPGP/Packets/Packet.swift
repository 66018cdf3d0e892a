// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5: the packets that are held in memory, in the registry's order. Data packets are
// streamed by the code that knows what is in them.

internal import Primitives
public import Secrets

/// A packet with its body.
public enum Packet: Sendable {
  case pkesk(PKESK)
  case signature(Signature)
  case skesk(SKESK)
  case onePassSignature(OnePassSignature)
  case secretKey(SecretKey)
  case publicKey(PublicKey)
  case secretSubkey(SecretKey)
  case marker
  case trust([UInt8])
  case userID(UserID)
  case publicSubkey(PublicKey)
  case userAttribute(UserAttribute)
  case padding([UInt8])
  /// Of a type or version that this engine does not have, or malformed; `why` says which of these.
  case unknown(PacketType, body: [UInt8], why: OpenPGPError)
  /// The same of a secret key, whose body stays in memory for secrets.
  case unknownSecret(PacketType, body: SharedSecretBytes, why: OpenPGPError)

  /// The packet of this type and body. What cannot be read becomes ``unknown(_:body:why:)``, so that one
  /// packet never spoils a sequence in which it may be skipped.
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
public struct PacketType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let reserved = PacketType(rawValue: 0)
  public static let pkesk = PacketType(rawValue: 1)
  public static let signature = PacketType(rawValue: 2)
  public static let skesk = PacketType(rawValue: 3)
  public static let onePassSignature = PacketType(rawValue: 4)
  public static let secretKey = PacketType(rawValue: 5)
  public static let publicKey = PacketType(rawValue: 6)
  public static let secretSubkey = PacketType(rawValue: 7)
  public static let compressedData = PacketType(rawValue: 8)
  public static let symmetricallyEncryptedData = PacketType(rawValue: 9)
  public static let marker = PacketType(rawValue: 10)
  public static let literalData = PacketType(rawValue: 11)
  public static let trust = PacketType(rawValue: 12)
  public static let userID = PacketType(rawValue: 13)
  public static let publicSubkey = PacketType(rawValue: 14)
  public static let userAttribute = PacketType(rawValue: 17)
  public static let seipd = PacketType(rawValue: 18)
  /// LibrePGP's OCB packet, which is not of the standard.
  public static let ocbEncryptedData = PacketType(rawValue: 20)
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

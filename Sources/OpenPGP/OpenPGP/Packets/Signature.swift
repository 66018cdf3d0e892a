// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2: signature packets of versions 3, 4 and 6. Both subpacket areas are kept as they were
// read: the hashed one is hashed, and unknown subpackets must survive.

internal import PostQuantum
internal import Primitives

/// A signature packet.
///
/// [RFC 9580, section 5.2](https://www.rfc-editor.org/rfc/rfc9580#section-5.2)
public struct Signature: Hashable, Sendable {
  /// 3, 4 or 6.
  public let version: UInt8
  /// Its kind of target, and its meaning.
  public let type: SignatureType
  /// The algorithm of the key that made it.
  public let algorithm: PublicKeyAlgorithm
  /// The hash of the signed data.
  public let hash: HashAlgorithm
  /// Of version 3 only.
  let version3: Version3Fields?
  /// Subpackets that are signed.
  public let hashedArea: SubpacketArea
  /// Subpackets that anybody can change.
  public let unhashedArea: SubpacketArea
  /// The first two octets of the digest: a hint that finds a wrong pairing early.
  public let digestPrefix: [UInt8]
  /// Version 6: as many octets as the hash algorithm wants; else empty.
  public let salt: [UInt8]
  /// The signature proper, which the key made.
  public let material: SignatureMaterial

  struct Version3Fields: Hashable, Sendable {
    let creationTime: Timestamp
    let issuer: KeyID
  }

  /// A signature of version 4 or 6.
  init(
    version: UInt8, type: SignatureType, algorithm: PublicKeyAlgorithm, hash: HashAlgorithm,
    hashedArea: SubpacketArea, unhashedArea: SubpacketArea, digestPrefix: [UInt8], salt: [UInt8],
    material: SignatureMaterial
  ) {
    self.version = version
    self.type = type
    self.algorithm = algorithm
    self.hash = hash
    version3 = nil
    self.hashedArea = hashedArea
    self.unhashedArea = unhashedArea
    self.digestPrefix = digestPrefix
    self.salt = salt
    self.material = material
  }

  /// - Parameter isEmbedded: whether it is in another signature; then signatures in it stay unread, so
  ///   that no input decides how deep this goes.
  init(body: RawSpan, isEmbedded: Bool = false) throws(OpenPGPError) {
    var cursor = PacketCursor()
    version = try cursor.readByte(body)
    switch version {
    case 3:
      guard try cursor.readByte(body) == 5 else { throw .malformed(.signature) }
      type = SignatureType(rawValue: try cursor.readByte(body))
      let creationTime = try cursor.readTime(body)
      let issuer = KeyID(bytes: try cursor.readBytes(body, count: KeyID.byteCount))
      version3 = Version3Fields(creationTime: creationTime, issuer: issuer)
      algorithm = PublicKeyAlgorithm(rawValue: try cursor.readByte(body))
      hash = HashAlgorithm(rawValue: try cursor.readByte(body))
      hashedArea = SubpacketArea()
      unhashedArea = SubpacketArea()
    case 4, 6:
      version3 = nil
      type = SignatureType(rawValue: try cursor.readByte(body))
      algorithm = PublicKeyAlgorithm(rawValue: try cursor.readByte(body))
      hash = HashAlgorithm(rawValue: try cursor.readByte(body))
      hashedArea = try Self.readArea(&cursor, body, version: version, isEmbedded: isEmbedded)
      unhashedArea = try Self.readArea(&cursor, body, version: version, isEmbedded: isEmbedded)
    default: throw .unsupported(.packetVersion(.signature, version))
    }
    digestPrefix = try cursor.readBytes(body, count: 2)
    salt = version == 6 ? try Self.readSalt(&cursor, body, hash: hash) : []
    material = try SignatureMaterial(&cursor, body, algorithm: algorithm, version: version)
    try cursor.expectEnd(body)
  }

  /// The body of the packet.
  public var body: [UInt8] {
    var output: [UInt8] = [version]
    if let version3 {
      output += [5, type.rawValue]
      output.append(bigEndian: version3.creationTime.secondsSince1970)
      output += version3.issuer.bytes
      output += [algorithm.rawValue, hash.rawValue]
    } else {
      output += [type.rawValue, algorithm.rawValue, hash.rawValue]
      for area in [hashedArea, unhashedArea] {
        appendCount(area.bytes.count, to: &output)
        output += area.bytes
      }
    }
    output += digestPrefix
    if version == 6 { output += [UInt8(salt.count)] + salt }
    material.write(to: &output)
    return output
  }

  /// Octets of both areas: anybody can make them large, and they cost memory when they are read.
  var areasByteCount: Int { hashedArea.bytes.count + unhashedArea.bytes.count }

  /// What is hashed of the signature itself, after what it is over: its fields up to the hashed area, and the
  /// trailer (section 5.2.4).
  var hashedFields: [UInt8] {
    var output: [UInt8]
    if let version3 {
      output = [type.rawValue]
      output.append(bigEndian: version3.creationTime.secondsSince1970)
      return output
    }
    output = [version, type.rawValue, algorithm.rawValue, hash.rawValue]
    appendCount(hashedArea.bytes.count, to: &output)
    output += hashedArea.bytes
    let count = UInt32(truncatingIfNeeded: output.count)
    output += [version, 0xFF]
    output.append(bigEndian: count)
    return output
  }

  private func appendCount(_ count: Int, to output: inout [UInt8]) {
    if version == 6 {
      output.append(bigEndian: UInt32(count))
    } else {
      output.append(bigEndian: UInt16(count))
    }
  }

  private static func readArea(
    _ cursor: inout PacketCursor, _ body: RawSpan, version: UInt8, isEmbedded: Bool
  ) throws(OpenPGPError) -> SubpacketArea {
    let count = version == 6 ? Int(try cursor.readUInt32(body)) : try cursor.readUInt16(body)
    return try SubpacketArea(bytes: try cursor.readBytes(body, count: count), isEmbedded: isEmbedded)
  }

  /// The length must be the one that the hash algorithm wants (section 5.2.3, table 23).
  private static func readSalt(
    _ cursor: inout PacketCursor, _ body: RawSpan, hash: HashAlgorithm
  ) throws(OpenPGPError) -> [UInt8] {
    let count = Int(try cursor.readByte(body))
    let salt = try cursor.readBytes(body, count: count)
    // An unknown hash algorithm may have any length; nothing of it can be verified.
    if hash.digestByteCount != nil, hash.saltByteCount != count { throw .malformed(.signature) }
    return salt
  }
}

/// The type of a signature: its kind of target, and its meaning.
///
/// [RFC 9580, section 5.2.1](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.1)
public struct SignatureType: RawRepresentable, Hashable, Sendable {
  /// The number in the registry.
  public let rawValue: UInt8

  /// A value by its number, known here or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Over a document, octet by octet.
  public static let binary = SignatureType(rawValue: 0x00)
  /// Over a text, whatever its line ends.
  public static let text = SignatureType(rawValue: 0x01)
  /// Over its own subpackets alone.
  public static let standalone = SignatureType(rawValue: 0x02)
  /// Certifies a user ID, and does not say how carefully.
  public static let genericCertification = SignatureType(rawValue: 0x10)
  /// Certifies a user ID without any check.
  public static let personaCertification = SignatureType(rawValue: 0x11)
  /// Certifies a user ID after some check.
  public static let casualCertification = SignatureType(rawValue: 0x12)
  /// Certifies a user ID after a careful check; what holders use for themselves.
  public static let positiveCertification = SignatureType(rawValue: 0x13)
  /// The primary key binds a subkey.
  public static let subkeyBinding = SignatureType(rawValue: 0x18)
  /// A subkey that signs confirms its primary key.
  public static let primaryKeyBinding = SignatureType(rawValue: 0x19)
  /// Over the primary key itself.
  public static let directKey = SignatureType(rawValue: 0x1F)
  /// Revokes the primary key.
  public static let keyRevocation = SignatureType(rawValue: 0x20)
  /// Revokes a subkey.
  public static let subkeyRevocation = SignatureType(rawValue: 0x28)
  /// Revokes a certification or a direct-key signature.
  public static let certificationRevocation = SignatureType(rawValue: 0x30)
  /// States a time; not supported.
  public static let timestamp = SignatureType(rawValue: 0x40)
  /// Over another signature; not supported.
  public static let thirdPartyConfirmation = SignatureType(rawValue: 0x50)

  /// Whether it certifies a user ID or user attribute: 0x10 to 0x13.
  public var isCertification: Bool { (0x10...0x13).contains(rawValue) }
  /// Whether it is over a document.
  public var isOverDocument: Bool { self == .binary || self == .text }
}

/// The result of the public-key algorithm.
///
/// [RFC 9580, section 5.2.3](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.3)
public enum SignatureMaterial: Hashable, Sendable {
  /// RSA.
  case rsa(MPI)
  /// DSA.
  case dsa(r: MPI, s: MPI)
  /// ECDSA.
  case ecdsa(r: MPI, s: MPI)
  /// Ed25519 in its old form.
  case eddsaLegacy(r: MPI, s: MPI)
  /// 64 octets.
  case ed25519([UInt8])
  /// 114 octets.
  case ed448([UInt8])
  /// The signatures of EdDSA (64 or 114 octets) and ML-DSA (3,309 or 4,627).
  case compositeSignature(CompositeSignatureAlgorithm, eddsa: [UInt8], mldsa: [UInt8])
  /// 7,856, 17,088 or 29,792 octets.
  case hashBasedSignature(HashBasedSignatureAlgorithm, [UInt8])
  /// Of an algorithm that this engine does not have, or that signatures of this version may not have.
  case unknown([UInt8])

  init(
    _ cursor: inout PacketCursor, _ body: RawSpan, algorithm: PublicKeyAlgorithm, version: UInt8
  ) throws(OpenPGPError) {
    func number(_ cursor: inout PacketCursor) throws(OpenPGPError) -> MPI {
      try MPI(&cursor, body, countsLeadingZeros: version < 6)
    }
    switch algorithm {
    case _ where version >= 6 && algorithm.isPostQuantum && algorithm.signs:
      self = try Self.readPostQuantum(&cursor, body, algorithm)
    case .rsa, .rsaSignOnly: self = .rsa(try number(&cursor))
    case .dsa:
      let r = try number(&cursor)
      self = .dsa(r: r, s: try number(&cursor))
    case .ecdsa:
      let r = try number(&cursor)
      self = .ecdsa(r: r, s: try number(&cursor))
    case .eddsaLegacy:
      let r = try number(&cursor)
      self = .eddsaLegacy(r: r, s: try number(&cursor))
    case .ed25519: self = .ed25519(try cursor.readBytes(body, count: 64))
    case .ed448: self = .ed448(try cursor.readBytes(body, count: 114))
    default: self = .unknown(cursor.readRest(body))
    }
  }

  /// RFC 9980, sections 5.3.1 and 6.2.1.
  private static func readPostQuantum(
    _ cursor: inout PacketCursor, _ body: RawSpan, _ algorithm: PublicKeyAlgorithm
  ) throws(OpenPGPError) -> SignatureMaterial {
    if let kind = CompositeSignatureAlgorithm(algorithm) {
      let (eddsa, mldsa) = try cursor.readHalves(
        body, kind.curveSignatureByteCount, kind.lattice.signatureByteCount)
      return .compositeSignature(kind, eddsa: eddsa, mldsa: mldsa)
    }
    guard let kind = HashBasedSignatureAlgorithm(algorithm) else { return .unknown(cursor.readRest(body)) }
    return .hashBasedSignature(kind, try cursor.readBytes(body, count: kind.parameters.signatureByteCount))
  }

  func write(to output: inout [UInt8]) {
    switch self {
    case .rsa(let value): value.write(to: &output)
    case .dsa(let r, let s), .ecdsa(let r, let s), .eddsaLegacy(let r, let s):
      r.write(to: &output)
      s.write(to: &output)
    case .ed25519(let bytes), .ed448(let bytes), .hashBasedSignature(_, let bytes), .unknown(let bytes):
      output += bytes
    case .compositeSignature(_, let eddsa, let mldsa): output += eddsa + mldsa
    }
  }
}

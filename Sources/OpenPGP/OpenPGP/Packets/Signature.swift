// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2: versions 3, 4 and 6. Both subpacket areas are kept as they came, since the hashed
// one is hashed, and what is unknown in them must survive.

internal import Primitives

/// A signature packet.
public struct Signature: Hashable, Sendable {
  /// 3, 4 or 6.
  public let version: UInt8
  public let type: SignatureType
  public let algorithm: PublicKeyAlgorithm
  public let hash: HashAlgorithm
  /// Of version 3 only.
  let version3: Version3Fields?
  public let hashedArea: SubpacketArea
  public let unhashedArea: SubpacketArea
  /// The first two octets of the digest: a hint that finds a wrong pairing early.
  public let digestPrefix: [UInt8]
  /// Version 6: as many octets as the hash algorithm wants; else empty.
  public let salt: [UInt8]
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

  /// - Parameter isEmbedded: whether it stands in another signature; then signatures in it stay unread, so
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

  /// Octets of both areas: what anybody can make large, and what costs memory of its own when it is read.
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
    // An unknown hash algorithm may want any length; nothing of it can be verified.
    if hash.digestByteCount != nil, hash.saltByteCount != count { throw .malformed(.signature) }
    return salt
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.5.1, 5.5.2, 5.5.4: versions 4 and 6. Older versions are packets of unknown form.

internal import Primitives

/// A public key or subkey.
///
/// [RFC 9580, section 5.5.2](https://www.rfc-editor.org/rfc/rfc9580#section-5.5.2)
public struct PublicKey: Hashable, Sendable {
  /// 4 or 6.
  public let version: UInt8
  /// When the key says that it was made.
  public let creationTime: Timestamp
  /// The algorithm of the key.
  public let algorithm: PublicKeyAlgorithm
  /// The fields that the algorithm defines.
  public let material: PublicKeyMaterial
  /// The fingerprint, computed from the fields.
  public let fingerprint: Fingerprint

  /// A key of these fields.
  public init(
    version: UInt8, creationTime: Timestamp, algorithm: PublicKeyAlgorithm, material: PublicKeyMaterial
  ) {
    precondition(version == 4 || version == 6, "a key is of version 4 or 6")
    self.version = version
    self.creationTime = creationTime
    self.algorithm = algorithm
    self.material = material
    let body = Self.body(version, creationTime, algorithm, material)
    fingerprint = Self.fingerprint(version: version, body: body)
  }

  /// - Throws: ``OpenPGPError/unsupported(_:)`` for another version.
  init(body: RawSpan) throws(OpenPGPError) {
    var cursor = PacketCursor()
    try self.init(&cursor, body, endsWithBody: true)
    try cursor.expectEnd(body)
  }

  /// The public part at the beginning of a body, after which a secret part may follow.
  init(_ cursor: inout PacketCursor, _ body: RawSpan, endsWithBody: Bool) throws(OpenPGPError) {
    let version = try cursor.readByte(body)
    guard version == 4 || version == 6 else { throw .unsupported(.packetVersion(.publicKey, version)) }
    let creationTime = try cursor.readTime(body)
    let algorithm = PublicKeyAlgorithm(rawValue: try cursor.readByte(body))
    var count: Int?
    if version == 6 {
      count = Int(try cursor.readUInt32(body))
    } else if endsWithBody {
      count = body.byteCount - cursor.offset
    }
    let start = cursor.offset
    let material = try PublicKeyMaterial(
      &cursor, body, algorithm: algorithm, keyVersion: version, count: count)
    // Fingerprints and signatures take the length of a key of version 4 in two octets.
    guard version == 6 || cursor.offset - start <= Self.version4MaterialByteCount else {
      throw .malformed(.publicKey)
    }
    if version == 6, material.isForVersion4Only { throw .malformed(.publicKey) }
    self.init(version: version, creationTime: creationTime, algorithm: algorithm, material: material)
  }

  /// 65,535 octets, less version, time and algorithm.
  private static let version4MaterialByteCount = Int(UInt16.max) - 6

  /// The key ID, a part of the fingerprint.
  public var keyID: KeyID { fingerprint.keyID }

  /// The body of the packet, which is what fingerprints and signatures are over.
  public var body: [UInt8] { Self.body(version, creationTime, algorithm, material) }

  /// What goes into a hash in the name of this key: a prefix octet, the length, the body (section 5.2.4).
  var hashed: [UInt8] { Self.hashed(version: version, body: body) }

  private static func body(
    _ version: UInt8, _ creationTime: Timestamp, _ algorithm: PublicKeyAlgorithm,
    _ material: PublicKeyMaterial
  ) -> [UInt8] {
    var output: [UInt8] = [version]
    output.append(bigEndian: creationTime.secondsSince1970)
    output.append(algorithm.rawValue)
    var fields: [UInt8] = []
    material.write(to: &fields)
    if version == 6 { output.append(bigEndian: UInt32(fields.count)) }
    return output + fields
  }

  private static func hashed(version: UInt8, body: [UInt8]) -> [UInt8] {
    var output: [UInt8]
    if version == 6 {
      output = [0x9B]
      output.append(bigEndian: UInt32(body.count))
    } else {
      output = [0x99]
      output.append(bigEndian: UInt16(body.count))
    }
    return output + body
  }

  private static func fingerprint(version: UInt8, body: [UInt8]) -> Fingerprint {
    var hash = HashContext(version == 6 ? .sha256 : .sha1)
    hash.update(hashed(version: version, body: body))
    return Fingerprint(version: version, bytes: hash.finish())
  }
}

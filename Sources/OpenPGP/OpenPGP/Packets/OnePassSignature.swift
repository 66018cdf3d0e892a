// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.4: versions 3 and 6.

/// What tells a reader, before the data, how to hash for a signature that follows it.
public struct OnePassSignature: Hashable, Sendable {
  /// 3 for a signature of version 4 (or 3), 6 for one of version 6.
  public let version: UInt8
  public let type: SignatureType
  public let hash: HashAlgorithm
  public let algorithm: PublicKeyAlgorithm
  /// Version 6: the salt of the signature.
  public let salt: [UInt8]
  public let issuer: Issuer
  /// False when another one-pass signature follows that is over the same data: the octet as it came is
  /// ``nestingOctet``.
  public var isLast: Bool { nestingOctet != 0 }
  let nestingOctet: UInt8

  /// Who signs.
  public enum Issuer: Hashable, Sendable {
    /// Version 3.
    case keyID(KeyID)
    /// Version 6.
    case fingerprint(Fingerprint)
  }

  public init(
    version: UInt8, type: SignatureType, hash: HashAlgorithm, algorithm: PublicKeyAlgorithm, salt: [UInt8],
    issuer: Issuer, isLast: Bool
  ) {
    self.version = version
    self.type = type
    self.hash = hash
    self.algorithm = algorithm
    self.salt = salt
    self.issuer = issuer
    nestingOctet = isLast ? 1 : 0
  }

  init(body: RawSpan) throws(OpenPGPError) {
    var cursor = PacketCursor()
    version = try cursor.readByte(body)
    guard version == 3 || version == 6 else {
      throw .unsupported(.packetVersion(.onePassSignature, version))
    }
    type = SignatureType(rawValue: try cursor.readByte(body))
    hash = HashAlgorithm(rawValue: try cursor.readByte(body))
    algorithm = PublicKeyAlgorithm(rawValue: try cursor.readByte(body))
    if version == 6 {
      let count = Int(try cursor.readByte(body))
      salt = try cursor.readBytes(body, count: count)
      issuer = .fingerprint(try cursor.readFingerprint(body, version: 6))
    } else {
      salt = []
      issuer = .keyID(KeyID(bytes: try cursor.readBytes(body, count: KeyID.byteCount)))
    }
    nestingOctet = try cursor.readByte(body)
    try cursor.expectEnd(body)
  }

  /// The body of the packet.
  public var body: [UInt8] {
    var output = [version, type.rawValue, hash.rawValue, algorithm.rawValue]
    switch issuer {
    case .keyID(let id): output += id.bytes
    case .fingerprint(let fingerprint): output += [UInt8(salt.count)] + salt + fingerprint.bytes
    }
    return output + [nestingOctet]
  }
}

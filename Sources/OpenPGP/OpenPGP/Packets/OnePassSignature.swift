// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.4: versions 3 and 6. What only one version has is in its variant, so that no packet can
// contradict itself.

/// A one-pass signature packet: it precedes the data and says which hash and salt the signature after the data uses.
///
/// [RFC 9580, section 5.4](https://www.rfc-editor.org/rfc/rfc9580#section-5.4)
public struct OnePassSignature: Hashable, Sendable {
  /// The fields that only one version has.
  public enum Variant: Hashable, Sendable {
    /// For a signature of version 4 (or 3).
    case version3(issuer: KeyID)
    /// For a signature of version 6: its issuer's fingerprint, of version 6 too, and its salt.
    case version6(issuer: Fingerprint, salt: [UInt8])
  }

  /// The fields that only one version has.
  public let variant: Variant
  /// The type of the signature.
  public let type: SignatureType
  /// The hash that the signature uses.
  public let hash: HashAlgorithm
  /// The algorithm of the key that signs.
  public let algorithm: PublicKeyAlgorithm
  /// False when another one-pass signature follows that is over the same data. Any octet but zero means true; it is
  /// written again as it was read.
  public var isLast: Bool { nestingOctet != 0 }
  private let nestingOctet: UInt8

  /// 3 or 6.
  public var version: UInt8 {
    switch variant {
    case .version3: 3
    case .version6: 6
    }
  }

  /// The salt of the signature; empty in version 3.
  public var salt: [UInt8] {
    switch variant {
    case .version3: []
    case .version6(_, let salt): salt
    }
  }

  /// A packet to be written.
  /// - Precondition: the fingerprint in a variant of version 6 is of version 6.
  public init(
    _ variant: Variant, type: SignatureType, hash: HashAlgorithm, algorithm: PublicKeyAlgorithm, isLast: Bool
  ) {
    if case .version6(let issuer, _) = variant {
      precondition(issuer.version == 6, "a one-pass signature of version 6 names a key of version 6")
    }
    self.variant = variant
    self.type = type
    self.hash = hash
    self.algorithm = algorithm
    nestingOctet = isLast ? 1 : 0
  }

  init(body: RawSpan) throws(OpenPGPError) {
    var cursor = PacketCursor()
    let version = try cursor.readByte(body)
    guard version == 3 || version == 6 else {
      throw .unsupported(.packetVersion(.onePassSignature, version))
    }
    type = SignatureType(rawValue: try cursor.readByte(body))
    hash = HashAlgorithm(rawValue: try cursor.readByte(body))
    algorithm = PublicKeyAlgorithm(rawValue: try cursor.readByte(body))
    if version == 6 {
      let count = Int(try cursor.readByte(body))
      let salt = try cursor.readBytes(body, count: count)
      variant = .version6(issuer: try cursor.readFingerprint(body, version: 6), salt: salt)
    } else {
      variant = .version3(issuer: KeyID(bytes: try cursor.readBytes(body, count: KeyID.byteCount)))
    }
    nestingOctet = try cursor.readByte(body)
    try cursor.expectEnd(body)
  }

  /// The body of the packet.
  public var body: [UInt8] {
    var output = [version, type.rawValue, hash.rawValue, algorithm.rawValue]
    switch variant {
    case .version3(let issuer): output += issuer.bytes
    case .version6(let issuer, let salt): output += [UInt8(salt.count)] + salt + issuer.bytes
    }
    return output + [nestingOctet]
  }
}

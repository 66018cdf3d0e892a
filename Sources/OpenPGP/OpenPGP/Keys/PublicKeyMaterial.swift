// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.5.5, and RFC 9980: the fields of a public key that its algorithm defines.

internal import PostQuantum

/// What a public key consists of.
///
/// [RFC 9580, section 5.5.5](https://www.rfc-editor.org/rfc/rfc9580#section-5.5.5)
public enum PublicKeyMaterial: Hashable, Sendable {
  /// RSA.
  case rsa(modulus: MPI, exponent: MPI)
  /// Elgamal.
  case elgamal(prime: MPI, generator: MPI, value: MPI)
  /// DSA.
  case dsa(prime: MPI, order: MPI, generator: MPI, value: MPI)
  /// The point with its prefix octet: 04 uncompressed.
  case ecdsa(Curve, point: MPI)
  /// The point with its prefix octet: 04 uncompressed, 40 for Curve25519Legacy.
  case ecdh(Curve, point: MPI, KeyDerivation)
  /// The point with its prefix octet 40.
  case eddsaLegacy(Curve, point: MPI)
  /// 32 octets.
  case x25519([UInt8])
  /// 56 octets.
  case x448([UInt8])
  /// 32 octets.
  case ed25519([UInt8])
  /// 57 octets.
  case ed448([UInt8])
  /// The public keys of EdDSA (32 or 57 octets) and ML-DSA (1,952 or 2,592).
  case compositeSignature(CompositeSignatureAlgorithm, eddsa: [UInt8], mldsa: [UInt8])
  /// PK.seed and PK.root: 32 octets, or 64 of SLH-DSA-SHAKE-256s.
  case hashBasedSignature(HashBasedSignatureAlgorithm, [UInt8])
  /// The public keys of ECDH (32 or 56 octets) and ML-KEM (1,184 or 1,568).
  case compositeKEM(CompositeKEMAlgorithm, ecdh: [UInt8], mlkem: [UInt8])
  /// Of an algorithm that this engine does not have, or that keys of this version may not have.
  case unknown([UInt8])

  /// The KDF of ECDH: a hash, and the cipher of the key wrap (section 5.5.5.6).
  public struct KeyDerivation: Hashable, Sendable {
    /// The hash of the derivation.
    public let hash: HashAlgorithm
    /// The cipher that wraps the session key.
    public let cipher: SymmetricAlgorithm

    /// A hash and a cipher.
    public init(hash: HashAlgorithm, cipher: SymmetricAlgorithm) {
      self.hash = hash
      self.cipher = cipher
    }
  }

  /// - Parameters:
  ///   - keyVersion: of the key: those of version 4 may not have every algorithm.
  ///   - count: the octets of the material, when the packet says so (version 6) or nothing follows.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` when the algorithm is unknown and so is the count.
  init(
    _ cursor: inout PacketCursor, _ body: RawSpan, algorithm: PublicKeyAlgorithm, keyVersion: UInt8,
    count: Int?
  ) throws(OpenPGPError) {
    let start = cursor.offset
    switch algorithm {
    case _ where algorithm.isPostQuantum && algorithm.isAllowed(keyVersion: keyVersion):
      self = try Self.readPostQuantum(&cursor, body, algorithm)
    case .rsa, .rsaEncryptOnly, .rsaSignOnly:
      let modulus = try MPI(&cursor, body)
      self = .rsa(modulus: modulus, exponent: try MPI(&cursor, body))
    case .elgamal:
      let prime = try MPI(&cursor, body)
      let generator = try MPI(&cursor, body)
      self = .elgamal(prime: prime, generator: generator, value: try MPI(&cursor, body))
    case .dsa:
      let prime = try MPI(&cursor, body)
      let order = try MPI(&cursor, body)
      let generator = try MPI(&cursor, body)
      self = .dsa(prime: prime, order: order, generator: generator, value: try MPI(&cursor, body))
    case .ecdsa:
      let curve = try Self.readCurve(&cursor, body)
      self = .ecdsa(curve, point: try MPI(&cursor, body))
    case .eddsaLegacy:
      let curve = try Self.readCurve(&cursor, body)
      self = .eddsaLegacy(curve, point: try MPI(&cursor, body))
    case .ecdh:
      let curve = try Self.readCurve(&cursor, body)
      let point = try MPI(&cursor, body)
      guard try cursor.readByte(body) == 3, try cursor.readByte(body) == 1 else {
        throw .malformed(.publicKey)
      }
      let hash = HashAlgorithm(rawValue: try cursor.readByte(body))
      let cipher = SymmetricAlgorithm(rawValue: try cursor.readByte(body))
      self = .ecdh(curve, point: point, KeyDerivation(hash: hash, cipher: cipher))
    case .x25519: self = .x25519(try cursor.readBytes(body, count: 32))
    case .x448: self = .x448(try cursor.readBytes(body, count: 56))
    case .ed25519: self = .ed25519(try cursor.readBytes(body, count: 32))
    case .ed448: self = .ed448(try cursor.readBytes(body, count: 57))
    default:
      guard let count else { throw .unsupported(.publicKeyAlgorithm(algorithm.rawValue)) }
      self = .unknown(try cursor.readBytes(body, count: count))
    }
    if let count, cursor.offset - start != count { throw .malformed(.trailingOctets) }
  }

  /// RFC 9980, sections 4.3.2.1, 5.3.2.1 and 6.2.2.1.
  private static func readPostQuantum(
    _ cursor: inout PacketCursor, _ body: RawSpan, _ algorithm: PublicKeyAlgorithm
  ) throws(OpenPGPError) -> PublicKeyMaterial {
    if let kind = CompositeSignatureAlgorithm(algorithm) {
      let (eddsa, mldsa) = try cursor.readHalves(
        body, kind.curveKeyByteCount, kind.lattice.publicKeyByteCount)
      return .compositeSignature(kind, eddsa: eddsa, mldsa: mldsa)
    }
    if let kind = HashBasedSignatureAlgorithm(algorithm) {
      return .hashBasedSignature(
        kind, try cursor.readBytes(body, count: kind.parameters.publicKeyByteCount))
    }
    guard let kind = CompositeKEMAlgorithm(algorithm) else {
      throw .unsupported(.publicKeyAlgorithm(algorithm.rawValue))
    }
    let (ecdh, mlkem) = try cursor.readHalves(
      body, kind.curveKeyByteCount, kind.lattice.publicKeyByteCount)
    return .compositeKEM(kind, ecdh: ecdh, mlkem: mlkem)
  }

  /// The names of Ed25519 and X25519 that version 6 does without (sections 9.2.1, 5.5.5.5).
  var isForVersion4Only: Bool {
    switch self {
    case .eddsaLegacy, .ecdh(.curve25519Legacy, _, _): true
    default: false
    }
  }

  func write(to output: inout [UInt8]) {
    switch self {
    case .rsa(let modulus, let exponent):
      modulus.write(to: &output)
      exponent.write(to: &output)
    case .elgamal(let prime, let generator, let value):
      for number in [prime, generator, value] { number.write(to: &output) }
    case .dsa(let prime, let order, let generator, let value):
      for number in [prime, order, generator, value] { number.write(to: &output) }
    case .ecdsa(let curve, let point), .eddsaLegacy(let curve, let point):
      Self.write(curve, to: &output)
      point.write(to: &output)
    case .ecdh(let curve, let point, let derivation):
      Self.write(curve, to: &output)
      point.write(to: &output)
      output += [3, 1, derivation.hash.rawValue, derivation.cipher.rawValue]
    case .x25519(let bytes), .x448(let bytes), .ed25519(let bytes), .ed448(let bytes), .unknown(let bytes):
      output += bytes
    case .hashBasedSignature(_, let bytes): output += bytes
    case .compositeSignature(_, let first, let second), .compositeKEM(_, let first, let second):
      output += first + second
    }
  }

  /// An object identifier after its length; 0 and 255 are reserved (section 9.2).
  private static func readCurve(_ cursor: inout PacketCursor, _ body: RawSpan) throws(OpenPGPError) -> Curve {
    let count = Int(try cursor.readByte(body))
    guard count != 0, count != 255 else { throw .malformed(.publicKey) }
    return Curve(objectIdentifier: try cursor.readBytes(body, count: count))
  }

  private static func write(_ curve: Curve, to output: inout [UInt8]) {
    output.append(UInt8(curve.objectIdentifier.count))
    output += curve.objectIdentifier
  }
}

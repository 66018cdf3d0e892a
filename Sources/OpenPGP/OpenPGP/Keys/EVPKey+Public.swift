// SPDX-License-Identifier: Apache-2.0
//
// From the fields of a public key (RFC 9580, sections 5.5.5 and 9.2) to libcrypto's key.

internal import LibCrypto
internal import Secrets

extension Curve {
  /// libcrypto's name of a curve in Weierstrass form; nil for the others and for unknown ones.
  var groupName: String? {
    switch self {
    case .p256: "P-256"
    case .p384: "P-384"
    case .p521: "P-521"
    case .brainpoolP256r1: "brainpoolP256r1"
    case .brainpoolP384r1: "brainpoolP384r1"
    case .brainpoolP512r1: "brainpoolP512r1"
    default: nil
    }
  }
}

extension BigNumber {
  convenience init(_ integer: MPI) { self.init(integer.bytes.rawSpan) }

  /// The number as one that everybody may know.
  var integer: MPI { MPI(publicOctets) }
}

extension EVPKey {
  /// The public key.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` for an algorithm or a curve that is not there;
  ///   ``OpenPGPError/malformed(_:)`` with `publicKey` when its fields are not a key.
  static func make(_ key: PublicKey) throws(OpenPGPError) -> EVPKey {
    switch key.material {
    case .rsa(let modulus, let exponent):
      return try checked(
        make(
          .rsa,
          [
            (.modulus, BigNumber(modulus)), (.publicExponent, BigNumber(exponent)),
          ], isPrivate: false))
    case .dsa(let prime, let order, let generator, let value):
      return try checked(
        make(
          .dsa,
          [
            (.prime, BigNumber(prime)), (.order, BigNumber(order)),
            (.generator, BigNumber(generator)), (.publicValue, BigNumber(value)),
          ], isPrivate: false))
    case .ecdsa(let curve, let point): return try publicKey(curve, point: point)
    case .ecdh(let curve, let point, _):
      guard curve == .curve25519Legacy else { return try publicKey(curve, point: point) }
      return try native(.x25519, try legacyOctets(point, of: key))
    case .eddsaLegacy(let curve, let point):
      guard curve == .ed25519Legacy else { throw .unsupported(.curve) }
      return try native(.ed25519, try legacyOctets(point, of: key))
    case .x25519(let octets): return try native(.x25519, octets)
    case .x448(let octets): return try native(.x448, octets)
    case .ed25519(let octets): return try native(.ed25519, octets)
    case .ed448(let octets): return try native(.ed448, octets)
    case .elgamal, .compositeSignature, .hashBasedSignature, .compositeKEM, .unknown:
      throw .unsupported(.publicKeyAlgorithm(key.algorithm.rawValue))
    }
  }

  /// A public key on a curve in Weierstrass form; also for the point of an ephemeral key.
  static func publicKey(_ curve: Curve, point: MPI) throws(OpenPGPError) -> EVPKey {
    guard let group = curve.groupName else { throw .unsupported(.curve) }
    // Uncompressed (section 9.2.1): the compressed forms are not OpenPGP's.
    guard point.bytes.first == 4, point.bytes.count == 1 + 2 * (curve.fieldByteCount ?? 0) else {
      throw .malformed(.publicKey)
    }
    return try checked(
      make(.ellipticCurve, [], isPrivate: false, group: group, point: point.bytes))
  }

  /// The octets behind the prefix 40 (section 11.2.2).
  static func nativeOctets(_ point: MPI) throws(OpenPGPError) -> [UInt8] {
    guard point.bytes.count == 33, point.bytes[0] == 0x40 else { throw .malformed(.publicKey) }
    return Array(point.bytes.dropFirst())
  }

  /// Neither EdDSALegacy nor Curve25519Legacy may be used in keys of version 6 (sections 5.5.5.5 and 9.2).
  private static func legacyOctets(_ point: MPI, of key: PublicKey) throws(OpenPGPError) -> [UInt8] {
    guard key.version == 4 else { throw .malformed(.publicKey) }
    return try nativeOctets(point)
  }

  static func native(_ kind: Kind, _ octets: [UInt8]) throws(OpenPGPError) -> EVPKey {
    try checked(make(kind, publicOctets: octets))
  }

  // MARK: Operations

  /// The public point of an elliptic curve, uncompressed, or the public octets of the other curves.
  func publicPoint() throws(OpenPGPError) -> [UInt8] {
    guard let octets = publicOctets else { throw .internalFailure }
    return octets
  }

  /// The secret that this private key and a public one share.
  /// - Throws: ``OpenPGPError/notAuthentic`` when they share no secret, or when it is all zero, as it is with
  ///   points of small order.
  func agreedSecret(with peer: borrowing EVPKey) throws(OpenPGPError) -> SecretBytes {
    do throws(LibCryptoError) {
      let secret = try sharedSecret(with: peer)
      let zero = SecretBytes(zeroed: secret.count)
      if !secret.isEqual(to: zero) { return secret }
    } catch {
      throw OpenPGPError(error, refused: .notAuthentic)
    }
    throw .notAuthentic
  }

  private static func checked(_ key: consuming EVPKey?) throws(OpenPGPError) -> EVPKey {
    guard let key else { throw .malformed(.publicKey) }
    return key
  }
}

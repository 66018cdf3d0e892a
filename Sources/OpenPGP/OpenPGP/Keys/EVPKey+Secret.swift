// SPDX-License-Identifier: Apache-2.0
//
// From the secret fields of a key (RFC 9580, section 5.5.5) to libcrypto's private key, and the proof that they
// belong to the public ones. Without that, whoever can change a stored public key, or the parameters in it, gets
// signatures and shared secrets that give the private key away (Bruseghini, Huigens, Paterson: "Victory by KO",
// 2022; Klíma, Rosa 2001).

internal import LibCrypto
internal import Secrets

extension EVPKey {
  /// The private key.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `secretKey` when the fields are not a private key, or not
  ///   that of the public key; ``OpenPGPError/unsupported(_:)`` for an unknown algorithm or curve.
  static func make(_ key: PublicKey, secretFields: RawSpan) throws(OpenPGPError) -> EVPKey {
    switch key.material {
    case .rsa(let modulus, let exponent):
      let numbers = try SecretMaterial.numbers(secretFields, count: 4, keyVersion: key.version)
      return try rsa(modulus: modulus, exponent: exponent, numbers)
    case .ecdh(.curve25519Legacy, let point, _):
      guard key.version == 4 else { throw .malformed(.publicKey) }
      return try legacy(.x25519, try scalar(of: key, secretFields), isLittleEndian: true, point: point)
    case .ecdsa(let curve, let point), .ecdh(let curve, let point, _):
      return try pair(curve, point: point, try scalar(of: key, secretFields))
    case .eddsaLegacy(.ed25519Legacy, let point):
      guard key.version == 4 else { throw .malformed(.publicKey) }
      return try legacy(.ed25519, try scalar(of: key, secretFields), isLittleEndian: false, point: point)
    case .eddsaLegacy: throw .unsupported(.curve)
    case .x25519(let octets): return try native(.x25519, secretFields, publicOctets: octets)
    case .x448(let octets): return try native(.x448, secretFields, publicOctets: octets)
    case .ed25519(let octets): return try native(.ed25519, secretFields, publicOctets: octets)
    case .ed448(let octets): return try native(.ed448, secretFields, publicOctets: octets)
    case .dsa, .elgamal, .compositeSignature, .hashBasedSignature, .compositeKEM, .unknown:
      throw .unsupported(.publicKeyAlgorithm(key.algorithm.rawValue))
    }
  }

  /// Section 5.5.5.1: d, p, q and u, the inverse of p modulo q. libcrypto's coefficient is the inverse of its
  /// second prime modulo its first, so OpenPGP's q is its first.
  private static func rsa(
    modulus: MPI, exponent: MPI, _ numbers: [BigNumber]
  ) throws(OpenPGPError) -> EVPKey {
    let (d, p, q, u) = (numbers[0], numbers[1], numbers[2], numbers[3])
    let (n, e) = (BigNumber(modulus), BigNumber(exponent))
    guard p.isOdd, q.isOdd, !p.isOne, !q.isOne, p * q == n else { throw .malformed(.secretKey) }
    let (pLess, qLess) = (p.predecessor, q.predecessor)
    let (dp, dq) = (d % pLess, d % qLess)
    // e·d is one modulo p-1 and q-1, and u·p modulo q: then every result is that of the public key.
    guard ((e * dp) % pLess).isOne, ((e * dq) % qLess).isOne, ((u * p) % q).isOne else {
      throw .malformed(.secretKey)
    }
    let key = make(
      .rsa,
      [
        (.modulus, n), (.publicExponent, e), (.privateExponent, d),
        (.factor1, q), (.factor2, p),
        (.exponent1, dq), (.exponent2, dp),
        (.coefficient, u),
      ], isPrivate: true)
    return try checkedSecret(key)
  }

  /// The one secret number of a key on a curve.
  private static func scalar(of key: PublicKey, _ fields: RawSpan) throws(OpenPGPError) -> BigNumber {
    try SecretMaterial.numbers(fields, count: 1, keyVersion: key.version)[0]
  }

  private static func pair(
    _ curve: Curve, point: MPI, _ scalar: BigNumber
  ) throws(OpenPGPError) -> EVPKey {
    guard let group = curve.groupName else { throw .unsupported(.curve) }
    guard point.bytes.first == 4, point.bytes.count == 1 + 2 * (curve.fieldByteCount ?? 0) else {
      throw .malformed(.publicKey)
    }
    let key = try checkedSecret(
      make(
        .ellipticCurve, [(.privateValue, scalar)], isPrivate: true, group: group,
        point: point.bytes))
    guard key.isPair else { throw .malformed(.secretKey) }
    return key
  }

  /// Sections 5.5.5.5 and 5.5.5.6.1.1: native octets as an integer, those of Curve25519Legacy reversed.
  private static func legacy(
    _ kind: Kind, _ number: BigNumber, isLittleEndian: Bool, point: MPI
  ) throws(OpenPGPError) -> EVPKey {
    guard let octets = number.octets(32, isLittleEndian: isLittleEndian) else {
      throw .malformed(.secretKey)
    }
    let publicOctets = try nativeOctets(point)
    return try octets.withBytes { octets throws(OpenPGPError) in
      try native(kind, octets, publicOctets: publicOctets)
    }
  }

  /// The private key of an elliptic half or whole, from octets as the standards write them.
  static func native(
    _ kind: Kind, _ octets: RawSpan, publicOctets: [UInt8]
  ) throws(OpenPGPError) -> EVPKey {
    let key = try checkedSecret(make(kind, secretOctets: octets))
    guard try key.publicPoint() == publicOctets else { throw .malformed(.secretKey) }
    return key
  }

  private static func checkedSecret(_ key: consuming EVPKey?) throws(OpenPGPError) -> EVPKey {
    guard let key else { throw .malformed(.secretKey) }
    return key
  }
}

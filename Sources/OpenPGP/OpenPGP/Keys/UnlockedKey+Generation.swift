// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.5.5: new keys, and their public and secret fields.

internal import LibCrypto
internal import Primitives
internal import Secrets

extension UnlockedKey {
  /// A new key.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` for RSA of another size than ``KeyAlgorithm`` says, for a curve
  ///   that is not there, for EdDSALegacy and Curve25519Legacy in version 6, and in version 4 for the algorithms of
  ///   RFC 9980 except ML-KEM-768 with X25519.
  public static func generate(
    _ algorithm: KeyAlgorithm, version: UInt8, creationTime: Timestamp
  ) throws(OpenPGPError) -> UnlockedKey {
    var made: (PublicKeyAlgorithm, PublicKeyMaterial, SharedSecretBytes)
    switch algorithm {
    case .rsa(let bitCount): made = try rsa(bitCount: bitCount)
    case .eddsaLegacy:
      guard version == 4 else {
        throw .unsupported(.publicKeyAlgorithm(PublicKeyAlgorithm.eddsaLegacy.rawValue))
      }
      made = try eddsaLegacy()
    case .curve25519Legacy:
      guard version == 4 else { throw .unsupported(.curve) }
      made = try curve25519Legacy()
    case .ecdsa(let curve):
      let (point, secret) = try pair(curve)
      made = (.ecdsa, .ecdsa(curve, point: point), secret)
    case .ecdh(let curve):
      guard let derivation = curve.keyDerivation else { throw .unsupported(.curve) }
      let (point, secret) = try pair(curve)
      made = (.ecdh, .ecdh(curve, point: point, derivation), secret)
    case .ed25519: made = try native(.ed25519, .ed25519, secretByteCount: 32) { .ed25519($0) }
    case .x25519: made = try native(.x25519, .x25519, secretByteCount: 32) { .x25519($0) }
    case .ed448: made = try native(.ed448, .ed448, secretByteCount: 57) { .ed448($0) }
    case .x448: made = try native(.x448, .x448, secretByteCount: 56) { .x448($0) }
    case .compositeSignature(let kind): made = try composite(kind)
    case .hashBasedSignature(let kind): made = hashBased(kind)
    case .compositeKEM(let kind): made = try composite(kind)
    }
    guard made.0.isAllowed(keyVersion: version) else {
      throw .unsupported(.publicKeyAlgorithm(made.0.rawValue))
    }
    let publicKey = PublicKey(
      version: version, creationTime: creationTime, algorithm: made.0, material: made.1)
    return UnlockedKey(publicKey: publicKey, material: made.2)
  }

  private static func rsa(
    bitCount: Int
  ) throws(OpenPGPError) -> (PublicKeyAlgorithm, PublicKeyMaterial, SharedSecretBytes) {
    guard (leastRSABitCount...Limits.integerBitCount).contains(bitCount) else {
      throw .unsupported(.publicKeyAlgorithm(PublicKeyAlgorithm.rsa.rawValue))
    }
    guard let key = EVPKey.generate(.rsa, bitCount: bitCount) else { throw .internalFailure }
    // libcrypto's second prime is the smaller one, which is OpenPGP's first.
    guard let d = key.number(.privateExponent), let p = key.number(.factor2),
      let q = key.number(.factor1), let u = key.number(.coefficient),
      let modulus = key.number(.modulus)?.integer, let exponent = key.number(.publicExponent)?.integer
    else { throw .internalFailure }
    return (
      .rsa, .rsa(modulus: modulus, exponent: exponent),
      SharedSecretBytes(SecretMaterial.material([d, p, q, u]))
    )
  }

  /// Section 12.4: 'an implementation MUST NOT generate RSA keys of a size less than 3072 bits'.
  private static let leastRSABitCount = 3072

  private static func pair(_ curve: Curve) throws(OpenPGPError) -> (MPI, SharedSecretBytes) {
    guard let group = curve.groupName else { throw .unsupported(.curve) }
    guard let key = EVPKey.generate(.ellipticCurve, group: group),
      let scalar = key.number(.privateValue)
    else { throw .internalFailure }
    return (MPI(try key.publicPoint()), SharedSecretBytes(SecretMaterial.material([scalar])))
  }

  /// Sections 5.5.5.7 to 5.5.5.10: the secret is random octets. They are made here, since libcrypto leaves a copy
  /// in unerased memory when it gives out its own.
  private static func native(
    _ kind: EVPKey.Kind, _ algorithm: PublicKeyAlgorithm, secretByteCount: Int,
    _ material: ([UInt8]) -> PublicKeyMaterial
  ) throws(OpenPGPError) -> (PublicKeyAlgorithm, PublicKeyMaterial, SharedSecretBytes) {
    let secret = SystemRandom.secretBytes(count: secretByteCount)
    let octets = try publicOctets(kind, secret)
    return (algorithm, material(octets), SharedSecretBytes(secret))
  }

  private static func publicOctets(
    _ kind: EVPKey.Kind, _ secret: borrowing SecretBytes
  ) throws(OpenPGPError) -> [UInt8] {
    let key = secret.withBytes { EVPKey.make(kind, secretOctets: $0) }
    guard let key else { throw .internalFailure }
    return try key.publicPoint()
  }

  private static func eddsaLegacy() throws(OpenPGPError)
    -> (PublicKeyAlgorithm, PublicKeyMaterial, SharedSecretBytes)
  {
    let secret = SystemRandom.secretBytes(count: 32)
    let point = MPI([0x40] + (try publicOctets(.ed25519, secret)))
    let number = secret.withBytes { BigNumber($0) }
    return (
      .eddsaLegacy, .eddsaLegacy(.ed25519Legacy, point: point),
      SharedSecretBytes(SecretMaterial.material([number]))
    )
  }

  /// Section 5.5.5.6.1.1: the bits that the curve fixes are fixed in what is stored, and the octets reversed.
  private static func curve25519Legacy() throws(OpenPGPError)
    -> (PublicKeyAlgorithm, PublicKeyMaterial, SharedSecretBytes)
  {
    var octets = SystemRandom.secretBytes(count: 32)
    octets.withMutableBytes { octets in
      let first = unsafe octets.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
      let last = unsafe octets.unsafeLoad(fromByteOffset: 31, as: UInt8.self)
      octets.storeBytes(of: first & 248, toByteOffset: 0, as: UInt8.self)
      octets.storeBytes(of: last & 127 | 64, toByteOffset: 31, as: UInt8.self)
    }
    let number = octets.withBytes { BigNumber(littleEndian: $0) }
    guard let derivation = Curve.curve25519Legacy.keyDerivation else { throw .internalFailure }
    let point = MPI([0x40] + (try publicOctets(.x25519, octets)))
    return (
      .ecdh, .ecdh(.curve25519Legacy, point: point, derivation),
      SharedSecretBytes(SecretMaterial.material([number]))
    )
  }
}

extension Curve {
  /// The hash and the cipher that ECDH on this curve is to be used with (section 11.5.1, table 30).
  var keyDerivation: PublicKeyMaterial.KeyDerivation? {
    switch self {
    case .p256, .brainpoolP256r1, .curve25519Legacy: .init(hash: .sha256, cipher: .aes128)
    case .p384, .brainpoolP384r1: .init(hash: .sha384, cipher: .aes192)
    case .p521, .brainpoolP512r1: .init(hash: .sha512, cipher: .aes256)
    default: nil
    }
  }
}

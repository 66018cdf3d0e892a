// SPDX-License-Identifier: Apache-2.0
//
// The secret fields of RFC 9980's keys: the elliptic half as its own standard has it, then the seed of the other
// half. Expanded keys are made for one operation and never kept.

internal import LibCrypto
internal import PostQuantum
internal import Primitives
internal import Secrets

extension UnlockedKey {
  /// Proves that the secret fields belong to the public ones.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `secretKey` when they do not, or are not a key.
  func checkHalves() throws(OpenPGPError) {
    switch publicKey.material {
    case .compositeSignature(let kind, _, let mldsa):
      let isPair = try withHalves(kind.curveKeyByteCount) { (_, seed) throws(OpenPGPError) in
        guard seed.byteCount == MLDSA.seedByteCount else { throw .malformed(.secretKey) }
        return kind.lattice.publicKey(seed: seed) == mldsa
      }
      guard isPair else { throw .malformed(.secretKey) }
      _ = try ellipticHalf()
    case .compositeKEM(let kind, _, let mlkem):
      let isPair = try withHalves(kind.curveKeyByteCount) { (_, seed) throws(OpenPGPError) in
        guard seed.byteCount == MLKEM.seedByteCount else { throw .malformed(.secretKey) }
        return kind.lattice.publicKey(seed: seed) == mlkem
      }
      guard isPair else { throw .malformed(.secretKey) }
      _ = try ellipticHalf()
    case .hashBasedSignature(let kind, let octets):
      // Section 6.2.2.2: the last two of the four values are the public key. To compute it costs as much as a tenth
      // of a signature, and a wrong SK.seed gives nothing away: its signatures are just bad.
      try material.withBytes { secret throws(OpenPGPError) in
        guard secret.byteCount == kind.parameters.secretKeyByteCount,
          constantTimeEqual(secret.extracting(last: octets.count), octets.rawSpan)
        else { throw .malformed(.secretKey) }
      }
    default: _ = try evpKey()
    }
  }

  /// The private key of the elliptic half.
  func ellipticHalf() throws(OpenPGPError) -> EVPKey {
    let (kind, octets, count) =
      switch publicKey.material {
      case .compositeSignature(let kind, let eddsa, _): (kind.curve, eddsa, kind.curveKeyByteCount)
      case .compositeKEM(let kind, let ecdh, _): (kind.curve, ecdh, kind.curveKeyByteCount)
      default: throw .unsupported(.publicKeyAlgorithm(publicKey.algorithm.rawValue))
      }
    return try withHalves(count) { (secret, _) throws(OpenPGPError) in
      try EVPKey.native(kind, secret, publicOctets: octets)
    }
  }

  /// Lends the octets of the elliptic half and those of the other.
  func withHalves<Result: ~Copyable>(
    _ count: Int, _ body: (RawSpan, RawSpan) throws(OpenPGPError) -> Result
  ) throws(OpenPGPError) -> Result {
    try material.withBytes { fields throws(OpenPGPError) in
      guard fields.byteCount >= count else { throw .malformed(.secretKey) }
      return try body(fields.extracting(first: count), fields.extracting(count..<fields.byteCount))
    }
  }

  /// A signature of a digest by both halves (section 5.2.2), or by SLH-DSA (section 6.1.2).
  func postQuantumSignature(of digest: [UInt8]) throws(OpenPGPError) -> SignatureMaterial {
    switch publicKey.material {
    case .compositeSignature(let kind, _, _):
      guard let eddsa = try ellipticHalf().signature(message: digest) else { throw .internalFailure }
      let mldsa = try withHalves(kind.curveKeyByteCount) { (_, seed) throws(OpenPGPError) in
        guard seed.byteCount == MLDSA.seedByteCount else { throw .malformed(.secretKey) }
        return kind.lattice.sign(digest, seed: seed)
      }
      return .compositeSignature(kind, eddsa: eddsa, mldsa: mldsa)
    case .hashBasedSignature(let kind, _):
      return try material.withBytes { secret throws(OpenPGPError) in
        guard secret.byteCount == kind.parameters.secretKeyByteCount else { throw .malformed(.secretKey) }
        return .hashBasedSignature(kind, kind.parameters.sign(digest, secretKey: secret))
      }
    default: throw .keyCannot(.sign)
    }
  }

  /// The key that wraps the session key: from what both halves agree on with the sender (section 4.2.4).
  func keyEncryptionKey(
    _ kind: CompositeKEMAlgorithm, ephemeral: [UInt8], ciphertext: [UInt8]
  ) throws(OpenPGPError) -> KeyEncryptionKey {
    guard case .compositeKEM(let own, let ecdh, _) = publicKey.material, own == kind else {
      throw .notAuthentic
    }
    let curveShare = try ellipticHalf().agreedSecret(with: try EVPKey.native(kind.curve, ephemeral))
    let latticeShare = try withHalves(kind.curveKeyByteCount) { (_, seed) throws(OpenPGPError) in
      guard seed.byteCount == MLKEM.seedByteCount else { throw .malformed(.secretKey) }
      // Only octets of another count are refused; others give a share that nobody has (FIPS 203, section 6.3).
      guard let share = kind.lattice.decapsulate(ciphertext, seed: seed) else { throw .notAuthentic }
      return share
    }
    return latticeShare.withBytes { latticeShare in
      curveShare.withBytes { curveShare in
        KeyEncryptionKey.composite(
          kind, latticeShare: latticeShare, curveShare: curveShare, ephemeral: ephemeral, recipient: ecdh)
      }
    }
  }

  // MARK: New keys

  static func composite(
    _ kind: CompositeSignatureAlgorithm
  ) throws(OpenPGPError) -> (PublicKeyAlgorithm, PublicKeyMaterial, SharedSecretBytes) {
    let (eddsa, mldsa, secret) = try halves(
      kind.curve, kind.curveKeyByteCount, seedByteCount: MLDSA.seedByteCount
    ) { kind.lattice.publicKey(seed: $0) }
    return (kind.algorithm, .compositeSignature(kind, eddsa: eddsa, mldsa: mldsa), secret)
  }

  static func composite(
    _ kind: CompositeKEMAlgorithm
  ) throws(OpenPGPError) -> (PublicKeyAlgorithm, PublicKeyMaterial, SharedSecretBytes) {
    let (ecdh, mlkem, secret) = try halves(
      kind.curve, kind.curveKeyByteCount, seedByteCount: MLKEM.seedByteCount
    ) { kind.lattice.publicKey(seed: $0) }
    return (kind.algorithm, .compositeKEM(kind, ecdh: ecdh, mlkem: mlkem), secret)
  }

  static func hashBased(
    _ kind: HashBasedSignatureAlgorithm
  ) -> (PublicKeyAlgorithm, PublicKeyMaterial, SharedSecretBytes) {
    let (publicKey, secretKey) = kind.parameters.generate()
    return (kind.algorithm, .hashBasedSignature(kind, publicKey), secretKey)
  }

  /// A new composite key: the public octets of its two halves, and the secret ones, the curve's before the seed.
  private static func halves(
    _ curve: EVPKey.Kind, _ curveKeyByteCount: Int, seedByteCount: Int,
    latticePublicKey: (RawSpan) -> [UInt8]
  ) throws(OpenPGPError) -> (curve: [UInt8], lattice: [UInt8], secret: SharedSecretBytes) {
    let secret = SystemRandom.secretBytes(count: curveKeyByteCount + seedByteCount)
    let curve = try ellipticPublicOctets(curve, secret, count: curveKeyByteCount)
    let lattice = secret.withBytes { latticePublicKey($0.extracting(last: seedByteCount)) }
    return (curve, lattice, SharedSecretBytes(secret))
  }

  private static func ellipticPublicOctets(
    _ kind: EVPKey.Kind, _ secret: borrowing SecretBytes, count: Int
  ) throws(OpenPGPError) -> [UInt8] {
    let key = secret.withBytes { EVPKey.make(kind, secretOctets: $0.extracting(first: count)) }
    guard let key else { throw .internalFailure }
    return try key.publicPoint()
  }
}

extension PublicKeyMaterial {
  /// Whether the engine uses private keys of this kind.
  var hasUsablePrivateKeys: Bool {
    switch self {
    case .dsa, .elgamal, .unknown: false
    case .ecdsa(let curve, _): curve.groupName != nil
    case .ecdh(let curve, _, _): curve.groupName != nil || curve == .curve25519Legacy
    case .eddsaLegacy(let curve, _): curve == .ed25519Legacy
    case .rsa, .x25519, .x448, .ed25519, .ed448: true
    case .compositeSignature, .hashBasedSignature, .compositeKEM: true
    }
  }
}

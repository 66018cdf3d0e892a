// SPDX-License-Identifier: Apache-2.0
//
// The policy: one value that says which algorithms, key sizes, signatures and dates are good enough, and for
// what (RFC 9580, sections 5.2, 9 and 13). Each path asks it at one place. It knows no clock: callers pass
// the time in.

/// The algorithms and dates that are acceptable.
public struct Policy: Sendable {
  /// The policy of this release.
  public static let standard = Policy()

  /// The names of notations that the caller understands; a critical one of another name is refused.
  public var knownNotations: Set<[UInt8]> = []

  /// A rule that something was refused by.
  @nonexhaustive
  public enum Rule: Hashable, Sendable {
    /// The hash algorithm is too weak for a signature of that date, or too short for the key.
    case hashAlgorithm(HashAlgorithm)
    /// The public-key algorithm is too weak, or not supported.
    case publicKeyAlgorithm(PublicKeyAlgorithm)
    /// RSA below 2,048 bits.
    case keySize(bitCount: Int)
    /// RSA whose public exponent is even or below 3: with 1, encryption changes nothing.
    case publicExponent
    /// The cipher is too weak.
    case symmetricAlgorithm(SymmetricAlgorithm)
    /// Encrypted data without protection of their integrity.
    case noIntegrityProtection
    /// The signature's version does not belong to the key's, or the session key's to the data's.
    case versionMismatch
    /// A critical subpacket or notation that is not known.
    case criticalSubpacket
    /// The signature over a document does not say which key made it.
    case issuerMissing
    /// One of more signatures with salts of their own than ``Limits/saltedHashCount`` on one document.
    case tooManySalts
    /// A signature of this type is not over a document.
    case signatureType(SignatureType)
    /// The key is for another use.
    case keyFlags
    /// The signature has expired.
    case signatureExpired
    /// The signature is from the future, beyond the tolerance for clocks.
    case signatureFromTheFuture
    /// The signature is outside ``SignatureVerifier/notBefore`` and ``SignatureVerifier/notAfter``.
    case outsideRequestedTime
    /// The signed message was meant for others.
    case notIntendedRecipient
    /// The signature does not say when it was made.
    case creationTimeMissing
    /// The signature was made before its key.
    case signatureOlderThanKey
    /// The key had expired when it made the signature.
    case keyExpired
    /// The certificate holds the key, and nothing valid of its holder says that it belongs there.
    case keyNotBound
  }

  /// How far another machine's clock may be ahead: what GnuPG and mail systems commonly forgive.
  public static let clockToleranceSeconds: UInt32 = 600

  /// The policy of this release, to be adapted.
  public init() {}
}

extension Policy {
  /// What a hash is for. A document may be the attacker's choice, which asks for resistance to collisions; a
  /// certification is mostly its maker's own words.
  public enum HashUse: Sendable { case document, certification }

  /// Whether a signature of `time` may use the hash; nil, or the rule that forbids it.
  public func refusal(hash: HashAlgorithm, for use: HashUse, at time: Timestamp) -> Rule? {
    switch hash {
    case .sha224, .sha256, .sha384, .sha512, .sha3_256, .sha3_512: nil
    case .sha1 where use == .certification && time < Self.lastSHA1Certification: nil
    default: .hashAlgorithm(hash)
    }
  }

  /// Whether the key's algorithm and size may be used.
  public func refusal(key: PublicKey) -> Rule? {
    switch key.material {
    case .rsa(let modulus, let exponent):
      if modulus.bitCount < Self.smallestModulusBitCount {
        .keySize(bitCount: modulus.bitCount)
      } else {
        isAcceptable(exponent: exponent) ? nil : .publicExponent
      }
    case .ecdsa(let curve, _), .ecdh(let curve, _, _), .eddsaLegacy(let curve, _):
      isAcceptable(curve, version: key.version) ? nil : .publicKeyAlgorithm(key.algorithm)
    case .x25519, .x448, .ed25519, .ed448, .compositeSignature, .hashBasedSignature, .compositeKEM: nil
    case .elgamal, .dsa, .unknown: .publicKeyAlgorithm(key.algorithm)
    }
  }

  /// Whether messages under the cipher may be read (`writing` false) or written. Old messages stay readable;
  /// blocks of 64 bits are not written, and nothing needs a second cipher beside AES.
  public func refusal(cipher: SymmetricAlgorithm, writing: Bool) -> Rule? {
    let isAcceptable = writing ? cipher.isAES : cipher.keyByteCount != nil
    return isAcceptable ? nil : .symmetricAlgorithm(cipher)
  }

  /// The least octets of a digest that `key` may sign (sections 5.2.3.2 to 5.2.3.5; RFC 9980, sections 5.3.1 and
  /// 6.2.1, for both halves of a composite).
  static func shortestDigestByteCount(for key: PublicKey) -> Int {
    switch key.material {
    case .ecdsa(let curve, _), .eddsaLegacy(let curve, _): min(curve.fieldByteCount ?? 0, 64)
    case .ed25519, .compositeSignature, .hashBasedSignature: 32
    case .ed448: 64
    default: 0
    }
  }

  /// RFC 8017, section 3.1: from 3 upwards, and without a factor in common with the even p-1 and q-1.
  private func isAcceptable(exponent: MPI) -> Bool {
    exponent.bitCount >= 2 && exponent.bytes.last.map { $0 & 1 } == 1
  }

  /// The curves of section 9.2 for version 6, and the two that only version 4 has.
  private func isAcceptable(_ curve: Curve, version: UInt8) -> Bool {
    switch curve {
    case .p256, .p384, .p521: true
    case .ed25519Legacy, .curve25519Legacy: version == 4
    default: false
    }
  }

  /// Section 12.4: implementations MUST NOT generate RSA keys below 3,072 bits and SHOULD NOT use them below
  /// 2,048.
  private static let smallestModulusBitCount = 2048

  /// 2023-02-01: three years after chosen-prefix collisions of SHA-1 were shown.
  private static let lastSHA1Certification = Timestamp(secondsSince1970: 1_675_209_600)
}

extension Policy {
  /// Whether a signature of this kind by `key` can count at all: its version, algorithms, age beside the key
  /// and critical subpackets. Whether it is genuine, and what time it is, are other questions.
  public func refusal(signature: Signature, by key: PublicKey) -> Rule? {
    if let rule = refusal(signature: signature) ?? refusal(key: key) { return rule }
    guard signature.fitsVersion(of: key) else { return .versionMismatch }
    guard let digestByteCount = signature.hash.digestByteCount,
      digestByteCount >= Self.shortestDigestByteCount(for: key)
    else { return .hashAlgorithm(signature.hash) }
    guard let creationTime = signature.creationTime else { return .creationTimeMissing }
    return creationTime < key.creationTime ? .signatureOlderThanKey : nil
  }

  /// The part of ``refusal(signature:by:)`` that needs no key.
  public func refusal(signature: Signature) -> Rule? {
    guard let creationTime = signature.creationTime else { return .creationTimeMissing }
    let use: HashUse = signature.type.isOverDocument ? .document : .certification
    if let rule = refusal(hash: signature.hash, for: use, at: creationTime) { return rule }
    return hasUnknownCriticalPart(signature) ? .criticalSubpacket : nil
  }

  /// Whether the signature has a critical part that is not known.
  func hasUnknownCriticalPart(_ signature: Signature) -> Bool {
    let isOverDocument = signature.type.isOverDocument
    return !signature.hashedArea.subpackets.allSatisfy { isUnderstood($0, isOverDocument: isOverDocument) }
  }

  /// Whether a signature counts at `time`: not before it was made, and not after it expired.
  public func refusal(signature: Signature, at time: Timestamp) -> Rule? {
    guard let creationTime = signature.creationTime else { return .creationTimeMissing }
    if creationTime > time.adding(seconds: Self.clockToleranceSeconds) { return .signatureFromTheFuture }
    if let expirationTime = signature.expirationTime, expirationTime <= time { return .signatureExpired }
    return nil
  }

  /// Section 5.2.3.7: critical parts must be known. Of a notation that means its name (section 5.2.3.24), of
  /// a fingerprint its version.
  private func isUnderstood(_ subpacket: Subpacket, isOverDocument: Bool) -> Bool {
    guard subpacket.isCritical else { return true }
    switch subpacket.content {
    case nil: return false
    case .notation(let notation): return knownNotations.contains(notation.name)
    case .intendedRecipientFingerprint(let fingerprint), .issuerFingerprint(let fingerprint):
      return Fingerprint.byteCount(version: fingerprint.version) != nil
    // Nothing here follows a signature over a document to another one. In a revocation it says which statement is
    // meant, and to revoke more than that is the safe way.
    case .signatureTarget: return !isOverDocument
    default: return true
    }
  }
}

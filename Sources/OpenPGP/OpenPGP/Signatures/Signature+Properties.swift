// SPDX-License-Identifier: Apache-2.0
//
// What a signature says, and whether a key made it. Properties come from the hashed area, since anybody can
// write into the other one. Issuers, which are only hints, and embedded signatures, which prove themselves,
// may be in either. That a key made a signature (RFC 9580, section 5.2.4) says nothing about time, flags or
// policy.

extension Signature {
  /// When it was made; nil when that is not in the hashed area, where it must be (section 5.2.3.11).
  public var creationTime: Timestamp? {
    version3?.creationTime
      ?? hashedArea.last { $0.asSignatureCreationTime }
  }

  /// When it ceases to count; nil is never.
  public var expirationTime: Timestamp? {
    let seconds = hashedArea.last { $0.asSignatureExpirationTime }
    guard let seconds, seconds != 0, let creationTime else { return nil }
    return creationTime.adding(seconds: seconds)
  }

  /// The fingerprints of keys that it names as its issuer.
  public var issuerFingerprints: [Fingerprint] {
    inBothAreas { $0.asIssuerFingerprint }
  }

  /// The IDs of keys that it names as its issuer.
  public var issuerKeyIDs: [KeyID] {
    if let version3 { return [version3.issuer] }
    return inBothAreas { $0.asIssuerKeyID }
  }

  /// The primary keys of those whom the signed message is for; empty when it does not say.
  public var intendedRecipients: [Fingerprint] {
    hashedArea.all { $0.asIntendedRecipientFingerprint }
  }

  /// The notations that its maker signed.
  public var notations: [Notation] {
    hashedArea.all { $0.asNotation }
  }

  /// Why it revokes, when it says so.
  var revocationReason: RevocationReason? {
    hashedArea.last { $0.asReasonForRevocation }
  }

  /// Signatures within: back-signatures of signing subkeys.
  var embeddedSignatures: [Signature] {
    inBothAreas { $0.asEmbeddedSignature }
  }

  /// Whether it had ended at `time`.
  func isExpired(at time: Timestamp) -> Bool { expirationTime.map { $0 <= time } ?? false }

  /// Whether a key of this version may make it (section 5.2.5), and this kind of key (sections 5.2.3.2 to
  /// 5.2.3.5: version 3 is RSA's and DSA's alone, version 6 has no EdDSALegacy).
  func fitsVersion(of key: PublicKey) -> Bool {
    switch version {
    case 3: key.version == 4 && [.rsa, .rsaSignOnly, .dsa].contains(algorithm)
    case 4: key.version == 4
    case 6: key.version == 6 && algorithm != .eddsaLegacy
    default: false
    }
  }

  /// Whether the fingerprints of issuers are of the signature's own version, in either area: section
  /// 5.2.3.35 calls it malformed otherwise.
  var namesIssuerOfOwnVersion: Bool { issuerFingerprints.allSatisfy { $0.version == version } }

  /// Whether it says which key made it. An ID of zeros, which means an anonymous recipient elsewhere (section
  /// 5.1.8), names no issuer either.
  var namesIssuer: Bool { !issuerFingerprints.isEmpty || issuerKeyIDs.contains { $0 != .anonymous } }

  private func inBothAreas<Value>(_ select: (Subpacket.Content) -> Value?) -> [Value] {
    hashedArea.all(select) + unhashedArea.all(select)
  }
}

extension Signature {
  /// Whether `key` made this signature over `target`.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` for a hash or an algorithm that is not there.
  func isValid(over target: SignedTarget, by key: PublicKey) throws(OpenPGPError) -> Bool {
    guard target.allows(type) else { return false }
    return try isValid(digest: try digest(over: target), by: key)
  }

  /// Whether `key` made this signature, whose digest is `digest`.
  func isValid(digest: [UInt8], by key: PublicKey) throws(OpenPGPError) -> Bool {
    guard fits(key), fitsDigest(digest), digest.count >= Policy.shortestDigestByteCount(for: key)
    else { return false }
    return try key.isValid(material, digest: digest, hash: hash)
  }

  /// The digest of `target` and this signature's own fields.
  func digest(over target: SignedTarget) throws(OpenPGPError) -> [UInt8] {
    guard HashContext.isAvailable(hash) else { throw .unsupported(.hashAlgorithm(hash.rawValue)) }
    var context = HashContext(hash)
    context.update(salt)
    context.update(target.hashed(version: version))
    context.update(hashedFields)
    return context.finish()
  }

  /// Whether a key of this version and algorithm makes such signatures. RSA has two numbers that sign
  /// (section 9.1), and keys of the one made signatures of the other.
  func fits(_ key: PublicKey) -> Bool {
    let rsa: [PublicKeyAlgorithm] = [.rsa, .rsaSignOnly]
    let isOfKind = algorithm == key.algorithm || rsa.contains(algorithm) && rsa.contains(key.algorithm)
    return isOfKind && fitsVersion(of: key)
  }
}

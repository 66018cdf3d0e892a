// SPDX-License-Identifier: Apache-2.0
//
// What a signature may say and be made with, whatever it is over; certificates and documents ask the same.

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

  /// What of ``refusal(signature:by:)`` can be said without the key.
  public func refusal(signature: Signature) -> Rule? {
    guard let creationTime = signature.creationTime else { return .creationTimeMissing }
    let use: HashUse = signature.type.isOverDocument ? .document : .certification
    if let rule = refusal(hash: signature.hash, for: use, at: creationTime) { return rule }
    return hasUnknownCriticalPart(signature) ? .criticalSubpacket : nil
  }

  /// Whether a critical part of what the signature's maker signed is not known.
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

  /// Section 5.2.3.7: what is critical must be known. Of a notation that means its name (section 5.2.3.24), of a
  /// fingerprint its version.
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

// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3: what a signature says of itself. Facts come from the hashed area alone; only hints
// at who made it may stand in the other one, since they are checked by verifying.

extension Signature {
  /// When it was made; nil when the hashed area does not say, and then nothing can be made of it
  /// (section 5.2.3.11).
  public var creationTime: Timestamp? {
    if let version3 { return version3.creationTime }
    return hashedArea.last { content in
      if case .signatureCreationTime(let time) = content { time } else { nil }
    }
  }

  /// When it ends; nil when it never does (section 5.2.3.18).
  public var expirationTime: Timestamp? {
    let seconds: UInt32? = hashedArea.last { content in
      if case .signatureExpirationTime(let seconds) = content { seconds } else { nil }
    }
    guard let seconds, seconds != 0, let creationTime else { return nil }
    return creationTime.adding(seconds: seconds)
  }

  /// Whether it had ended at `time`.
  func isExpired(at time: Timestamp) -> Bool { expirationTime.map { $0 <= time } ?? false }

  /// Whether a critical part of the hashed area means nothing to this engine: an unknown subpacket, or any
  /// notation, of which it knows none (sections 5.2.3.7 and 5.2.3.24).
  var hasUnknownCriticalPart: Bool {
    hashedArea.subpackets.contains { $0.isCritical && ($0.content == nil || $0.type == .notation) }
  }

  /// Fingerprints of the key that is said to have made it.
  var issuerFingerprints: [Fingerprint] {
    hints { content in if case .issuerFingerprint(let fingerprint) = content { fingerprint } else { nil } }
  }

  /// Key IDs of the key that is said to have made it.
  var issuerKeyIDs: [KeyID] {
    if let version3 { return [version3.issuer] }
    return hints { content in if case .issuerKeyID(let id) = content { id } else { nil } }
  }

  /// Whether the hints allow that `key` made it, and the versions go together (section 10.3.2.2): a signature
  /// that does not say may be anybody's.
  func mayBe(by key: PublicKey) -> Bool {
    guard (version == 6) == (key.version == 6) else { return false }
    let fingerprints = issuerFingerprints
    if !fingerprints.isEmpty { return fingerprints.contains(key.fingerprint) }
    let ids = issuerKeyIDs
    return ids.isEmpty || ids.contains(key.keyID)
  }

  /// Signatures within this one, of either area (section 5.2.3.34): they prove themselves.
  var embeddedSignatures: [Signature] {
    hints { content in if case .embeddedSignature(let signature) = content { signature } else { nil } }
  }

  /// Why it revokes, when it says so.
  var revocationReason: RevocationReason? {
    hashedArea.last { content in if case .reasonForRevocation(let reason) = content { reason } else { nil } }
  }

  private func hints<Value>(_ select: (Subpacket.Content) -> Value?) -> [Value] {
    hashedArea.all(select) + unhashedArea.all(select)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.1.3: whether somebody who is believed says that a user ID belongs to a certificate. One
// step only: nobody is believed because somebody else says so.

extension ValidCertificate {
  /// Whether the holder claims the user ID at the time of this view, and one of the authorities has certified
  /// it and not taken that back.
  /// - Parameter authorities: views of the same time.
  public func isCertified(_ userID: UserID, by authorities: [ValidCertificate]) -> Bool {
    guard problem == nil, userIDs.contains(where: { $0.userID == userID && $0.problem == nil }),
      let component = certificate.userIDs.first(where: { $0.packet == userID })
    else { return false }
    let signatures = SignaturesByIssuer(
      component.signatures.filter { $0.type.isCertification || $0.type == .certificationRevocation })
    let target = SignedTarget.userID(certificate.primaryKey, userID)
    var resolver = SelfSignatureResolver(certificate.primaryKey, at: time, now: time, policy: policy)
    return authorities.contains { authority in
      guard let key = try? authority.certificationKey() else { return false }
      let made = signatures.thatMayBe(by: key)
      let certification = resolver.newest(made, over: target, by: key, where: \.isCertification)
      guard let signature = certification.signature else { return false }
      let revocation = resolver.revocation(
        in: made, type: .certificationRevocation, over: target, against: signature, isFinal: false, by: key)
      return revocation == nil
    }
  }
}

/// Signatures by who is said to have made them, so that many authorities and many signatures do not have to
/// be compared each with each.
private struct SignaturesByIssuer {
  private var named: [KeyID: [Signature]] = [:]
  private var unnamed: [Signature] = []

  init(_ signatures: [Signature]) {
    for signature in signatures {
      let ids = Set(signature.issuerKeyIDs + signature.issuerFingerprints.compactMap(\.keyIDIfKnown))
      if ids.isEmpty { unnamed.append(signature) }
      for id in ids { named[id, default: []].append(signature) }
    }
  }

  func thatMayBe(by key: PublicKey) -> [Signature] { named[key.keyID, default: []] + unnamed }
}

extension Fingerprint {
  /// Nil for one of a version that this engine does not have.
  fileprivate var keyIDIfKnown: KeyID? { version == 4 || version == 6 ? keyID : nil }
}

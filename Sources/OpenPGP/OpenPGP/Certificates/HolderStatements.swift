// SPDX-License-Identifier: Apache-2.0
//
// A certificate reduced to its holder's own statements, for a reader who keeps many. Anybody can add packets to a
// certificate, and the public servers were flooded with such (CVE-2019-13050). So each signature that is kept was
// verified, whatever a policy says of it: it may count under another one. What cannot be verified, because its
// version is not known, is kept in a small number.

extension Certificate {
  /// This certificate with what its holder says, and nothing else.
  ///
  /// Kept: user IDs and subkeys with signatures that the primary key made; direct-key signatures and revocations
  /// of the key; revocations by a revoker whom the holder has allowed ([RFC 9580, section
  /// 5.2.3.23](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.3.23)); subkeys and signatures of unknown
  /// versions. Left out: certifications by others, user attributes, other unknown packets, unhashed subpackets
  /// other than issuers and embedded signatures, and the same signature twice. Reducing again changes nothing.
  /// What it says of its holder depends neither on the order of the packets nor on signatures that do not verify.
  /// Revocations by a revoker who is not known (``knowing(_:)``) cannot be verified, and a small number is kept.
  public func reducedToHolderStatements() -> Certificate {
    var reduced = Certificate(primaryKey: primaryKey).knowing(knownRevokers)
    reduced.signatures = ownSignatures(signatures, over: .directKey(primaryKey))
    reduced.signatures += revocationsByRevokers(named: reduced.signatures)
    reduced.opaquePackets = Self.opaqueSignatures(opaquePackets)
    for component in userIDs {
      let own = ownSignatures(component.signatures, over: .userID(primaryKey, component.packet))
      let opaque = Self.opaqueSignatures(component.opaquePackets)
      guard !own.isEmpty || !opaque.isEmpty else { continue }
      reduced.userIDs.append(Component(component.packet, signatures: own, opaquePackets: opaque))
    }
    var attempts = SubkeyRevocationAttempts(subkeyRevocations)
    for component in subkeys {
      let target = SignedTarget.subkey(primary: primaryKey, component.packet)
      var own = ownSignatures(component.signatures, over: target)
      let misplaced = own.isEmpty ? [] : attempts.next()
      if !misplaced.isEmpty { own = ownSignatures(own + misplaced, over: target) }
      let opaque = Self.opaqueSignatures(component.opaquePackets)
      guard !own.isEmpty || !opaque.isEmpty else { continue }
      reduced.subkeys.append(Component(component.packet, signatures: own, opaquePackets: opaque))
    }
    for component in opaqueSubkeys {
      // What they sign is not known, so they cannot be verified.
      let possible = SignatureCopies.grouping(
        component.signatures.filter { $0.type != .subkeyRevocation && $0.mayBe(by: primaryKey) })
      reduced.opaqueSubkeys.append(
        Component(
          component.packet,
          signatures: possible.prefix(Limits.unverifiedSignatureCount).map { $0.all[0] },
          opaquePackets: Self.opaqueSignatures(component.opaquePackets)))
    }
    return reduced
  }

  /// The signatures that the primary key made over `target`, each once.
  private func ownSignatures(_ signatures: [Signature], over target: SignedTarget) -> [Signature] {
    let possible = signatures.filter { target.allows($0.type) && $0.mayBe(by: primaryKey) }
    // What cannot be verified does not count, whoever made it.
    let own = SignatureCopies.grouping(possible).compactMap { $0.verified(over: target, by: primaryKey) }
    return Self.canonicalOrder(own)
  }

  /// Revocations of the key by keys that `own` allows to revoke it: those that verify, then some of those that only
  /// a certificate which is not here could verify.
  private func revocationsByRevokers(named own: [Signature]) -> [Signature] {
    let allowed = Set(own.flatMap(\.revokers))
    guard !allowed.isEmpty else { return [] }
    let target = SignedTarget.directKey(primaryKey)
    let keys = knownRevokers.filter { allowed.contains($0.fingerprint) }
    let absent = allowed.subtracting(keys.map(\.fingerprint))
    let absentIDs = Set(absent.map(\.keyID))
    var verified: [Signature] = []
    var unverified: [Signature] = []
    for copies in SignatureCopies.grouping(signatures.filter { $0.type == .keyRevocation }) {
      if let revocation = keys.lazy.compactMap({ copies.verified(over: target, by: $0)?.naming($0) }).first {
        verified.append(revocation)
      } else if let revocation = copies.unverified(over: target), !revocation.mayBe(by: primaryKey),
        !absent.isDisjoint(with: revocation.issuerFingerprints)
          || !absentIDs.isDisjoint(with: revocation.issuerKeyIDs)
      {
        unverified.append(revocation)
      }
    }
    return verified + unverified.prefix(Limits.unverifiedSignatureCount)
  }

  private static func opaqueSignatures(_ packets: [OpaquePacket]) -> [OpaquePacket] {
    Array(packets.lazy.filter { $0.type == .signature }.prefix(Limits.unverifiedSignatureCount))
  }
}

extension ValidCertificate {
  /// What a certificate says at a time, when each of its signatures was verified before: one that was
  /// ``Certificate/reducedToHolderStatements()`` and has been kept where nobody else writes. Nothing is verified
  /// again but revocations by others, so a thousand are judged in the time that ten take otherwise. For lists; use
  /// a key only after ``init(_:at:now:policy:)``. No subkey is said to sign.
  package init(verifiedBefore certificate: Certificate, at time: Timestamp, policy: Policy) {
    self.init(certificate, at: time, now: time, policy: policy, isVerifiedBefore: true)
  }
}

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
  /// of the key; revocations that name a revoker whom the holder has allowed ([RFC 9580, section
  /// 5.2.3.23](https://www.rfc-editor.org/rfc/rfc9580#section-5.2.3.23)); subkeys and signatures of unknown
  /// versions. Left out: certifications by others, user attributes, other unknown packets, unhashed subpackets
  /// other than issuers and embedded signatures, and the same signature twice. Reducing again changes nothing.
  public func reducedToHolderStatements() -> Certificate {
    var reduced = Certificate(primaryKey: primaryKey)
    let target = SignedTarget.directKey(primaryKey)
    reduced.signatures = ownSignatures(signatures, over: target)
    reduced.signatures += revocationsByRevokers(named: reduced.signatures)
    reduced.opaquePackets = Self.opaqueSignatures(opaquePackets)
    for component in userIDs {
      let own = ownSignatures(component.signatures, over: .userID(primaryKey, component.packet))
      let opaque = Self.opaqueSignatures(component.opaquePackets)
      guard !own.isEmpty || !opaque.isEmpty else { continue }
      reduced.userIDs.append(Component(component.packet, signatures: own, opaquePackets: opaque))
    }
    let misplaced = subkeyRevocations
    for component in subkeys {
      let target = SignedTarget.subkey(primary: primaryKey, component.packet)
      let own = ownSignatures(component.signatures + misplaced, over: target)
      let opaque = Self.opaqueSignatures(component.opaquePackets)
      guard !own.isEmpty || !opaque.isEmpty else { continue }
      reduced.subkeys.append(Component(component.packet, signatures: own, opaquePackets: opaque))
    }
    for component in opaqueSubkeys {
      // What they sign is not known, so they cannot be verified.
      let possible = Self.distinct(
        component.signatures.filter { $0.type != .subkeyRevocation && $0.mayBe(by: primaryKey) })
      reduced.opaqueSubkeys.append(
        Component(
          component.packet, signatures: Array(possible.prefix(Limits.unverifiedSignatureCount)),
          opaquePackets: Self.opaqueSignatures(component.opaquePackets)))
    }
    return reduced
  }

  /// The signatures that the primary key made over `target`, each once.
  private func ownSignatures(_ signatures: [Signature], over target: SignedTarget) -> [Signature] {
    let possible = signatures.filter { target.allows($0.type) && $0.mayBe(by: primaryKey) }
    let own = Self.distinct(possible).filter { signature in
      // What cannot be verified does not count, whoever made it.
      (try? signature.isValid(over: target, by: primaryKey)) ?? false
    }
    return Self.canonicalOrder(own)
  }

  /// Revocations of the key that name one of the keys that `own` allows to revoke it. Only with that key's
  /// certificate can they be verified.
  private func revocationsByRevokers(named own: [Signature]) -> [Signature] {
    let revokers = own.filter { $0.type == .directKey }
      .flatMap { $0.hashedArea.all { $0.asRevocationKey?.fingerprint } }
    guard !revokers.isEmpty else { return [] }
    let (fingerprints, keyIDs) = (Set(revokers), Set(revokers.map(\.keyID)))
    let named = signatures.filter { signature in
      guard signature.type == .keyRevocation, !signature.mayBe(by: primaryKey) else { return false }
      return !fingerprints.isDisjoint(with: signature.issuerFingerprints)
        || !keyIDs.isDisjoint(with: signature.issuerKeyIDs)
    }
    return Array(Self.distinct(named).prefix(Limits.unverifiedSignatureCount))
  }

  private static func opaqueSignatures(_ packets: [OpaquePacket]) -> [OpaquePacket] {
    Array(packets.lazy.filter { $0.type == .signature }.prefix(Limits.unverifiedSignatureCount))
  }

  /// Each signature without what anybody could have added to it, once.
  private static func distinct(_ signatures: [Signature]) -> [Signature] {
    struct Identity: Hashable {
      let fields: [UInt8]
      let salt: [UInt8]
      let material: SignatureMaterial
    }
    var seen: Set<Identity> = []
    return signatures.compactMap { signature in
      let identity = Identity(
        fields: signature.hashedFields, salt: signature.salt, material: signature.material)
      return seen.insert(identity).inserted ? signature.withoutNeedlessSubpackets() : nil
    }
  }
}

extension Signature {
  /// This signature with issuers and embedded signatures alone in the area that anybody can change.
  fileprivate func withoutNeedlessSubpackets() -> Signature {
    let needed = unhashedArea.subpackets.filter { subpacket in
      guard let content = subpacket.content else { return false }
      return content.asIssuerKeyID != nil || content.asIssuerFingerprint != nil
        || content.asEmbeddedSignature != nil
    }
    guard version3 == nil, needed.count != unhashedArea.subpackets.count else { return self }
    return Signature(
      version: version, type: type, algorithm: algorithm, hash: hash, hashedArea: hashedArea,
      unhashedArea: SubpacketArea(needed), digestPrefix: digestPrefix, salt: salt, material: material)
  }
}

extension ValidCertificate {
  /// What a certificate says at a time, when each of its signatures was verified before: one that was
  /// ``Certificate/reducedToHolderStatements()`` and has been kept where nobody else writes. Nothing is verified
  /// again, so a thousand are judged in the time that ten take otherwise. For lists; use a key only after
  /// ``init(_:at:now:policy:revokers:)``. No subkey is said to sign.
  package init(
    verifiedBefore certificate: Certificate, at time: Timestamp, policy: Policy
  ) {
    self.init(certificate, at: time, now: time, policy: policy, revokers: [], isVerifiedBefore: true)
  }
}

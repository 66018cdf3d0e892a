// SPDX-License-Identifier: Apache-2.0
//
// Changes to a certificate that need a private key: certifying somebody else's user ID (RFC 9580, section
// 5.2.1.3), revoking a key, a subkey or a user ID (sections 5.2.1.11 to 5.2.1.13 and 5.2.3.31), and reissuing
// self-signatures with something changed (section 5.2.3.10). A reissued signature repeats everything that
// this engine does not know.

extension Certificate {
  /// What can be revoked.
  public enum Part: Hashable, Sendable {
    /// The primary key, and with it the whole certificate.
    case primaryKey
    /// The subkey of this fingerprint.
    case subkey(Fingerprint)
    /// A user ID.
    case userID(UserID)
  }

  /// The signature that revokes a part of this certificate.
  /// - Precondition: the certificate has that part.
  /// - Parameter signer: the primary key.
  /// - Throws: ``OpenPGPError/keyCannot(_:)`` when `signer` is another key; what signing throws.
  public func revocation(
    of part: Part, reason: RevocationReason, at time: Timestamp, by signer: any Signer
  ) throws(OpenPGPError) -> Signature {
    guard signer.publicKey == primaryKey else { throw .keyCannot(.certify) }
    var builder = SignatureBuilder(type: .keyRevocation, creationTime: time)
    builder.subpackets = [Subpacket(.reasonForRevocation(reason))]
    switch part {
    case .primaryKey: return try builder.sign(.directKey(primaryKey), with: signer)
    case .subkey(let fingerprint):
      guard let key = subkeys.first(where: { $0.packet.fingerprint == fingerprint })?.packet else {
        preconditionFailure("the certificate has no such subkey")
      }
      builder.type = .subkeyRevocation
      return try builder.sign(.subkey(primary: primaryKey, key), with: signer)
    case .userID(let userID):
      builder.type = .certificationRevocation
      return try builder.sign(.userID(primaryKey, userID), with: signer)
    }
  }

  /// This certificate with a signature more, on the part that it is over.
  /// - Precondition: the certificate has that part.
  public func adding(_ signature: Signature, to part: Part) -> Certificate {
    var certificate = self
    switch part {
    case .primaryKey: certificate.signatures.append(signature)
    case .subkey(let fingerprint):
      guard let index = subkeys.firstIndex(where: { $0.packet.fingerprint == fingerprint }) else {
        preconditionFailure("the certificate has no such subkey")
      }
      certificate.subkeys[index].signatures.append(signature)
    case .userID(let userID):
      guard let index = userIDs.firstIndex(where: { $0.packet == userID }) else {
        preconditionFailure("the certificate has no such user ID")
      }
      certificate.userIDs[index].signatures.append(signature)
    }
    return certificate
  }

  /// This certificate with a part revoked.
  public func revoking(
    _ part: Part, reason: RevocationReason, at time: Timestamp, by signer: any Signer
  ) throws(OpenPGPError) -> Certificate {
    adding(try revocation(of: part, reason: reason, at: time, by: signer), to: part)
  }

  /// A revocation certificate: the primary key and its revocation alone (section 10.1.2).
  public func revocationCertificate(
    reason: RevocationReason, at time: Timestamp, by signer: any Signer
  ) throws(OpenPGPError) -> Certificate {
    try Certificate(primaryKey: primaryKey).revoking(.primaryKey, reason: reason, at: time, by: signer)
  }
}

extension Certificate {
  /// This certificate with a certification of one of its user IDs by another key. A user ID that it does not
  /// have is put in, without its holder's word for it.
  /// - Parameter signer: the primary key that certifies; ask beforehand whether it may
  ///   (``ValidCertificate/certificationKey()``).
  public func certifying(
    _ userID: UserID, at time: Timestamp, by signer: any Signer
  ) throws(OpenPGPError) -> Certificate {
    let builder = SignatureBuilder(type: .genericCertification, creationTime: time)
    let signature = try builder.sign(.userID(primaryKey, userID), with: signer)
    var certificate = self
    if !userIDs.contains(where: { $0.packet == userID }) { certificate.userIDs.append(Component(userID)) }
    return certificate.adding(signature, to: .userID(userID))
  }
}

extension ValidCertificate {
  /// The certificate with a new end, or with none. Subkeys that end by themselves get the same end; an expired
  /// certificate comes back to life.
  /// - Precondition: the end is after the creation of the primary key.
  /// - Parameters:
  ///   - expirationTime: nil is never.
  ///   - signer: the primary key. The new signatures are made at ``ValidCertificate/time``.
  /// - Throws: ``OpenPGPError/keyCannot(_:)`` when `signer` is another key or the certificate is revoked or has
  ///   no valid self-signature; what signing throws.
  public func settingExpiration(
    to expirationTime: Timestamp?, by signer: any Signer
  ) throws(OpenPGPError) -> Certificate {
    guard signer.publicKey == certificate.primaryKey, problem == nil || problem == .expired else {
      throw .keyCannot(.certify)
    }
    var changed = try reissuingPrimaryKeySignatures(by: signer) { subpackets in
      subpackets.settingExpiration(to: expirationTime, of: certificate.primaryKey)
    }
    for key in keys where !key.isPrimary {
      guard let selfSignature = key.selfSignature, selfSignature.keyExpirationTime(of: key.publicKey) != nil
      else {
        continue
      }
      if case .revoked = key.problem { continue }
      // One that is made after the new end is ended by the primary key.
      if let expirationTime, expirationTime <= key.publicKey.creationTime { continue }
      let target = SignedTarget.subkey(primary: certificate.primaryKey, key.publicKey)
      let new = try reissued(selfSignature, over: target, by: signer) { subpackets in
        subpackets.settingExpiration(to: expirationTime, of: key.publicKey)
      }
      changed.replace(selfSignature, with: new, on: .subkey(key.publicKey.fingerprint))
    }
    return changed
  }

  /// The certificate with the self-signatures about the primary key reissued: the direct-key signature, and
  /// in version 4 those on user IDs that are in use.
  /// - Parameter change: makes the new subpackets of the old ones.
  func reissuingPrimaryKeySignatures(
    by signer: any Signer, _ change: ([Subpacket]) -> [Subpacket]
  ) throws(OpenPGPError) -> Certificate {
    var changed = certificate
    if let selfSignature = directKeySignature {
      let target = SignedTarget.directKey(certificate.primaryKey)
      let new = try reissued(selfSignature, over: target, by: signer, change)
      changed.replace(selfSignature, with: new, on: .primaryKey)
    }
    guard certificate.primaryKey.version == 4 else { return changed }
    for userID in userIDs where userID.problem == nil {
      guard let selfSignature = userID.selfSignature else { continue }
      let target = SignedTarget.userID(certificate.primaryKey, userID.userID)
      let new = try reissued(selfSignature, over: target, by: signer, change)
      changed.replace(selfSignature, with: new, on: .userID(userID.userID))
    }
    return changed
  }

  /// A new signature that says what `selfSignature` says, changed. Embedded signatures are kept.
  private func reissued(
    _ selfSignature: Signature, over target: SignedTarget, by signer: any Signer,
    _ change: ([Subpacket]) -> [Subpacket]
  ) throws(OpenPGPError) -> Signature {
    let ofTheSignature: [SubpacketType] = [
      .signatureCreationTime, .signatureExpirationTime, .issuerKeyID, .issuerFingerprint,
    ]
    var builder = SignatureBuilder(type: selfSignature.type, creationTime: time)
    builder.subpackets = change(
      selfSignature.hashedArea.subpackets.filter { !ofTheSignature.contains($0.type) })
    builder.unhashedSubpackets = selfSignature.unhashedArea.subpackets.filter {
      $0.type == .embeddedSignature
    }
    return try builder.sign(target, with: signer)
  }
}

extension Certificate {
  /// Puts `new` beside `old`, or in its place when both are of one second and none would be the newer.
  fileprivate mutating func replace(_ old: Signature, with new: Signature, on part: Part) {
    if old.creationTime == new.creationTime { remove(old, from: part) }
    self = adding(new, to: part)
  }

  private mutating func remove(_ signature: Signature, from part: Part) {
    switch part {
    case .primaryKey: signatures.removeAll { $0 == signature }
    case .subkey(let fingerprint):
      for index in subkeys.indices where subkeys[index].packet.fingerprint == fingerprint {
        subkeys[index].signatures.removeAll { $0 == signature }
      }
    case .userID(let userID):
      for index in userIDs.indices where userIDs[index].packet == userID {
        userIDs[index].signatures.removeAll { $0 == signature }
      }
    }
  }
}

extension [Subpacket] {
  /// - Precondition: the end is after the key's creation.
  fileprivate func settingExpiration(to time: Timestamp?, of key: PublicKey) -> [Subpacket] {
    let others = filter { $0.type != .keyExpirationTime }
    guard let time else { return others }
    precondition(time > key.creationTime, "a key cannot end before it is made")
    let seconds = time.secondsSince1970 - key.creationTime.secondsSince1970
    return others + [Subpacket(.keyExpirationTime(seconds: seconds))]
  }
}

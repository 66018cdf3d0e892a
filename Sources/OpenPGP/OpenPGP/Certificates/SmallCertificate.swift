// SPDX-License-Identifier: Apache-2.0
//
// A certificate for a place with little room, such as a QR code or a header of a mail (Autocrypt Level 1, section 2.1.1).

extension Certificate {
  /// This certificate with as little as others need to write to its holder now.
  ///
  /// Kept, of its holder's statements: one user ID, the subkeys that can be used, and of each the
  /// signature that binds it; the direct-key signature that counts; those that name revokers; every revocation of what is
  /// kept. It says the same of all that at `time`, and merged into another copy, it takes nothing away. One that cannot be
  /// used as a whole, or has no such user ID, keeps all its user IDs and subkeys.
  /// - Parameter userID: the one to keep; without it, the one that speaks for the certificate.
  public func reducedToNecessities(
    at time: Timestamp, policy: Policy, userID: UserID? = nil
  ) -> Certificate {
    let holder = reducedToHolderStatements()
    let valid = ValidCertificate(holder, at: time, now: time, policy: policy)
    let kept = valid.userIDs.first { bound in
      userID.map { $0 == bound.userID && bound.problem == nil } ?? bound.isPrimary
    }
    guard valid.problem == nil, let kept else { return holder }
    var small = Certificate(primaryKey: primaryKey).knowing(knownRevokers)
    small.signatures = holder.signatures.filter { signature in
      signature.type == .keyRevocation || signature == valid.directKeySignature
        || !signature.hashedArea.all({ $0.asRevocationKey }).isEmpty
    }
    small.userIDs = holder.userIDs.filter { $0.packet == kept.userID }.map {
      $0.with(kept.selfSignature, orType: .certificationRevocation)
    }
    small.subkeys = holder.subkeys.compactMap { component in
      guard let key = valid.key(component.packet.fingerprint), key.problem == nil else { return nil }
      return component.with(key.selfSignature, orType: .subkeyRevocation)
    }
    return small
  }
}

extension Certificate.Component {
  /// The component with one of its signatures, and those of a type.
  fileprivate func with(_ kept: Signature?, orType type: SignatureType) -> Self {
    Self(packet, signatures: signatures.filter { $0 == kept || $0.type == type })
  }
}

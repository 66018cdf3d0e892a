// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.1 and 10.1.5: user IDs and subkeys, and what binds them.

extension SelfSignatureResolver {
  /// A user ID and what the holder says of it.
  struct ResolvedUserID {
    let userID: UserID
    let binding: Binding
    let revocation: Revocation?
  }

  mutating func resolveUserIDs(_ certificate: Certificate) -> [ResolvedUserID] {
    var resolved: [ResolvedUserID] = []
    for component in certificate.userIDs {
      let target = SignedTarget.userID(primaryKey, component.packet)
      let binding = newest(component.signatures, over: target, where: \.isCertification)
      // Without a binding there is nothing to revoke.
      var revoked: Revocation?
      if binding.signature != nil {
        revoked = revocation(
          in: component.signatures, type: .certificationRevocation, over: target,
          against: binding.signature, isFinal: false)
      }
      resolved.append(ResolvedUserID(userID: component.packet, binding: binding, revocation: revoked))
    }
    return resolved
  }

  /// - Parameter revocations: of any subkeys, wherever they stand in the certificate.
  mutating func resolve(
    _ component: Certificate.Component<PublicKey>, of primary: PrimaryKeyProperties, revocations: [Signature]
  ) -> ValidCertificate.Key {
    let key = component.packet
    let target = SignedTarget.subkey(primary: primaryKey, key)
    let binding = newest(component.signatures, over: target) { $0 == .subkeyBinding }
    let flags = binding.signature.map { confirmedFlags(of: key, boundBy: $0) } ?? []
    let expirationTime = [primary.expirationTime, binding.signature?.keyExpirationTime(of: key)]
      .compactMap(\.self).min()
    let problem =
      primary.problem
      ?? problem(
        of: component, bound: binding, revocations: revocations, flags: flags, expirationTime: expirationTime)
    return ValidCertificate.Key(
      publicKey: key, isPrimary: false, flags: flags, expirationTime: expirationTime, problem: problem,
      selfSignature: binding.signature)
  }

  private mutating func problem(
    of component: Certificate.Component<PublicKey>, bound binding: Binding, revocations: [Signature],
    flags: KeyFlags, expirationTime: Timestamp?
  ) -> ValidCertificate.Problem? {
    let key = component.packet
    let target = SignedTarget.subkey(primary: primaryKey, key)
    var revoked = revocation(
      in: component.signatures, type: .subkeyRevocation, over: target, against: binding.signature,
      isFinal: true)
    // One that stands wrong revokes all the same.
    revoked =
      revoked
      ?? revocation(
        in: revocations, type: .subkeyRevocation, over: target, against: binding.signature, isFinal: true)
    if let revoked { return .revoked(revoked.reason) }
    if let problem = binding.problem { return problem }
    if key.version != primaryKey.version { return .refused(.versionMismatch) }
    if key.creationTime > time { return .notYetValid }
    if let expirationTime, expirationTime <= time { return .expired }
    if let rule = policy.refusal(key: key) { return .refused(rule) }
    return flags.isEmpty ? .notBound : nil
  }

  /// The flags of a subkey. Those for signing need a signature of the subkey itself over the primary key, or
  /// anybody could claim somebody else's signatures by binding the key that made them (section 5.2.1.9).
  private mutating func confirmedFlags(of key: PublicKey, boundBy binding: Signature) -> KeyFlags {
    let flags = binding.keyFlags ?? KeyFlags.unstated(for: key.algorithm, isPrimary: false)
    let signing: KeyFlags = [.certify, .sign]
    guard !flags.isDisjoint(with: signing) else { return flags }
    let confirmation = newest(
      binding.embeddedSignatures, over: .subkey(primary: primaryKey, key), by: key
    ) { $0 == .primaryKeyBinding }
    return confirmation.signature == nil ? flags.subtracting(signing) : flags
  }
}

extension KeyFlags {
  /// What a key may do whose holder says nothing of it, as before there were flags: what its algorithm can. A
  /// primary key encrypts only when the holder says so.
  static func unstated(for algorithm: PublicKeyAlgorithm, isPrimary: Bool) -> KeyFlags {
    var flags: KeyFlags = []
    if algorithm.signs { flags.formUnion(isPrimary ? [.certify, .sign] : .sign) }
    if algorithm.encrypts && !isPrimary { flags.formUnion([.encryptCommunications, .encryptStorage]) }
    return flags
  }
}

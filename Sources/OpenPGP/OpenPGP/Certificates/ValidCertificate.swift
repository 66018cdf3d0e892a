// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.3.10 and 10.1: what a certificate says at a time, under a policy, which of its keys
// do what, and whether an authority has certified a user ID. Each self-signature is checked once, here.
// Signatures of others cost a look at the issuer they name, and nothing more. Certification is one step only:
// nobody is trusted because somebody else says so (section 5.2.1.3).

/// What a certificate says at a time, under a policy.
public struct ValidCertificate: Sendable {
  /// Why a key or user ID cannot be used.
  @nonexhaustive
  public enum Problem: Hashable, Sendable {
    /// No valid signature of the holder binds it.
    case notBound
    /// It was made later, or all that binds it was.
    case notYetValid
    /// It had expired.
    case expired
    /// Hard, or soft and before this time.
    case revoked(RevocationReason?)
    /// The policy refuses it.
    case refused(Policy.Rule)
    /// Nothing can be encrypted to it: its numbers are not those of a key (RFC 9980, section 4.3.2; FIPS 203, 7.2).
    case malformed
  }

  /// The primary key or a subkey.
  public struct Key: Sendable {
    /// The public key.
    public let publicKey: PublicKey
    /// Whether it is the primary key.
    public let isPrimary: Bool
    /// What it may be used for. A subkey that has not confirmed its primary key (section 5.2.1.9) has no
    /// flags for signing, whatever its binding says.
    public let flags: KeyFlags
    /// The end of the key or of the primary key, whichever comes first; nil is never.
    public let expirationTime: Timestamp?
    /// Nil when the key may be used for what its flags say.
    public let problem: Problem?
    /// What binds it: of a subkey the binding, of the primary key the newest self-signature about it.
    let selfSignature: Signature?
  }

  /// A user ID and whether the holder claims it.
  public struct BoundUserID: Sendable {
    /// The user ID.
    public let userID: UserID
    /// Whether it is the one that speaks for the certificate.
    public let isPrimary: Bool
    /// Nil when the holder claims it.
    public let problem: Problem?
    /// The certification by the holder that counts.
    let selfSignature: Signature?
  }

  /// The certificate itself.
  public let certificate: Certificate
  /// The time for which the certificate is judged.
  public let time: Timestamp
  /// The flaw of the certificate as a whole; then none of its keys can be used.
  public let problem: Problem?
  /// The primary key first.
  public let keys: [Key]
  /// All user IDs, in the order in which they came.
  public let userIDs: [BoundUserID]
  /// What the software of the holder can read.
  public let features: Features
  /// The hashes that the holder prefers, the best first.
  public let preferredHashAlgorithms: [HashAlgorithm]
  /// The ciphers that the holder prefers, the best first.
  public let preferredSymmetricAlgorithms: [SymmetricAlgorithm]
  /// The pairs of cipher and AEAD that the holder prefers, the best first.
  public let preferredAEADCiphersuites: [AEADCiphersuite]
  /// What the holder says about the replacement of the key; nil for nothing. Alone it proves nothing: see
  /// ``replacementStatement``.
  let replacement: KeyReplacement?
  /// The direct-key signature that counts.
  let directKeySignature: Signature?
  let policy: Policy
  /// How many signatures were verified to find all this out.
  let verificationCount: Int

  /// Finds out what a certificate says at a time. Revocations by others count if the certificate knows their keys:
  /// see ``Certificate/knowing(_:)``.
  /// - Parameters:
  ///   - time: for which the certificate is judged: now to encrypt and sign, the signature's creation to
  ///     verify.
  ///   - now: today. What the holder has said since `time` counts where there is nothing older.
  public init(_ certificate: Certificate, at time: Timestamp, now: Timestamp, policy: Policy) {
    self.init(certificate, at: time, now: now, policy: policy, isVerifiedBefore: false)
  }

  /// - Parameter isVerifiedBefore: whether every signature is where it belongs, and was verified there.
  init(
    _ certificate: Certificate, at time: Timestamp, now: Timestamp, policy: Policy, isVerifiedBefore: Bool
  ) {
    var resolver = SelfSignatureResolver(
      certificate.primaryKey, at: time, now: now, policy: policy, isVerifiedBefore: isVerifiedBefore)
    let userIDs = resolver.resolveUserIDs(certificate)
    let properties = PrimaryKeyProperties(certificate, userIDs: userIDs, resolver: &resolver)
    self.certificate = certificate
    self.time = time
    self.policy = policy
    problem = properties.problem
    self.userIDs = userIDs.enumerated().map { index, resolved in
      BoundUserID(
        userID: resolved.userID, isPrimary: index == properties.primaryUserIDIndex,
        problem: resolved.revocation.map { .revoked($0.reason) } ?? resolved.binding.problem,
        selfSignature: resolved.binding.signature)
    }
    let primary = Key(
      publicKey: certificate.primaryKey, isPrimary: true, flags: properties.flags,
      expirationTime: properties.expirationTime, problem: properties.problem,
      selfSignature: properties.newestSelfSignature)
    // Those of other subkeys do not verify; where nothing is verified they must not be tried.
    var revocations = SubkeyRevocationAttempts(isVerifiedBefore ? [] : certificate.subkeyRevocations)
    keys =
      [primary]
      + certificate.subkeys.map { resolver.resolve($0, of: properties, revocations: &revocations) }
    features = properties.last { $0.asFeatures } ?? []
    preferredHashAlgorithms =
      properties.last { $0.asPreferredHashAlgorithms } ?? []
    preferredSymmetricAlgorithms =
      properties.last { $0.asPreferredSymmetricAlgorithms } ?? []
    preferredAEADCiphersuites =
      properties.last { $0.asPreferredAEADCiphersuites } ?? []
    replacement = properties.replacement
    directKeySignature = properties.directKey.signature
    verificationCount = resolver.verificationCount
  }

  /// The primary key, usable or not.
  public var primaryKey: Key { keys[0] }

  /// The key of this fingerprint, usable or not.
  public func key(_ fingerprint: Fingerprint) -> Key? {
    keys.first { $0.publicKey.fingerprint == fingerprint }
  }

  /// The user ID that speaks for the certificate.
  public var primaryUserID: UserID? { userIDs.first(where: \.isPrimary)?.userID }
}

extension ValidCertificate {
  /// The keys that messages may be encrypted to.
  /// - Parameter purpose: any of ``KeyFlags/encryptCommunications`` and ``KeyFlags/encryptStorage``; one of
  ///   them is enough.
  /// - Throws: ``OpenPGPError/noEncryptionKey``, or ``OpenPGPError/refused(_:)`` when a rule is why.
  public func encryptionKeys(for purpose: KeyFlags) throws(OpenPGPError) -> [PublicKey] {
    try usable {
      !$0.flags.isDisjoint(with: purpose) && $0.publicKey.algorithm.encrypts
    } orThrow: {
      .noEncryptionKey
    }
  }

  /// Whether the software of the holder reads AES-256 even if nothing says so: who has a key of RFC 9980 must
  /// (section 7.1). A key that the holder has not bound says nothing.
  var impliesAES256: Bool {
    keys.contains { key in
      key.selfSignature != nil && key.publicKey.algorithm.isPostQuantum
        && key.publicKey.algorithm.isAllowed(keyVersion: key.publicKey.version)
    }
  }

  /// The keys that may sign documents: subkeys made for it before the primary key, the youngest first.
  /// - Throws: ``OpenPGPError/keyCannot(_:)``, or ``OpenPGPError/refused(_:)`` when a rule is why.
  public func signingKeys() throws(OpenPGPError) -> [PublicKey] {
    let keys = try usable {
      $0.flags.contains(.sign) && $0.publicKey.algorithm.signs
    } orThrow: {
      .keyCannot(.sign)
    }
    let primary = certificate.fingerprint
    return keys.sorted { left, right in
      let isSubkey = (left: left.fingerprint != primary, right: right.fingerprint != primary)
      return isSubkey.left == isSubkey.right ? left.creationTime > right.creationTime : isSubkey.left
    }
  }

  /// The primary key, if it may certify others.
  /// - Throws: ``OpenPGPError/keyCannot(_:)``, or ``OpenPGPError/refused(_:)`` when a rule is why.
  public func certificationKey() throws(OpenPGPError) -> PublicKey {
    try usable {
      $0.isPrimary && $0.flags.contains(.certify)
    } orThrow: {
      .keyCannot(.certify)
    }[0]
  }

  /// Keys that `isWanted` picks and that have no problem.
  private func usable(
    _ isWanted: (Key) -> Bool, orThrow error: () -> OpenPGPError
  ) throws(OpenPGPError) -> [PublicKey] {
    let wanted = keys.filter(isWanted)
    let usable = wanted.filter { $0.problem == nil }
    if !usable.isEmpty { return usable.map(\.publicKey) }
    for problem in [problem] + wanted.map(\.problem) {
      if case .refused(let rule) = problem { throw .refused(rule) }
    }
    throw error()
  }
}

extension ValidCertificate {
  /// Whether the holder claims the user ID at ``time``, and one of the authorities has certified it and not
  /// revoked that.
  /// - Parameter authorities: valid at the same time.
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

/// Signatures by the issuers they name, so that many authorities and many signatures do not have to
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

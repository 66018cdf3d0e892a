// SPDX-License-Identifier: Apache-2.0
//
// Finds the self-signatures that count at a time (RFC 9580, section 5.2.3.10): of several on one component,
// the most recent valid one. The first that verifies ends the search. What does not verify decides nothing, neither
// by what it says nor by its place among the others (section 5.2.5).
//
// If none is as old as the reference time, the oldest later one counts: GnuPG replaces a self-signature when
// it prolongs a key, and such a certificate has nothing older.
//
// Properties are read from the hashed area only.

/// Finds the self-signatures that count at a time.
struct SelfSignatureResolver {
  /// What the holder says about a component.
  struct Binding {
    /// The signature that counts; nil when none does.
    let signature: Signature?
    /// Why none counts.
    let problem: ValidCertificate.Problem?
  }

  /// A revocation that counts.
  struct Revocation {
    let signature: Signature
    var reason: RevocationReason? { signature.revocationReason }
  }

  let primaryKey: PublicKey
  let time: Timestamp
  let now: Timestamp
  let policy: Policy
  /// Whether every signature was verified before, in its place.
  private let isVerifiedBefore: Bool
  /// How many signatures were verified.
  private(set) var verificationCount = 0

  init(
    _ primaryKey: PublicKey, at time: Timestamp, now: Timestamp, policy: Policy,
    isVerifiedBefore: Bool = false
  ) {
    self.isVerifiedBefore = isVerifiedBefore
    self.primaryKey = primaryKey
    self.time = time
    self.now = now
    self.policy = policy
  }

  /// The newest valid signature of the holder over `target` of those whose type `isWanted`.
  mutating func newest(
    _ signatures: [Signature], over target: SignedTarget, where isWanted: (SignatureType) -> Bool
  ) -> Binding {
    newest(signatures, over: target, by: primaryKey, where: isWanted)
  }

  /// The same of another key: a subkey's confirmation, a third party's certification.
  mutating func newest(
    _ signatures: [Signature], over target: SignedTarget, by key: PublicKey,
    where isWanted: (SignatureType) -> Bool
  ) -> Binding {
    var problem: ValidCertificate.Problem?
    let ordered = Self.newestFirst(signatures.filter { isWanted($0.type) && $0.mayBe(by: key) })
    let later = ordered.prefix { ($0.creationTime ?? .first) > time }
    for signature in ordered.dropFirst(later.count) {
      let obstacle = obstacle(to: signature, over: target, by: key)
      // Anybody can write one that the policy refuses.
      guard obstacle == nil || problem == nil, isMade(signature, over: target, by: key) else { continue }
      guard let obstacle else { return Binding(signature: signature, problem: nil) }
      problem = obstacle
    }
    // A self-signature that was refused or has ended is not replaced by a later one.
    guard problem == nil else { return Binding(signature: nil, problem: problem) }
    for signature in later.reversed() where (signature.creationTime ?? .first) <= now {
      if obstacle(to: signature, over: target, by: key) == nil, isMade(signature, over: target, by: key) {
        return Binding(signature: signature, problem: nil)
      }
    }
    return Binding(signature: nil, problem: later.isEmpty ? .notBound : .notYetValid)
  }

  /// A revocation by `key` that counts against `binding`.
  ///
  /// A hard one ends everything, whenever it was made. A soft one counts from its creation on, until it ends
  /// or the holder says otherwise later, and before the reference time. Of several of a kind the newest counts.
  /// - Parameter isFinal: whether hard revocations cannot be taken back: of keys, not of user IDs.
  mutating func revocation(
    in signatures: [Signature], type: SignatureType, over target: SignedTarget, against binding: Signature?,
    isFinal: Bool, by key: PublicKey? = nil
  ) -> Revocation? {
    let key = key ?? primaryKey
    var found: Revocation?
    for signature in Self.newestFirst(signatures.filter { $0.type == type && $0.mayBe(by: key) }) {
      // No rule about hash algorithms is asked: to pass over a weak revocation would make the key look good.
      guard let creationTime = signature.creationTime, !policy.hasUnknownCriticalPart(signature) else {
        continue
      }
      let reason = signature.revocationReason
      let isHard = isFinal && !(reason?.isSoft ?? false)
      if !isHard {
        guard found == nil, creationTime <= time, !signature.isExpired(at: time) else { continue }
        if let bound = binding?.creationTime, bound > creationTime, bound <= time { continue }
      }
      guard isMade(signature, over: target, by: key) else { continue }
      found = Revocation(signature: signature)
      if isHard { break }
    }
    return found
  }

  /// Whether `key` made the signature over `target`; false also when it cannot be verified.
  mutating func isMade(_ signature: Signature, over target: SignedTarget, by key: PublicKey) -> Bool {
    // But for revocations by others, which are kept when their revoker is not here, too.
    if isVerifiedBefore, key == primaryKey || signature.type != .keyRevocation {
      return key == primaryKey && target.allows(signature.type)
    }
    verificationCount += 1
    return (try? signature.isValid(over: target, by: key)) ?? false
  }

  /// Why a signature does not count, as far as it can be known without verifying.
  private func obstacle(
    to signature: Signature, over target: SignedTarget, by key: PublicKey
  ) -> ValidCertificate.Problem? {
    if let rule = policy.refusal(signature: signature) { return .refused(rule) }
    // RFC 9980, section 7.2: no binding of such a subkey by a weak hash counts, however old it is.
    if case .subkey(_, let subkey) = target, subkey.algorithm.isPostQuantum,
      let rule = policy.refusal(hash: signature.hash, for: .document, at: time)
    {
      return .refused(rule)
    }
    guard let creationTime = signature.creationTime else { return .refused(.creationTimeMissing) }
    if creationTime < key.creationTime { return .refused(.signatureOlderThanKey) }
    return signature.isExpired(at: time) ? .expired : nil
  }

  /// By creation; of two in one second the one with the greater octets, so that the order in which they came
  /// decides nothing.
  private static func newestFirst(_ signatures: [Signature]) -> [Signature] {
    guard signatures.count > 1 else { return signatures }
    return signatures.map { (time: $0.creationTime?.secondsSince1970 ?? 0, signature: $0) }
      .sorted { left, right in
        left.time == right.time
          ? right.signature.body.lexicographicallyPrecedes(left.signature.body) : left.time > right.time
      }
      .map(\.signature)
  }
}

extension SelfSignatureResolver {
  /// A user ID and what the holder says about it.
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

  /// - Parameter revocations: of any subkeys, wherever they are in the certificate.
  mutating func resolve(
    _ component: Certificate.Component<PublicKey>, of primary: PrimaryKeyProperties,
    revocations: inout SubkeyRevocationAttempts
  ) -> ValidCertificate.Key {
    let key = component.packet
    let target = SignedTarget.subkey(primary: primaryKey, key)
    let binding = newest(component.signatures, over: target) { $0 == .subkeyBinding }
    let flags =
      binding.signature.map { confirmedFlags(of: key, boundBy: $0, among: component.signatures) } ?? []
    let expirationTime = [primary.expirationTime, binding.signature?.keyExpirationTime(of: key)]
      .compactMap(\.self).min()
    let problem =
      primary.problem
      ?? problem(
        of: component, bound: binding, revocations: &revocations, flags: flags, expirationTime: expirationTime
      )
    return ValidCertificate.Key(
      publicKey: key, isPrimary: false, flags: flags, expirationTime: expirationTime, problem: problem,
      selfSignature: binding.signature)
  }

  private mutating func problem(
    of component: Certificate.Component<PublicKey>, bound binding: Binding,
    revocations: inout SubkeyRevocationAttempts, flags: KeyFlags, expirationTime: Timestamp?
  ) -> ValidCertificate.Problem? {
    let key = component.packet
    let target = SignedTarget.subkey(primary: primaryKey, key)
    var revoked = revocation(
      in: component.signatures, type: .subkeyRevocation, over: target, against: binding.signature,
      isFinal: true)
    // A misplaced subkey revocation still counts; where nothing is bound there is nothing to revoke.
    if revoked == nil, binding.signature != nil {
      revoked = revocation(
        in: revocations.next(), type: .subkeyRevocation, over: target, against: binding.signature,
        isFinal: true)
    }
    if let revoked { return .revoked(revoked.reason) }
    if let problem = binding.problem { return problem }
    if key.version != primaryKey.version { return .refused(.versionMismatch) }
    if key.creationTime > time { return .notYetValid }
    if let expirationTime, expirationTime <= time { return .expired }
    if let rule = policy.refusal(key: key) { return .refused(rule) }
    if key.material.isMalformedKEM { return .malformed }
    return flags.isEmpty ? .notBound : nil
  }

  /// The flags of a subkey. Those for signing need a signature of the subkey itself over the primary key, or
  /// anybody could claim somebody else's signatures by binding the key that made them (section 5.2.1.9).
  /// - Parameter signatures: where copies of the binding are: the confirmation is in the area that anybody can change.
  private mutating func confirmedFlags(
    of key: PublicKey, boundBy binding: Signature, among signatures: [Signature]
  ) -> KeyFlags {
    let flags = binding.keyFlags ?? KeyFlags.unstated(for: key.algorithm, isPrimary: false)
    let signing: KeyFlags = [.certify, .sign]
    // Nothing is signed, or nothing may be verified: then the copies need not be looked for.
    guard !flags.isDisjoint(with: signing) else { return flags }
    if isVerifiedBefore { return flags.subtracting(signing) }
    let copies = SignatureCopies.of(binding, among: signatures)
    let confirmation = newest(
      copies.embeddedSignatures, over: .subkey(primary: primaryKey, key), by: key
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

extension Signature {
  /// Whether `key` is among those that are hinted at as its maker, of a version that goes with it: without a
  /// hint it may be anybody's. Costs no cryptography, so that thousands of other people's signatures can be
  /// passed over.
  func mayBe(by key: PublicKey) -> Bool {
    guard fits(key) else { return false }
    let fingerprints = issuerFingerprints
    let keyIDs = issuerKeyIDs
    return fingerprints.isEmpty && keyIDs.isEmpty || fingerprints.contains(key.fingerprint)
      || keyIDs.contains(key.keyID)
  }

  var keyFlags: KeyFlags? {
    hashedArea.last { $0.asKeyFlags }
  }

  /// When `key` ends by this signature; nil is never, and so are zero seconds (section 5.2.3.13).
  func keyExpirationTime(of key: PublicKey) -> Timestamp? {
    let seconds: UInt32? = hashedArea.last { $0.asKeyExpirationTime }
    guard let seconds, seconds != 0 else { return nil }
    return key.creationTime.adding(seconds: seconds)
  }
}

extension Certificate {
  /// Revocations of subkeys that may be the holder's: misplaced ones first, then those after subkeys.
  var subkeyRevocations: [Signature] {
    let places =
      [signatures] + userIDs.map(\.signatures) + userAttributes.map(\.signatures)
      + opaqueSubkeys.map(\.signatures) + subkeys.map(\.signatures)
    return places.joined().filter { $0.type == .subkeyRevocation && $0.mayBe(by: primaryKey) }
  }
}

/// Revocations of subkeys that may be misplaced, so that all are tried on every subkey that is bound.
///
/// Anybody can add revocations, and subkeys that are not bound. Only a holder can bind so many that attempts run out.
struct SubkeyRevocationAttempts {
  private let revocations: [Signature]
  private var rest = Limits.subkeyRevocationAttemptCount

  init(_ revocations: [Signature]) { self.revocations = revocations }

  /// Those to try on the next subkey.
  mutating func next() -> [Signature] {
    let tried = Array(revocations.prefix(rest))
    rest -= tried.count
    return tried
  }
}

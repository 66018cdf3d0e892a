// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3.10: of several self-signatures on one object the most recent valid one counts. Who is
// said to have made a signature, its date and the policy are asked before it is verified, and the first one
// that verifies ends the search. When none is as old as the time that is asked about, the oldest of the later
// ones counts: GnuPG replaces a self-signature when it prolongs a key, and a certificate that came from there
// has nothing older.

/// Finds the statements of a certificate's holder that count at a time.
struct SelfSignatureResolver {
  /// What the holder says of a component.
  struct Binding {
    /// The signature that counts; nil when none does.
    let signature: Signature?
    /// Why none counts.
    let problem: ValidCertificate.Problem?
  }

  /// A revocation that counts.
  struct Revocation {
    let reason: RevocationReason?
  }

  let primaryKey: PublicKey
  let time: Timestamp
  let now: Timestamp
  let policy: Policy
  /// How many signatures were verified.
  private(set) var verificationCount = 0

  init(_ primaryKey: PublicKey, at time: Timestamp, now: Timestamp, policy: Policy) {
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
      if let obstacle = obstacle(to: signature, by: key) {
        problem = problem ?? obstacle
      } else if isMade(signature, over: target, by: key) {
        return Binding(signature: signature, problem: nil)
      }
    }
    // What the holder has said and taken back is not made good by what was said later.
    guard problem == nil else { return Binding(signature: nil, problem: problem) }
    for signature in later.reversed() where (signature.creationTime ?? .first) <= now {
      if obstacle(to: signature, by: key) == nil, isMade(signature, over: target, by: key) {
        return Binding(signature: signature, problem: nil)
      }
    }
    return Binding(signature: nil, problem: later.isEmpty ? .notBound : .notYetValid)
  }

  /// A revocation by `key` that counts against `binding`.
  ///
  /// A hard one ends everything, whenever it was made. A soft one counts from its creation on, until it ends
  /// or the holder says otherwise later.
  /// - Parameter isFinal: whether hard revocations cannot be taken back: of keys, not of user IDs.
  mutating func revocation(
    in signatures: [Signature], type: SignatureType, over target: SignedTarget, against binding: Signature?,
    isFinal: Bool, by key: PublicKey? = nil
  ) -> Revocation? {
    let key = key ?? primaryKey
    var found: Revocation?
    for signature in signatures where signature.type == type && signature.mayBe(by: key) {
      // No rule about hash algorithms is asked: to pass over a weak revocation would make the key look good.
      guard let creationTime = signature.creationTime, !policy.hasUnknownCriticalPart(signature) else {
        continue
      }
      let reason = signature.revocationReason
      let isHard = isFinal && !(reason?.isSoft ?? false)
      if !isHard {
        guard found == nil, creationTime <= time, !signature.isExpired(at: time) else { continue }
        if let bound = binding?.creationTime, bound > creationTime { continue }
      }
      guard isMade(signature, over: target, by: key) else { continue }
      found = Revocation(reason: reason)
      if isHard { break }
    }
    return found
  }

  /// Whether `key` made the signature over `target`; what cannot be verified was not.
  mutating func isMade(_ signature: Signature, over target: SignedTarget, by key: PublicKey) -> Bool {
    verificationCount += 1
    return (try? signature.isValid(over: target, by: key)) ?? false
  }

  /// Why a signature does not count, as far as it can be known without verifying.
  private func obstacle(to signature: Signature, by key: PublicKey) -> ValidCertificate.Problem? {
    if let rule = policy.refusal(signature: signature) { return .refused(rule) }
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

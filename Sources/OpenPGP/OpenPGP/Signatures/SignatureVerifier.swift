// SPDX-License-Identifier: Apache-2.0
//
// Verifies signatures over documents: which keys may have made a signature, whether one did, and what its
// certificate says about the key at that time. The policy is asked here, once, and its answer is the result.
//
// Issuers are hints: they choose which keys are tried and prove nothing. A signature that names no issuer is
// not tried. What a certificate says about a key costs a verification for each signature that claims to be
// the holder's, and anybody can add thousands of these to a certificate, and copies of one signature to a
// document: so each answer is found once.

/// Verifies signatures over documents.
public struct SignatureVerifier: Sendable {
  /// Whose signatures count. Each knows the others, which may be its revokers.
  public let certificates: [Certificate]
  /// Which algorithms and dates are good enough.
  public var policy: Policy
  /// Now, for expiry.
  public var time: Timestamp
  /// Bounds for the creation time of signatures (SOP's --not-before and --not-after).
  public var notBefore: Timestamp?
  /// The latest creation time; nil means no limit but ``time``.
  public var notAfter: Timestamp?

  /// A verifier without bounds of its own on creation times.
  public init(certificates: [Certificate], policy: Policy, time: Timestamp) {
    self.certificates = certificates.map { $0.knowing(certificates) }
    self.policy = policy
    self.time = time
  }

  /// - Parameters:
  ///   - intendedFor: the primary key of who decrypted the message, to compare with intended recipients; nil
  ///     when it was not encrypted.
  ///   - cache: the findings for the other signatures of the document.
  func verify(
    _ signature: Signature, _ hash: DocumentHash, intendedFor: Fingerprint?, cache: SigningKeyCache
  ) -> SignatureVerification {
    if let verification = resultWithoutDocument(signature) { return verification }
    guard hash.serves(signature) else { return SignatureVerification(.bad, signature) }
    let digest = hash.digest(for: signature)
    let verifications = SigningCandidate.all(for: signature, in: certificates).map { candidate in
      let result = result(signature, digest, by: candidate, intendedFor: intendedFor, cache: cache)
      return SignatureVerification(result, signature, by: candidate)
    }
    guard let best = verifications.max(by: { $0.result.rank < $1.result.rank }) else {
      return SignatureVerification(.unknownKey, signature)
    }
    // One copy of a certificate may have a revocation that another lacks.
    return verifications.first { $0.result == .revoked && $0.primaryKey == best.primaryKey } ?? best
  }

  /// The result of a signature, if it can be known without the document: then the document is not hashed for
  /// it. Else nil.
  func resultWithoutDocument(_ signature: Signature) -> SignatureVerification? {
    guard signature.type.isOverDocument else {
      return SignatureVerification(.refused(.signatureType(signature.type)), signature)
    }
    guard signature.namesIssuerOfOwnVersion else { return SignatureVerification(.bad, signature) }
    guard signature.namesIssuer else { return SignatureVerification(.refused(.issuerMissing), signature) }
    let candidates = SigningCandidate.all(for: signature, in: certificates)
    guard let candidate = candidates.first else { return SignatureVerification(.unknownKey, signature) }
    if let rule = policy.refusal(signature: signature) {
      return SignatureVerification(.refused(rule), signature, by: candidate)
    }
    guard HashContext.isAvailable(signature.hash) else {
      return SignatureVerification(.refused(.hashAlgorithm(signature.hash)), signature, by: candidate)
    }
    return nil
  }

  /// Whether a signature that is announced so may be by one of the keys: if not, the data need not be hashed
  /// for it, however many are announced.
  func knows(issuerOf variant: OnePassSignature.Variant) -> Bool {
    switch variant {
    case .version3(.anonymous): true
    case .version3(let id): certificates.contains { $0.publicKeys.contains { $0.keyID == id } }
    case .version6(let fingerprint, _): certificates.contains { $0.publicKey(fingerprint) != nil }
    }
  }

  private func result(
    _ signature: Signature, _ digest: [UInt8], by candidate: SigningCandidate, intendedFor: Fingerprint?,
    cache: SigningKeyCache
  ) -> SignatureVerification.Result {
    if let rule = policy.refusal(signature: signature, by: candidate.key) { return .refused(rule) }
    do {
      guard try signature.isValid(digest: digest, by: candidate.key) else { return .bad }
    } catch {
      return .refused(.publicKeyAlgorithm(candidate.key.algorithm))
    }
    if let rule = refusal(signature, intendedFor: intendedFor) { return .refused(rule) }
    guard let creationTime = signature.creationTime else { return .refused(.creationTimeMissing) }
    return cache.result(of: candidate, at: creationTime) { keyResult(of: candidate, at: creationTime) }
  }

  /// Rules about the time of a genuine signature, and about whom it is for.
  private func refusal(_ signature: Signature, intendedFor: Fingerprint?) -> Policy.Rule? {
    if let rule = policy.refusal(signature: signature, at: time) { return rule }
    if let notBefore, let creationTime = signature.creationTime, creationTime < notBefore {
      return .outsideRequestedTime
    }
    if let notAfter, let creationTime = signature.creationTime, creationTime > notAfter {
      return .outsideRequestedTime
    }
    let recipients = signature.intendedRecipients
    if let intendedFor, !recipients.isEmpty, !recipients.contains(intendedFor) {
      return .notIntendedRecipient
    }
    return nil
  }

  /// What the certificate says about the key at the time of the signature. What it says today counts only if
  /// the key has expired since, or has a hard revocation.
  private func keyResult(of candidate: SigningCandidate, at creationTime: Timestamp)
    -> SignatureVerification.Result
  {
    let certificate = certificates[candidate.certificateIndex]
    let valid = ValidCertificate(certificate, at: creationTime, now: time, policy: policy)
    guard let key = valid.keys.first(where: { $0.publicKey.fingerprint == candidate.key.fingerprint }) else {
      return .refused(.keyNotBound)
    }
    if let problem = valid.problem ?? key.problem { return Self.result(problem) }
    guard key.flags.contains(.sign) else { return .refused(.keyFlags) }
    let ends = [key.expirationTime, valid.keys.first?.expirationTime].compactMap { $0 }
    guard ends.contains(where: { $0 <= time }) else { return .good }
    // The end may have been moved by a later self-signature.
    let today = ValidCertificate(certificate, at: time, now: time, policy: policy)
    let keyToday = today.keys.first { $0.publicKey.fingerprint == candidate.key.fingerprint }
    return today.problem == .expired || keyToday?.problem == .expired ? .goodButExpired : .good
  }

  private static func result(_ problem: ValidCertificate.Problem) -> SignatureVerification.Result {
    switch problem {
    // Statements made only later do not count for documents signed before.
    case .notBound, .notYetValid, .malformed: .refused(.keyNotBound)
    case .expired: .refused(.keyExpired)
    case .revoked: .revoked
    case .refused(let rule): .refused(rule)
    }
  }
}

extension SignatureVerification.Result {
  /// Which of several keys' results for one signature counts: the one that says most.
  fileprivate var rank: Int {
    switch self {
    case .good: 5
    case .goodButExpired: 4
    case .revoked: 3
    case .refused: 2
    case .bad: 1
    case .unknownKey: 0
    }
  }
}

/// A key that may have made a signature.
struct SigningCandidate {
  let key: PublicKey
  let primaryKey: Fingerprint
  let certificateIndex: Int

  /// The keys that `signature` names; at most ``Limits/issuerAttemptCount``.
  static func all(for signature: Signature, in certificates: [Certificate]) -> [SigningCandidate] {
    let fingerprints = Set(signature.issuerFingerprints)
    let keyIDs = Set(signature.issuerKeyIDs).subtracting([.anonymous])
    var candidates: [SigningCandidate] = []
    for (index, certificate) in certificates.enumerated() {
      for key in [certificate.primaryKey] + certificate.subkeys.map(\.packet) {
        guard fingerprints.contains(key.fingerprint) || keyIDs.contains(key.keyID) else { continue }
        candidates.append(
          SigningCandidate(key: key, primaryKey: certificate.fingerprint, certificateIndex: index))
        if candidates.count == Limits.issuerAttemptCount { return candidates }
      }
    }
    return candidates
  }
}

/// What certificates said about keys at the times of the signatures on one document.
final class SigningKeyCache {
  private struct Question: Hashable {
    let certificateIndex: Int
    let key: Fingerprint
    let time: Timestamp
  }

  private var results: [Question: SignatureVerification.Result] = [:]

  /// How many different questions were asked.
  var count: Int { results.count }

  /// What `find` finds, or has found before for the same key, certificate and time.
  func result(
    of candidate: SigningCandidate, at time: Timestamp, orFind find: () -> SignatureVerification.Result
  ) -> SignatureVerification.Result {
    let question = Question(
      certificateIndex: candidate.certificateIndex, key: candidate.key.fingerprint, time: time)
    if let known = results[question] { return known }
    let result = find()
    results[question] = result
    return result
  }
}

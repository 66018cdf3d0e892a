// SPDX-License-Identifier: Apache-2.0
//
// Judges signatures: who may have made it, whether that key did, and what the certificate said of the key
// then. The policy is asked here, once, and what it says is the verdict.

/// Judges signatures over documents.
public struct SignatureVerifier: Sendable {
  public var certificates: [Certificate]
  public var policy: Policy
  /// Now, for expiry.
  public var time: Timestamp
  /// Bounds for the creation time of signatures (SOP's --not-before and --not-after).
  public var notBefore: Timestamp?
  public var notAfter: Timestamp?

  public init(certificates: [Certificate], policy: Policy, time: Timestamp) {
    self.certificates = certificates
    self.policy = policy
    self.time = time
  }

  /// - Parameters:
  ///   - intendedFor: the primary key of who decrypted the message, to compare with intended recipients; nil
  ///     when it was not encrypted.
  ///   - grades: what was found out for the other signatures of the document.
  func judge(
    _ signature: Signature, _ hash: DocumentHash, intendedFor: Fingerprint?, grades: SigningKeyGrades
  ) -> SignatureVerdict {
    if let verdict = verdictWithoutDocument(signature) { return verdict }
    guard hash.serves(signature) else { return SignatureVerdict(.bad, signature) }
    let digest = hash.digest(for: signature)
    let verdicts = SigningCandidate.all(for: signature, in: certificates).map { candidate in
      let grade = grade(signature, digest, by: candidate, intendedFor: intendedFor, grades: grades)
      return SignatureVerdict(grade, signature, by: candidate)
    }
    guard let best = verdicts.max(by: { $0.grade.rank < $1.grade.rank }) else {
      return SignatureVerdict(.unknownKey, signature)
    }
    // One copy of a certificate may have a revocation that another lacks.
    return verdicts.first { $0.grade == .revoked && $0.primaryKey == best.primaryKey } ?? best
  }

  /// What can be said of a signature before the document has passed: then it need not be hashed for it. Nil
  /// when it takes the document to tell.
  func verdictWithoutDocument(_ signature: Signature) -> SignatureVerdict? {
    guard signature.type.isOverDocument else {
      return SignatureVerdict(.refused(.signatureType(signature.type)), signature)
    }
    guard signature.namesIssuerOfOwnVersion else { return SignatureVerdict(.bad, signature) }
    guard signature.namesIssuer else { return SignatureVerdict(.refused(.issuerMissing), signature) }
    let candidates = SigningCandidate.all(for: signature, in: certificates)
    guard let candidate = candidates.first else { return SignatureVerdict(.unknownKey, signature) }
    if let rule = policy.refusal(signature: signature) {
      return SignatureVerdict(.refused(rule), signature, by: candidate)
    }
    guard HashContext.isAvailable(signature.hash) else {
      return SignatureVerdict(.refused(.hashAlgorithm(signature.hash)), signature, by: candidate)
    }
    return nil
  }

  /// Whether a signature that is announced so may be by one of the keys: if not, the data need not be hashed
  /// for it, however many are announced.
  func knows(_ issuer: OnePassSignature.Issuer) -> Bool {
    switch issuer {
    case .keyID(.anonymous): true
    case .keyID(let id):
      certificates.contains { $0.publicKeys.contains { $0.keyID == id } }
    case .fingerprint(let fingerprint): certificates.contains { $0.publicKey(fingerprint) != nil }
    }
  }

  private func grade(
    _ signature: Signature, _ digest: [UInt8], by candidate: SigningCandidate, intendedFor: Fingerprint?,
    grades: SigningKeyGrades
  ) -> SignatureVerdict.Grade {
    if let rule = policy.refusal(signature: signature, by: candidate.key) { return .refused(rule) }
    do {
      guard try signature.isValid(digest: digest, by: candidate.key) else { return .bad }
    } catch {
      return .refused(.publicKeyAlgorithm(candidate.key.algorithm))
    }
    if let rule = refusal(signature, intendedFor: intendedFor) { return .refused(rule) }
    guard let creationTime = signature.creationTime else { return .refused(.creationTimeMissing) }
    return grades.grade(of: candidate, at: creationTime) { gradeKey(of: candidate, at: creationTime) }
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

  /// What the certificate says of the key at the time of the signature; what it says today counts only when
  /// it has expired since, or was revoked for a reason that ends everything.
  private func gradeKey(of candidate: SigningCandidate, at creationTime: Timestamp) -> SignatureVerdict.Grade
  {
    let certificate = certificates[candidate.certificateIndex]
    let view = CertificateView(
      certificate, at: creationTime, now: time, policy: policy, revokers: certificates)
    guard let key = view.keys.first(where: { $0.publicKey.fingerprint == candidate.key.fingerprint }) else {
      return .refused(.keyNotBound)
    }
    if let problem = view.problem ?? key.problem { return Self.grade(problem) }
    guard key.flags.contains(.sign) else { return .refused(.keyFlags) }
    let ends = [key.expirationTime, view.keys.first?.expirationTime].compactMap { $0 }
    guard ends.contains(where: { $0 <= time }) else { return .good }
    // The end may have been moved by a later self-signature.
    let today = CertificateView(
      certificate, at: time, now: time, policy: policy, revokers: certificates)
    let keyToday = today.keys.first { $0.publicKey.fingerprint == candidate.key.fingerprint }
    return today.problem == .expired || keyToday?.problem == .expired ? .goodButExpired : .good
  }

  private static func grade(_ problem: CertificateView.Problem) -> SignatureVerdict.Grade {
    switch problem {
    // What was said only later does not count for what was signed before.
    case .notBound, .notYetValid: .refused(.keyNotBound)
    case .expired: .refused(.keyExpired)
    case .revoked: .revoked
    case .refused(let rule): .refused(rule)
    }
  }
}

extension SignatureVerdict.Grade {
  /// Which of several keys' verdicts on one signature counts: the one that says most.
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

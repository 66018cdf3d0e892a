// SPDX-License-Identifier: Apache-2.0
//
// From the engine's results to grades: who a key belongs to, whether that is verified, and what has happened to the key
// since. A key counts as verified only if it is the one whose fingerprint was compared.

internal import Contacts
internal import Identities
public import OpenPGP
internal import ProtectedData

/// Judges signatures for the owner of an address book.
public struct SignatureJudge: Sendable {
  private struct Known {
    let certificate: Certificate
    let signer: SignatureFinding.Signer
    /// Of a contact's key.
    let state: Contact.Key.State?
    let isVerified: Bool
  }

  private struct Revocation {
    let reason: RevocationReason?
  }

  private let known: [Known]
  private let own: Set<Fingerprint>
  private let time: Timestamp

  /// A judge who knows everybody in `book`.
  public init(_ book: AddressBook) {
    time = book.time
    var known = book.identities.map {
      Known(certificate: $0.certificate, signer: .identity($0), state: nil, isVerified: true)
    }
    let own = Set(known.map(\.certificate.fingerprint))
    for contact in book.contacts {
      for (key, certificate) in zip(contact.entry.keys, contact.certificates)
      where !own.contains(certificate.fingerprint) {
        known.append(
          Known(
            certificate: certificate, signer: .contact(contact.entry), state: key.state,
            isVerified: contact.entry.verification?.fingerprint == certificate.fingerprint))
      }
    }
    self.known = known
    self.own = own
  }

  /// What verifies with every key that is here, at the time of the address book.
  public var verifier: SignatureVerifier {
    SignatureVerifier(certificates: known.map(\.certificate), policy: .standard, time: time)
  }

  /// The verdict on results of ``verifier``.
  /// - Parameters:
  ///   - unreadable: how many signatures there are besides that cannot be read.
  ///   - isEncrypted: whether the signatures were inside an encryption.
  ///   - hadPassword: whether a password opened that, which says nothing about whom the signer has meant.
  public func verdict(
    _ verifications: [SignatureVerification], unreadable: Int = 0, isEncrypted: Bool,
    hadPassword: Bool = false
  ) -> Verdict {
    let judged = verifications.map { verification in
      finding(verification, envelope: isEncrypted ? hadPassword ? .password : .key : .none)
    }
    return Verdict(
      judged + Array(repeating: .unreadable, count: min(unreadable, Limits.signatureCount)))
  }

  /// What the signatures were in.
  private enum Envelope {
    case none, key, password
  }

  private func finding(_ verification: SignatureVerification, envelope: Envelope) -> SignatureFinding {
    let signature = verification.signature
    let who = signer(of: verification)
    let reason = reason(verification, who)
    // A key that waits for a decision is nobody's yet.
    let isAccepted = who.map { $0.state != .waiting } ?? false
    let grade: SignatureGrade =
      if reason != nil { .invalid } else if let who, isAccepted, verification.result != .unknownKey {
        who.isVerified ? .verified : .unverified
      } else { .unknown }
    let signingKey = verification.signingKey ?? signature.issuerFingerprints.first
    return SignatureFinding(
      grade: grade, reason: reason,
      notes: reason == nil ? notes(verification, who, envelope) : [],
      signer: who?.signer ?? .unknown, signingKey: signingKey,
      primaryKey: verification.primaryKey ?? who?.certificate.fingerprint, made: signature.creationTime)
  }

  /// Who it says it is by, even if it is not.
  private func signer(of verification: SignatureVerification) -> Known? {
    if let primary = verification.primaryKey {
      return known.first { $0.certificate.fingerprint == primary }
    }
    let signature = verification.signature
    let (fingerprints, ids) = (signature.issuerFingerprints, signature.issuerKeyIDs)
    return known.first { who in
      who.certificate.publicKeys.contains { fingerprints.contains($0.fingerprint) || ids.contains($0.keyID) }
    }
  }

  private func reason(_ verification: SignatureVerification, _ who: Known?) -> SignatureFinding.Reason? {
    switch verification.result {
    case .good, .goodButExpired, .unknownKey: nil
    case .revoked: .revoked(who.flatMap { revocation(of: $0, verification.signingKey) }?.reason)
    case .bad: .changed
    case .refused(let rule): reason(rule, verification, who)
    }
  }

  private func reason(
    _ rule: Policy.Rule, _ verification: SignatureVerification, _ who: Known?
  ) -> SignatureFinding.Reason {
    switch rule {
    case .keyExpired:
      .expiredThen(end(of: who, verification.signingKey, at: verification.signature.creationTime ?? time))
    case .notIntendedRecipient: .forOthers
    case .hashAlgorithm, .publicKeyAlgorithm, .keySize, .publicExponent: .tooWeak(rule)
    case .signatureFromTheFuture: .future
    case .signatureExpired: .signatureExpired
    case .keyNotBound: .foreignKey
    case .symmetricAlgorithm, .noIntegrityProtection, .versionMismatch, .criticalSubpacket, .issuerMissing,
      .tooManySalts, .signatureType, .keyFlags, .outsideRequestedTime, .creationTimeMissing,
      .signatureOlderThanKey:
      .malformed
    }
  }

  private func notes(
    _ verification: SignatureVerification, _ who: Known?, _ envelope: Envelope
  ) -> [SignatureFinding.Note] {
    guard let who else { return [] }
    var notes: [SignatureFinding.Note] = []
    if verification.result == .goodButExpired {
      notes.append(.expiredSince(end(of: who, verification.signingKey, at: time)))
    } else if let revocation = revocation(of: who, verification.signingKey) {
      notes.append(.revokedSince(revocation.reason))
    }
    if let state = who.state, state != .inUse { notes.append(.keyChanged(wasInUse: state == .former)) }
    let named = verification.signature.intendedRecipients
    if envelope != .none, named.isEmpty { notes.append(.noRecipientsNamed) }
    // A copy for the signer does not say that it is for nobody else.
    let others = named.filter { $0 != who.certificate.fingerprint }
    if envelope == .password, !others.isEmpty, own.isDisjoint(with: named) { notes.append(.othersNamed) }
    return notes
  }

  /// Whether the key is revoked today.
  private func revocation(of who: Known, _ key: Fingerprint?) -> Revocation? {
    let valid = valid(who, at: time)
    for problem in [valid.problem, key.flatMap { valid.key($0) }?.problem] {
      if case .revoked(let reason) = problem { return Revocation(reason: reason) }
    }
    return nil
  }

  private func end(of who: Known?, _ key: Fingerprint?, at time: Timestamp) -> Timestamp? {
    guard let who else { return nil }
    let valid = valid(who, at: time)
    return (key.flatMap { valid.key($0) } ?? valid.primaryKey).expirationTime
  }

  private func valid(_ who: Known, at time: Timestamp) -> ValidCertificate {
    ValidCertificate(who.certificate, at: time, now: self.time, policy: .standard)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// What a signature is worth to the user, in five grades. The words are the command line's; the codes are stable.

public import Contacts
public import Identities
public import OpenPGP

/// What one signature, or all signatures of a message together, are worth.
public enum SignatureGrade: String, Sendable, CaseIterable {
  /// Good, by a verified contact or one of the user's identities.
  case verified
  /// Good, by a contact that is not verified.
  case unverified
  /// By a key that nobody here has.
  case unknown
  /// It fails, or must not count.
  case invalid
  /// There is no signature.
  case none
}

/// What one signature is worth.
public struct SignatureFinding: Sendable {
  /// Whose key it names.
  public enum Signer: Sendable {
    /// A contact's.
    case contact(ContactEntry)
    /// The user's own.
    case identity(Identity)
    /// Nobody's who is here.
    case unknown
  }

  /// Why a signature must not count.
  public enum Reason: Equatable, Sendable {
    /// The key had been revoked.
    case revoked(RevocationReason?)
    /// It is not over this text.
    case changed
    /// The key had expired before.
    case expiredThen(Timestamp?)
    /// Made for others.
    case forOthers
    /// Made in a way that can be forged today.
    case tooWeak(Policy.Rule)
    /// Dated in the future.
    case future
    /// It has ended.
    case signatureExpired
    /// Made with a key that its owner does not claim.
    case foreignKey
    /// Anything else that is not as it must be.
    case malformed
    /// It is damaged, or of a version that is not known.
    case unreadable
  }

  /// Something to know beside the grade.
  public enum Note: Equatable, Sendable {
    /// The key has expired since.
    case expiredSince(Timestamp?)
    /// The key was revoked since, which does not concern the signature.
    case revokedSince(RevocationReason?)
    /// Somebody unknown has signed too.
    case alsoSignedByUnknown
    /// The message was encrypted, and its signature does not say for whom.
    case noRecipientsNamed
    /// A password opened the message, and its signature names others and not the user. Whoever gave the password may
    /// be one of those, and have put the message under it.
    case othersNamed
    /// Not the key that is in use for the contact. False: it waits for a decision.
    case keyChanged(wasInUse: Bool)
  }

  /// What it is worth.
  public let grade: SignatureGrade
  /// Why it must not count; nil unless the grade is `invalid`.
  public let reason: Reason?
  /// What to know besides.
  public let notes: [Note]
  /// Whose key it names.
  public let signer: Signer
  /// The key that made it, or that it names.
  public let signingKey: Fingerprint?
  /// The primary key of ``signingKey``'s certificate.
  public let primaryKey: Fingerprint?
  /// When it says that it was made.
  public let made: Timestamp?

  /// The user IDs that the signer's key claims now. Others chose them: they are not sanitized.
  public var names: [String] {
    switch signer {
    case .contact(let contact):
      contact.keys.first { $0.summary.fingerprint == primaryKey }?.summary.userIDs ?? []
    case .identity(let identity): identity.userIDs.map(\.text)
    case .unknown: []
    }
  }

  /// A signature of which nothing can be said, not even whose it is.
  static var unreadable: SignatureFinding {
    SignatureFinding(
      grade: .invalid, reason: .unreadable, notes: [], signer: .unknown, signingKey: nil, primaryKey: nil,
      made: nil)
  }

  /// Whether it claims to be by somebody who is here.
  var isByKnown: Bool { if case .unknown = signer { false } else { true } }
}

/// What the signatures of a message are worth together.
public struct Verdict: Sendable {
  /// One grade for the message.
  public let grade: SignatureGrade
  /// The signature that decides; nil when there is none.
  public let decisive: SignatureFinding?
  /// What to know besides.
  public let notes: [SignatureFinding.Note]
  /// All signatures, in the order of their packets.
  public let findings: [SignatureFinding]

  /// An invalid signature that claims to be by somebody who is here makes all of it invalid. Else the best good one
  /// counts, and unknown ones are a note; else it is unknown. Signatures that cannot be read decide where there is no
  /// other.
  init(_ findings: [SignatureFinding]) {
    self.findings = findings
    let unknown = findings.first { $0.grade == .unknown }
    let good = findings.first { $0.grade == .verified } ?? findings.first { $0.grade == .unverified }
    decisive =
      findings.first { $0.grade == .invalid && $0.isByKnown } ?? good ?? unknown ?? findings.first
    grade = decisive?.grade ?? .none
    let isGood = grade == .verified || grade == .unverified
    notes = (decisive?.notes ?? []) + (isGood && unknown != nil ? [.alsoSignedByUnknown] : [])
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The result of verifying a signature over a document, and the proof that one was good.

/// The outcome of verifying a signature over a document. Only a verifier makes one.
public struct SignatureVerification: Sendable {
  /// How a verification ended.
  @nonexhaustive
  public enum Result: Sendable, Equatable {
    /// Made by that key over this document, and acceptable.
    case good
    /// Good when it was made; the key has expired since.
    case goodButExpired
    /// The key was revoked (hard, or before the signature was made).
    case revoked
    /// None of the certificates has the key.
    case unknownKey
    /// Not made by that key over this document, or malformed.
    case bad
    /// The policy refuses it, genuine or not.
    case refused(Policy.Rule)
  }

  /// How it ended.
  public let result: Result
  /// The signature.
  public let signature: Signature
  /// The key that made it, and the primary key of its certificate, when known.
  public let signingKey: Fingerprint?
  /// The primary key of the certificate of ``signingKey``, when known.
  public let primaryKey: Fingerprint?
  /// The index of the certificate among those that were given.
  public let certificateIndex: Int?

  init(_ result: Result, _ signature: Signature) {
    self.result = result
    self.signature = signature
    signingKey = nil
    primaryKey = nil
    certificateIndex = nil
  }

  init(_ result: Result, _ signature: Signature, by candidate: SigningCandidate) {
    self.result = result
    self.signature = signature
    signingKey = candidate.key.fingerprint
    primaryKey = candidate.primaryKey
    certificateIndex = candidate.certificateIndex
  }

  /// The proof that somebody signed the document; nil unless the signature is good, or was when it was made.
  public var verified: VerifiedSignature? { VerifiedSignature(self) }
}

/// Proof that a signature was verified: only a verification with a good result makes one, so a function that takes one
/// cannot be called with less.
public struct VerifiedSignature: Sendable {
  /// When it says that it was made; the key was good then.
  public let creationTime: Timestamp
  /// The key that made it, and the primary key of its certificate.
  public let signingKey: Fingerprint
  /// The primary key of the certificate of ``signingKey``.
  public let primaryKey: Fingerprint
  /// Whether it is over text, whose line ends do not matter, or over the very octets.
  public let isOverText: Bool
  /// The index of the certificate among those that were given.
  public let certificateIndex: Int
  /// Whether the key has expired since.
  public let keyHasExpiredSince: Bool

  init?(_ verification: SignatureVerification) {
    guard verification.result == .good || verification.result == .goodButExpired,
      let creationTime = verification.signature.creationTime, let signingKey = verification.signingKey,
      let primaryKey = verification.primaryKey, let certificateIndex = verification.certificateIndex
    else { return nil }
    self.creationTime = creationTime
    self.signingKey = signingKey
    self.primaryKey = primaryKey
    self.certificateIndex = certificateIndex
    isOverText = verification.signature.type == .text
    keyHasExpiredSince = verification.result == .goodButExpired
  }
}

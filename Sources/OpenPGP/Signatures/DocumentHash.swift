// SPDX-License-Identifier: Apache-2.0
//
// Placeholders of the skeleton; each becomes a file of its own.

/// The hash of a document on its way to a signature: the salt first (version 6), line ends as CR LF when the
/// signature is over text (section 5.2.4).
final class DocumentHash {
  let algorithm: HashAlgorithm
  let isText: Bool
  let salt: [UInt8]

  init(_ algorithm: HashAlgorithm, isText: Bool, salt: [UInt8]) throws(OpenPGPError) {
    preconditionFailure("not built yet")
  }

  func update(_ bytes: RawSpan) { preconditionFailure("not built yet") }

  /// The digest for `signature`, whose fields go in last; other signatures over the same document can follow.
  func digest(for signature: Signature) -> [UInt8] { preconditionFailure("not built yet") }
}

/// What a signature that is not over a document is over.
enum SignedTarget {
  case directKey(PublicKey)
  case userID(PublicKey, UserID)
  case userAttribute(PublicKey, UserAttribute)
  case subkey(primary: PublicKey, PublicKey)
}

extension Signature {
  /// Whether `key` made this signature over `target`. Says nothing about time, flags or policy.
  func isValid(over target: SignedTarget, by key: PublicKey) throws(OpenPGPError) -> Bool {
    preconditionFailure("not built yet")
  }
}

/// Makes signatures.
struct SignatureBuilder {
  var type: SignatureType
  var hash: HashAlgorithm = .sha512
  var creationTime: Timestamp
  /// Hashed subpackets besides creation time and issuer fingerprint, which the builder adds.
  var subpackets: [Subpacket] = []
  /// For example back-signatures; the builder adds the issuer's key ID in version 4.
  var unhashedSubpackets: [Subpacket] = []

  func sign(_ target: SignedTarget, with signer: any Signer) throws(OpenPGPError) -> Signature {
    preconditionFailure("not built yet")
  }
}

/// Signs a document while it passes, with one or several keys.
final class DocumentSigner {
  init(
    _ signers: [any Signer], type: SignatureType, hash: HashAlgorithm, time: Timestamp,
    intendedRecipients: [Fingerprint] = []
  ) throws(OpenPGPError) { preconditionFailure("not built yet") }

  /// To be written before the document, in this order.
  var onePassSignatures: [OnePassSignature] { preconditionFailure("not built yet") }

  func update(_ bytes: RawSpan) { preconditionFailure("not built yet") }

  /// To be written after the document, in this order (the reverse of the one-pass packets').
  func finish() throws(OpenPGPError) -> [Signature] { preconditionFailure("not built yet") }
}

/// What a signature over a document is worth.
public struct SignatureVerdict: Sendable {
  public enum Grade: Sendable, Equatable {
    case good
    /// Good when it was made; the signature or the key has expired since.
    case goodButExpired
    /// The key was revoked (hard, or before the signature was made).
    case revoked
    /// None of the certificates has the key.
    case unknownKey
    /// Not made by that key over this document, or malformed.
    case bad
    case refused(Policy.Rule)
  }

  public let grade: Grade
  public let signature: Signature
  /// The key that made it, and the primary key of its certificate, when known.
  public let signingKey: Fingerprint?
  public let primaryKey: Fingerprint?
  /// The index of the certificate among those that were given.
  public let certificateIndex: Int?
}

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

  /// - Parameter intendedFor: who decrypted the message, to compare with intended recipients; nil when it was
  ///   not encrypted.
  func judge(_ signature: Signature, _ hash: DocumentHash, intendedFor: Fingerprint?) -> SignatureVerdict {
    preconditionFailure("not built yet")
  }
}

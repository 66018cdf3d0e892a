// SPDX-License-Identifier: Apache-2.0
//
// One pure value decides what is acceptable; time is an input. It is asked at one point on each path, and
// every refusal names its rule.

/// What is acceptable.
public struct Policy: Sendable {
  /// The policy of this release.
  public static let standard = Policy()

  /// The names of notations that the caller understands; a critical one of another name is refused.
  public var knownNotations: Set<[UInt8]> = []

  /// A rule that something was refused by.
  public enum Rule: Hashable, Sendable {
    /// The hash algorithm is too weak for a signature of that date, or too short for the key.
    case hashAlgorithm(HashAlgorithm)
    case publicKeyAlgorithm(PublicKeyAlgorithm)
    /// RSA below 2,048 bits.
    case keySize(bitCount: Int)
    /// RSA whose public exponent is even or below 3: with 1, what is encrypted stays as it was.
    case publicExponent
    case symmetricAlgorithm(SymmetricAlgorithm)
    /// Encrypted data without protection of their integrity.
    case noIntegrityProtection
    /// The signature's version does not belong to the key's, or the session key's to the data's.
    case versionMismatch
    /// A critical subpacket or notation that is not known.
    case criticalSubpacket
    /// The signature over a document does not say which key made it.
    case issuerMissing
    /// One of more signatures with salts of their own than ``Limits/saltedHashCount`` on one document.
    case tooManySalts
    case signatureType(SignatureType)
    case keyFlags
    case signatureExpired
    case signatureFromTheFuture
    case outsideRequestedTime
    case notIntendedRecipient
    case creationTimeMissing
    /// The signature was made before its key.
    case signatureOlderThanKey
    /// The key had expired when it made the signature.
    case keyExpired
    /// The certificate holds the key, and nothing valid of its holder says that it belongs there.
    case keyNotBound
  }

  /// How far another machine's clock may be ahead: what GnuPG and mail systems commonly forgive.
  public static let clockToleranceSeconds: UInt32 = 600

  public init() {}
}

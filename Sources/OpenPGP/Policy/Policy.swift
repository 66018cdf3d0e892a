// SPDX-License-Identifier: Apache-2.0
//
// One pure value decides what is acceptable; time is an input. It is asked at one point on each path, and
// every refusal names its rule.

/// What is acceptable.
public struct Policy: Sendable {
  /// A rule that something was refused by.
  public enum Rule: Hashable, Sendable {
    /// The hash algorithm is too weak for a signature of that date.
    case hashAlgorithm(HashAlgorithm)
    case publicKeyAlgorithm(PublicKeyAlgorithm)
    /// RSA below 2,048 bits, DSA, and the like.
    case keySize(bitCount: Int)
    case symmetricAlgorithm(SymmetricAlgorithm)
    /// Encrypted data without protection of their integrity.
    case noIntegrityProtection
    /// The signature's version does not belong to the key's, or the session key's to the data's.
    case versionMismatch
    /// A critical subpacket or notation that is not known.
    case criticalSubpacket
    case signatureType(SignatureType)
    case keyFlags
    case signatureExpired
    case signatureFromTheFuture
    case outsideRequestedTime
    case notIntendedRecipient
    case creationTimeMissing
    /// The signature was made before its key.
    case signatureOlderThanKey
  }

  /// The policy of this release.
  public static let standard = Policy()

  /// Whether a signature of `time` may use the hash; nil, or the rule that forbids it.
  public func refusal(hash: HashAlgorithm, for use: HashUse, at time: Timestamp) -> Rule? {
    preconditionFailure("not built yet")
  }

  public enum HashUse: Sendable { case document, certification }

  /// Whether the key's algorithm and size may be used.
  public func refusal(key: PublicKey) -> Rule? { preconditionFailure("not built yet") }

  /// Whether messages under the cipher may be read (`writing` false) or written.
  public func refusal(cipher: SymmetricAlgorithm, writing: Bool) -> Rule? {
    preconditionFailure("not built yet")
  }
}

// SPDX-License-Identifier: Apache-2.0

/// A signature that was verified: who asks for one cannot be given anything less. It cannot be made but from a
/// verification that says so.
public struct VerifiedSignature: Sendable {
  public let creationTime: Timestamp
  /// The key that made it, and the primary key of its certificate.
  public let signingKey: Fingerprint
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

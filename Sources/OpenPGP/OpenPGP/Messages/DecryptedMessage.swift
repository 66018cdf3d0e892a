// SPDX-License-Identifier: Apache-2.0

/// What is known of a message that was decrypted and authenticated.
public struct DecryptedMessage: Sendable {
  /// The key of the message, with its cipher.
  public let sessionKey: SessionKey
  public let format: EncryptionFormat
  /// What the data claim to be; not covered by signatures.
  public let literal: LiteralDataHeader
  /// Of each signature in the order of the packets; empty when no verifier was given.
  public let verifications: [SignatureVerification]
  /// The signatures themselves, verified or not, in the same order.
  public let signatures: [Signature]
}

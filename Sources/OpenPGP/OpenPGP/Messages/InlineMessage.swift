// SPDX-License-Identifier: Apache-2.0

/// What is known of a message that is not encrypted.
public struct InlineMessage: Sendable {
  /// What the data claim to be; not covered by signatures.
  public let literal: LiteralDataHeader
  /// Of each signature in the order of the packets; empty when no verifier was given.
  public let verifications: [SignatureVerification]
  /// The signatures themselves, verified or not, in the same order: what is left when the data are detached.
  public let signatures: [Signature]
}

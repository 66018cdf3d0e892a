// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.1, 5.3, 5.13, 10.3: messages to keys and passwords, signed inside. The format follows
// from what all recipients say that they can read, and is there before anything is written. Nothing is ever
// compressed: the length of compressed data tells of their content.

public import Secrets

/// One message to be encrypted.
public struct MessageEncryption {
  /// What a password protects when there is no certificate that says what its holder can read.
  public enum PasswordProfile: Sendable {
    /// Version 1 with iterated and salted S2K: what GnuPG reads.
    case universal
    /// Version 2 with Argon2id.
    case advanced
  }

  /// How the message will be written.
  public let format: EncryptionFormat
  /// The key of the message, for callers that keep it.
  public let sessionKey: SessionKey
  /// Whose keys the message is encrypted to.
  let recipientKeys: [PublicKey]
  /// The certificates of these keys.
  let intendedRecipients: [Fingerprint]
  let passwords: [SharedSecret]
  let time: Timestamp
  /// Who signs; the signatures are inside the encryption.
  public var signers: [any Signer] = []
  /// The hash of the signatures.
  public var signatureHash: HashAlgorithm = .documentDefault
  /// Whether the data are text: UTF-8, signed with line ends as CR LF.
  public var isText = false

  /// - Parameters:
  ///   - recipients: the message is encrypted to every key of these that may be used for `purpose`.
  ///   - passwords: each of them opens the message too.
  ///   - passwordProfile: the form of the message when there are no recipients; with `universal` and passwords
  ///     it is version 1 whatever the recipients can read.
  ///   - purpose: what a key must be flagged for, one of these at least.
  ///   - time: when the message is made.
  /// - Throws: ``OpenPGPError/noEncryptionKey`` when a certificate has no key for it, or when there is neither
  ///   a certificate nor a password; ``OpenPGPError/refused(_:)`` when a rule is why.
  public init(
    to recipients: [Certificate], passwords: [SharedSecret] = [],
    passwordProfile: PasswordProfile = .universal,
    purpose: KeyFlags = [.encryptCommunications, .encryptStorage], policy: Policy = .standard,
    time: Timestamp
  ) throws(OpenPGPError) {
    preconditionFailure("not built yet")
  }

  /// Writes the message with the data of `source`, to its end.
  /// - Throws: what the source, the sink and the signers throw; ``OpenPGPError/notText`` for text that is not
  ///   UTF-8.
  public func encrypt(from source: any ByteSource, to sink: any ByteSink) throws(OpenPGPError) {
    preconditionFailure("not built yet")
  }
}

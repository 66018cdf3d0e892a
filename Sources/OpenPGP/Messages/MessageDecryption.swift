// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.13 and 10.3: reads encrypted messages. The message is read twice: the first pass
// decrypts, parses and verifies all of it and releases nothing; only when everything has authenticated does
// the second pass decrypt it again, for the sink.

public import Secrets

/// How to decrypt messages.
public struct MessageDecryption {
  /// A private key that may open the message.
  public struct Key {
    public let decryptor: any Decryptor
    /// The fingerprint of the primary key of its certificate, to compare with the intended recipients that
    /// signatures name; nil when it is not known.
    public let certificate: Fingerprint?

    public init(_ decryptor: any Decryptor, certificate: Fingerprint?) {
      self.decryptor = decryptor
      self.certificate = certificate
    }
  }

  /// Tried on the session keys for them, and on those for nobody in particular.
  public var keys: [Key] = []
  /// Each is tried on every session key that a password protects.
  public var passwords: [SharedSecret] = []
  /// Tried before keys and passwords.
  public var sessionKeys: [SessionKey] = []
  /// Judges the signatures inside; without it they are parsed and nothing is said about them.
  public var verifier: SignatureVerifier?
  public var policy: Policy

  public init(policy: Policy = .standard) { self.policy = policy }

  /// Decrypts one message, armored or not, and writes its data to `sink` after all of it has authenticated and
  /// been parsed. What signatures are worth decides nothing here: look at the verdicts.
  /// - Throws: ``OpenPGPError/noKeyFits``, ``OpenPGPError/keyIsLocked`` (from a decryptor),
  ///   ``OpenPGPError/notAuthentic`` for every change of the ciphertext, ``OpenPGPError/refused(_:)``,
  ///   ``OpenPGPError/malformed(_:)`` and the like; then nothing has been written. The sink's own errors, and
  ///   ``OpenPGPError/inputChanged`` when the second pass does not read what the first did, can come later.
  public func decrypt(
    from source: any RereadableSource, to sink: any ByteSink
  ) throws(OpenPGPError) -> DecryptedMessage {
    preconditionFailure("not built yet")
  }

  /// Decrypts one message, armored or not, in one pass, and writes data as they come: data that nobody has
  /// authenticated yet, and that a later error may prove to be an attacker's.
  public func decryptReleasingUnauthenticatedPlaintext(
    from source: any ByteSource, to sink: any ByteSink
  ) throws(OpenPGPError) -> DecryptedMessage {
    preconditionFailure("not built yet")
  }
}

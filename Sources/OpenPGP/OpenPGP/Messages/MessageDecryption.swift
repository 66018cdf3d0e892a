// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.13 and 10.3: reads encrypted messages. The message is read twice: the first pass
// decrypts, parses and verifies all of it and releases nothing; only when everything has authenticated does
// the second pass decrypt it again, for the sink. What is small stays in locked memory instead.

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
  public var passwords: [SharedSecretBytes] = []
  /// Tried before keys and passwords.
  public var sessionKeys: [SessionKey] = []
  /// Judges the signatures inside; without it they are parsed and nothing is said about them.
  public var verifier: SignatureVerifier?
  public var policy: Policy

  public init(policy: Policy = .standard) { self.policy = policy }

  /// Decrypts one message, armored or not, and writes its data to `sink` after all of it has authenticated and
  /// been parsed. What signatures are worth decides nothing here: look at the verifications.
  /// - Parameter isAcceptable: whether the data may be released; it sees what is known of the message, and is asked
  ///   once, before the first octet is written.
  /// - Throws: ``OpenPGPError/noKeyFits``, ``OpenPGPError/keyIsLocked`` (from a decryptor),
  ///   ``OpenPGPError/notAuthentic`` for every change of the ciphertext, ``OpenPGPError/refused(_:)``,
  ///   ``OpenPGPError/malformed(_:)`` and the like; then nothing has been written. The sink's own errors, and
  ///   ``OpenPGPError/inputChanged`` when the second pass does not read what the first did, can come later.
  public func decrypt(
    from source: any RewindableSource, to sink: any ByteSink,
    releasingIf isAcceptable: (DecryptedMessage) -> Bool = { _ in true }
  ) throws(OpenPGPError) -> DecryptedMessage {
    let message = try EncryptedMessage(source, keeping: mayOpen)
    // Chunks are authentic by themselves. But who knows the session key can make others, so what a signature
    // was found good over has to be recognised.
    source.checksSecondReading = message.header == .version1 || verifier != nil
    let buffer = BufferingSink()
    let opened = try open(message, source, into: buffer)
    guard isAcceptable(opened) else { return opened }
    if buffer.isComplete {
      try buffer.release(to: sink)
    } else {
      try decryptAgain(opened, message.header, source, to: sink)
    }
    return opened
  }

  /// Decrypts one message, armored or not, in one pass, and writes data as they come: data that nobody has
  /// authenticated yet, and that a later error may prove to be an attacker's.
  public func decryptReleasingUnauthenticatedPlaintext(
    from source: any ByteSource, to sink: any ByteSink
  ) throws(OpenPGPError) -> DecryptedMessage {
    let message = try EncryptedMessage(source, keeping: mayOpen)
    var failure = OpenPGPError.noKeyFits
    for candidate in try candidates(message) {
      guard let opened = try opened(candidate, message, &failure) else { continue }
      return try read(message, opened, verifier: verifier, to: sink)
    }
    throw failure
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.13 and 10.3: reads encrypted messages, in two passes. The first decrypts, parses and
// verifies everything and releases nothing. Only when all of it has authenticated does the second pass
// decrypt again, for the sink. A small message stays in locked memory instead.

public import Secrets

/// How to decrypt messages.
public struct MessageDecryption {
  /// A private key that may open the message.
  public struct Key {
    /// What opens session keys: an ``UnlockedKey``, or a key that is elsewhere.
    public let decryptor: any Decryptor
    /// The fingerprint of the primary key of its certificate, to compare with the intended recipients that
    /// signatures name; nil when it is not known.
    public let certificate: Fingerprint?

    /// A private key, with the fingerprint of the certificate that it belongs to.
    public init(_ decryptor: any Decryptor, certificate: Fingerprint?) {
      self.decryptor = decryptor
      self.certificate = certificate
    }
  }

  /// Tried on the session keys that are for them, and on those for anonymous recipients.
  public var keys: [Key] = []
  /// Each is tried on every session key that a password protects.
  public var passwords: [SharedSecretBytes] = []
  /// Tried before keys and passwords.
  public var sessionKeys: [SessionKey] = []
  /// Verifies the signatures inside; without it they are parsed and not verified.
  public var verifier: SignatureVerifier?
  /// Which ciphers are good enough.
  public var policy: Policy

  /// A decryption without keys, passwords or session keys: add them.
  public init(policy: Policy = .standard) { self.policy = policy }

  /// Decrypts one message, armored or not, and writes its data to `sink` after all of it has authenticated and
  /// been parsed. The results of signatures decide nothing here: look at the verifications.
  /// - Parameter isAcceptable: whether the data may be released; it sees what is known of the message, and is asked
  ///   once, before the first octet is written.
  /// - Throws: ``OpenPGPError/noKeyFits``, ``OpenPGPError/keyIsLocked`` (from a decryptor),
  ///   ``OpenPGPError/notAuthentic`` for every change of the ciphertext, ``OpenPGPError/refused(_:)``,
  ///   ``OpenPGPError/malformed(_:)`` and the like; then nothing has been written. The sink's own errors, and
  ///   ``OpenPGPError/inputChanged`` when the second pass reads other bytes than the first, can come later.
  public func decrypt(
    from source: any RewindableSource, to sink: any ByteSink,
    releasingIf isAcceptable: (DecryptedMessage) -> Bool = { _ in true }
  ) throws(OpenPGPError) -> DecryptedMessage {
    let message = try EncryptedMessage(source, keeping: mayOpen)
    // Each chunk of version 2 carries a tag, but anyone who has the session key can forge chunks. If a signature is
    // verified, the second pass must therefore read exactly the ciphertext whose signature was verified.
    let recognising = message.header == .version1 || verifier != nil
    let buffer = BufferingSink()
    let opened = try open(message, source, recognising: recognising, into: buffer)
    guard isAcceptable(opened) else { return opened }
    if buffer.isComplete {
      try buffer.release(to: sink)
    } else {
      try decryptAgain(opened, message.header, source, recognising: recognising, to: sink)
    }
    return opened
  }

  /// Decrypts one message, armored or not, in one pass, and writes data as it comes: data that nobody has
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

/// What is known about a message that was decrypted and authenticated.
public struct DecryptedMessage: Sendable {
  /// The key of the message, with its cipher.
  public let sessionKey: SessionKey
  /// How the message was encrypted.
  public let format: EncryptionFormat
  /// What the data claims to be; not covered by signatures.
  public let literal: LiteralDataHeader
  /// Of each signature in the order of the packets; empty when no verifier was given.
  public let verifications: [SignatureVerification]
  /// The signatures themselves, verified or not, in the same order.
  public let signatures: [Signature]
  /// Signatures that are damaged, or of unknown versions.
  public let unreadableSignatureCount: Int
  /// What a quantum computer could open the message by; empty if nothing.
  public let quantumWeaknesses: [QuantumWeakness]
}

/// A session key that fits a message as far as can be seen without reading it.
struct OpenedSessionKey {
  let key: SessionKey
  let format: EncryptionFormat
  /// The certificate of the key that decrypts.
  let certificate: Fingerprint?
}

extension MessageDecryption {
  /// The first pass.
  /// - Parameter buffer: gets the data, if there is not much of it.
  func open(
    _ message: EncryptedMessage, _ source: any RewindableSource, recognising: Bool, into buffer: BufferingSink
  ) throws(OpenPGPError) -> DecryptedMessage {
    var failure = OpenPGPError.noKeyFits
    // To read on without recognising, the source has to be told, which is done by going back.
    var isRead = !recognising
    for candidate in try candidates(message) {
      guard let opened = try opened(candidate, message, &failure) else { continue }
      let current = isRead ? try reopened(source, message.header, recognising: recognising) : message
      isRead = true
      buffer.forget()
      do throws(OpenPGPError) {
        return try read(current, opened, verifier: verifier, to: buffer)
      } catch {
        // A key that was only a guess may still be the wrong one; any other has shown that the message was
        // changed.
        guard candidate.isGuess, error == .notAuthentic else { throw error }
        failure = error
      }
    }
    throw failure
  }

  /// The second pass: the message has been found good, and is decrypted again for the sink.
  func decryptAgain(
    _ first: DecryptedMessage, _ header: SEIPDHeader, _ source: any RewindableSource, recognising: Bool,
    to sink: any ByteSink
  ) throws(OpenPGPError) {
    let opened = OpenedSessionKey(key: first.sessionKey, format: first.format, certificate: nil)
    do throws(OpenPGPError) {
      let message = try reopened(source, header, recognising: recognising)
      _ = try read(message, opened, verifier: nil, isRecognised: recognising, to: sink)
    } catch {
      switch error {
      case .notAuthentic, .malformed, .unsupported, .refused, .overLimit: throw .inputChanged
      default: throw error
      }
    }
  }

  /// The session key that a candidate gives; nil when it is not this message's, and then `failure` says why if
  /// the reason is worth telling.
  func opened(
    _ candidate: SessionKeyCandidate, _ message: EncryptedMessage, _ failure: inout OpenPGPError
  ) throws(OpenPGPError) -> OpenedSessionKey? {
    let key: SessionKey
    do throws(OpenPGPError) {
      key = try candidate.open()
    } catch {
      if failure == .noKeyFits, error != .notAuthentic, error != .malformed(.sessionKey) { failure = error }
      return nil
    }
    guard let format = message.format(for: key) else { return nil }
    if let rule = policy.refusal(cipher: format.cipher, writing: false) {
      failure = .refused(rule)
      return nil
    }
    // Only a guess is tested like this. If the repeated octets were also tested for a key that certainly is
    // the message's, the answer would reveal something about the plaintext.
    if candidate.isGuess {
      do throws(OpenPGPError) {
        guard try message.mayFit(key, format) else { return nil }
      } catch {
        // A wrong password gives some cipher too; one in a few hundred gives one that libcrypto does not have.
        if failure == .noKeyFits, !candidate.isPassword { failure = error }
        return nil
      }
    }
    return OpenedSessionKey(
      key: SessionKey(cipher: format.cipher, bytes: key.bytes), format: format,
      certificate: candidate.certificate)
  }

  /// Reads a message to its end, and writes its data to `sink` as it comes.
  func read(
    _ message: EncryptedMessage, _ opened: OpenedSessionKey, verifier: SignatureVerifier?,
    isRecognised: Bool = false, to sink: any ByteSink
  ) throws(OpenPGPError) -> DecryptedMessage {
    let plaintext = try message.plaintext(under: opened.key, opened.format, isRecognised: isRecognised)
    let contents: MessageParser.Contents
    do throws(OpenPGPError) {
      let parser = MessageParser(verifier: verifier, intendedFor: opened.certificate, sink: sink)
      contents = try parser.parse(plaintext)
    } catch {
      if case .inputOutput = error { throw error }
      // An error in plaintext must not be reported before that plaintext is authentic.
      try plaintext.skipRest()
      throw error
    }
    try message.expectEnd()
    return DecryptedMessage(
      sessionKey: opened.key, format: opened.format, literal: contents.literal,
      verifications: contents.verifications, signatures: contents.signatures,
      unreadableSignatureCount: contents.unreadableSignatureCount,
      quantumWeaknesses: message.quantumWeaknesses + [QuantumWeakness(opened.format)].compactMap(\.self))
  }

  /// The same message again, from its beginning. With the same salt come the same keys, under which each chunk is
  /// authentic by itself.
  private func reopened(
    _ source: any RewindableSource, _ header: SEIPDHeader, recognising: Bool
  ) throws(OpenPGPError) -> EncryptedMessage {
    try source.rewind(recognising: recognising)
    let message = try EncryptedMessage(source) { _ in false }
    guard message.header == header else { throw .inputChanged }
    return message
  }
}

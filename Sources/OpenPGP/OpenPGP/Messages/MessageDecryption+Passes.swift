// SPDX-License-Identifier: Apache-2.0
//
// The ways to the session key are tried one after the other; the first that fits is the message's.

/// A session key that fits a message as far as can be seen without reading it.
struct SessionKeyWay {
  let key: SessionKey
  let format: EncryptionFormat
  /// The certificate of who decrypts.
  let certificate: Fingerprint?
}

extension MessageDecryption {
  /// The first pass.
  /// - Parameter held: gets the data, if there are not many.
  func open(
    _ message: EncryptedMessage, _ source: any RereadableSource, into held: HoldingSink
  ) throws(OpenPGPError) -> DecryptedMessage {
    var failure = OpenPGPError.noKeyFits
    var isRead = false
    for attempt in try attempts(message) {
      guard let way = try way(attempt, message, &failure) else { continue }
      let current = isRead ? try reopened(source) : message
      isRead = true
      held.forget()
      do throws(OpenPGPError) {
        return try read(current, way, verifier: verifier, to: held)
      } catch {
        // A key that was only a guess may still be the wrong one; any other has shown that the message was
        // changed.
        guard attempt.isGuess, error == .notAuthentic else { throw error }
        failure = error
      }
    }
    throw failure
  }

  /// The second pass: the message has been found good, and is decrypted again for the sink.
  func decryptAgain(
    _ opened: DecryptedMessage, _ header: IntegrityProtectedDataHeader, _ source: any RereadableSource,
    to sink: any ByteSink
  ) throws(OpenPGPError) {
    let way = SessionKeyWay(key: opened.sessionKey, format: opened.format, certificate: nil)
    do throws(OpenPGPError) {
      let message = try reopened(source)
      // With the salt of the first reading come its keys, under which every chunk is authentic by itself.
      guard message.header == header else { throw .inputChanged }
      _ = try read(message, way, verifier: nil, isRecognised: source.checksSecondReading, to: sink)
    } catch {
      switch error {
      case .notAuthentic, .malformed, .unsupported, .refused, .overLimit: throw .inputChanged
      default: throw error
      }
    }
  }

  /// The session key that an attempt gives; nil when it is not this message's, and then `failure` says why if
  /// the reason is worth telling.
  func way(
    _ attempt: SessionKeyAttempt, _ message: EncryptedMessage, _ failure: inout OpenPGPError
  ) throws(OpenPGPError) -> SessionKeyWay? {
    let key: SessionKey
    do throws(OpenPGPError) {
      key = try attempt.open()
    } catch {
      if failure == .noKeyFits, error != .notAuthentic, error != .malformed(.sessionKey) { failure = error }
      return nil
    }
    guard let format = message.format(for: key) else { return nil }
    if let rule = policy.refusal(cipher: format.cipher, writing: false) {
      failure = .refused(rule)
      return nil
    }
    // Only a guess is tested like this: whoever could ask about the octets that repeat, for a key that is
    // certainly the message's, would learn something about the plaintext.
    if attempt.isGuess {
      do throws(OpenPGPError) {
        guard try message.mayFit(key, format) else { return nil }
      } catch {
        // A wrong password gives a cipher as well, and one in a few hundred is none of libcrypto's.
        if failure == .noKeyFits, !attempt.isPassword { failure = error }
        return nil
      }
    }
    return SessionKeyWay(
      key: SessionKey(cipher: format.cipher, bytes: key.bytes), format: format,
      certificate: attempt.certificate)
  }

  /// Reads a message to its end, and writes its data to `sink` as they come.
  func read(
    _ message: EncryptedMessage, _ way: SessionKeyWay, verifier: SignatureVerifier?,
    isRecognised: Bool = false, to sink: any ByteSink
  ) throws(OpenPGPError) -> DecryptedMessage {
    let plaintext = try message.plaintext(under: way.key, way.format, isRecognised: isRecognised)
    let contents: MessageParser.Contents
    do throws(OpenPGPError) {
      let parser = MessageParser(verifier: verifier, intendedFor: way.certificate, sink: sink)
      contents = try parser.parse(plaintext)
    } catch {
      if case .inputOutput = error { throw error }
      // What is wrong with plaintext that is not authentic is nobody's business.
      try plaintext.skipRest()
      throw error
    }
    try message.expectEnd()
    return DecryptedMessage(
      sessionKey: way.key, format: way.format, literal: contents.literal, verdicts: contents.verdicts,
      signatures: contents.signatures)
  }

  private func reopened(_ source: any RereadableSource) throws(OpenPGPError) -> EncryptedMessage {
    try source.rewind()
    return try EncryptedMessage(source) { _ in false }
  }
}

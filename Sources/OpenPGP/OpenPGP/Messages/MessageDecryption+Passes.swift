// SPDX-License-Identifier: Apache-2.0
//
// The ways to the session key are tried one after the other; the first that fits is the message's.

/// A session key that fits a message as far as can be seen without reading it.
struct OpenedSessionKey {
  let key: SessionKey
  let format: EncryptionFormat
  /// The certificate of who decrypts.
  let certificate: Fingerprint?
}

extension MessageDecryption {
  /// The first pass.
  /// - Parameter buffer: gets the data, if there are not many.
  func open(
    _ message: EncryptedMessage, _ source: any RewindableSource, into buffer: BufferingSink
  ) throws(OpenPGPError) -> DecryptedMessage {
    var failure = OpenPGPError.noKeyFits
    var isRead = false
    for candidate in try candidates(message) {
      guard let opened = try opened(candidate, message, &failure) else { continue }
      let current = isRead ? try reopened(source) : message
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
    _ first: DecryptedMessage, _ header: SEIPDHeader, _ source: any RewindableSource,
    to sink: any ByteSink
  ) throws(OpenPGPError) {
    let opened = OpenedSessionKey(key: first.sessionKey, format: first.format, certificate: nil)
    do throws(OpenPGPError) {
      let message = try reopened(source)
      // With the salt of the first reading come its keys, under which every chunk is authentic by itself.
      guard message.header == header else { throw .inputChanged }
      _ = try read(message, opened, verifier: nil, isRecognised: source.checksSecondReading, to: sink)
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
    // Only a guess is tested like this: whoever could ask about the octets that repeat, for a key that is
    // certainly the message's, would learn something about the plaintext.
    if candidate.isGuess {
      do throws(OpenPGPError) {
        guard try message.mayFit(key, format) else { return nil }
      } catch {
        // A wrong password gives a cipher as well, and one in a few hundred is none of libcrypto's.
        if failure == .noKeyFits, !candidate.isPassword { failure = error }
        return nil
      }
    }
    return OpenedSessionKey(
      key: SessionKey(cipher: format.cipher, bytes: key.bytes), format: format,
      certificate: candidate.certificate)
  }

  /// Reads a message to its end, and writes its data to `sink` as they come.
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
      // What is wrong with plaintext that is not authentic is nobody's business.
      try plaintext.skipRest()
      throw error
    }
    try message.expectEnd()
    return DecryptedMessage(
      sessionKey: opened.key, format: opened.format, literal: contents.literal,
      verifications: contents.verifications,
      signatures: contents.signatures)
  }

  private func reopened(_ source: any RewindableSource) throws(OpenPGPError) -> EncryptedMessage {
    try source.rewind()
    return try EncryptedMessage(source) { _ in false }
  }
}

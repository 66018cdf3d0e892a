// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10.3: messages that are signed and not encrypted, or neither. A message is read twice, so
// that nothing is released before the caller has seen what its signatures are worth.

/// Reads messages that are not encrypted.
public struct InlineMessageReader {
  /// Verifies the signatures; without it they are parsed and not verified.
  public var verifier: SignatureVerifier?

  /// A reader that verifies with `verifier`, or does not verify.
  public init(verifier: SignatureVerifier?) { self.verifier = verifier }

  /// Reads one message, armored or not (the cleartext framework is another reader's), and writes its data to
  /// `sink` after all of it has been parsed, if `isAcceptable` says so.
  /// - Parameter isAcceptable: whether the data may be released; it sees what is known of the message.
  /// - Throws: ``OpenPGPError/malformed(_:)`` and the like; then nothing has been written. Errors of the sink
  ///   and ``OpenPGPError/inputChanged`` can come later.
  public func read(
    from source: any RewindableSource, to sink: any ByteSink,
    releasingIf isAcceptable: (InlineMessage) -> Bool
  ) throws(OpenPGPError) -> InlineMessage {
    let held = BufferingSink()
    let contents = try parse(source, verifier, to: held)
    let message = InlineMessage(
      literal: contents.literal, verifications: contents.verifications, signatures: contents.signatures,
      unreadableSignatureCount: contents.unreadableSignatureCount)
    guard isAcceptable(message) else { return message }
    if held.isComplete {
      try held.release(to: sink)
    } else {
      try source.rewind(recognising: true)
      _ = try parse(source, nil, to: sink)
    }
    return message
  }

  private func parse(
    _ source: any ByteSource, _ verifier: SignatureVerifier?, to sink: any ByteSink
  ) throws(OpenPGPError) -> MessageParser.Contents {
    let parser = MessageParser(verifier: verifier, intendedFor: nil, sink: sink)
    // Reading, and comparing what is read again, goes on while this thread hashes.
    return try parser.parse(try OpenPGPInput.packets(ReadAheadSource(source)))
  }
}

/// What is known about a message that is not encrypted.
public struct InlineMessage: Sendable {
  /// What the data claims to be; not covered by signatures.
  public let literal: LiteralDataHeader
  /// Of each signature in the order of the packets; empty when no verifier was given.
  public let verifications: [SignatureVerification]
  /// The signatures themselves, verified or not, in the same order: what is left when the data is detached.
  public let signatures: [Signature]
  /// Signatures that are damaged, or of unknown versions.
  public let unreadableSignatureCount: Int
}

/// One message to be signed, with the data inside.
public struct InlineSigning {
  /// The keys that sign.
  public let signers: [any Signer]
  /// The creation time of the signatures.
  public let time: Timestamp
  /// The hash of the signatures; replaced by a longer one where a key's algorithm demands it.
  public var hash: HashAlgorithm = .documentDefault
  /// Whether the data is text: UTF-8, signed with line ends as CR LF.
  public var isText = false

  /// A message signed by these keys.
  public init(_ signers: [any Signer], time: Timestamp) {
    self.signers = signers
    self.time = time
  }

  /// Writes the message with the data of `source`, to its end.
  /// - Throws: what the source, the sink and the signers throw; ``OpenPGPError/notText`` for text that is not
  ///   UTF-8.
  public func sign(from source: any ByteSource, to sink: any ByteSink) throws(OpenPGPError) {
    let signer = try DocumentSigner(signers, type: isText ? .text : .binary, hash: hash, time: time)
    try sink.write(allOf: try MessageComposer(ReadAheadSource(source), isText: isText, signer: signer))
  }
}

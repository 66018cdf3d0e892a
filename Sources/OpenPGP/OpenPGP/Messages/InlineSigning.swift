// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10.3: one-pass signatures, literal data, signatures.

/// One message to be signed, with the data inside.
public struct InlineSigning {
  public let signers: [any Signer]
  public let time: Timestamp
  public var hash: HashAlgorithm = .documentDefault
  /// Whether the data are text: UTF-8, signed with line ends as CR LF.
  public var isText = false

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

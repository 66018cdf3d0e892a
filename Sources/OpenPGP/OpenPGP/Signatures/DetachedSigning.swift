// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10.4: signatures that stand beside their document.

/// Makes detached signatures over a stream, in constant memory and one pass.
public struct DetachedSigning {
  public let signers: [any Signer]
  public let time: Timestamp
  /// Replaced by a longer one where a signer's algorithm demands it.
  public var hash: HashAlgorithm = .documentDefault
  /// Whether the document is text: UTF-8, signed with line ends as CR LF.
  public var isText = false

  public init(_ signers: [any Signer], time: Timestamp) {
    self.signers = signers
    self.time = time
  }

  /// One signature of each signer over `document`, in the signers' order; it is read ahead on another thread.
  /// - Throws: ``OpenPGPError/notText`` for text that is not UTF-8, ``OpenPGPError/keyCannot(_:)`` when one is
  ///   no signing key, and what `document` and the signers throw.
  public func sign(_ document: any ByteSource) throws(OpenPGPError) -> [Signature] {
    let signer = try DocumentSigner(signers, type: isText ? .text : .binary, hash: hash, time: time)
    try ReadAheadSource(document).forEach(signer.update)
    return try signer.finish().reversed()
  }
}

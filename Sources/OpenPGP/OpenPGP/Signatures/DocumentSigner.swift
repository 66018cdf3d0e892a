// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2, 5.4 and 10.3.2: signatures over a document by one or several keys, each of its
// key's version, made in one pass.

/// Signs a document while it passes, with one or several keys.
final class DocumentSigner {
  private struct Part {
    let signer: any Signer
    let draft: Signature
    let hash: DocumentHash
  }

  private let parts: [Part]
  private let hashes = DocumentHashes()
  /// Of a text: it is signed as UTF-8 (section 5.2.4).
  private var text: UTF8Check?

  /// - Throws: ``OpenPGPError/keyCannot(_:)`` when one is no signing key, ``OpenPGPError/refused(_:)`` for a
  ///   hash that is too weak, ``OpenPGPError/overLimit(_:)`` for more than ``Limits/signatureCount`` signers.
  init(
    _ signers: [any Signer], type: SignatureType, hash: HashAlgorithm, time: Timestamp,
    intendedRecipients: [Fingerprint] = []
  ) throws(OpenPGPError) {
    precondition(type.isOverDocument, "a signature of this type is not over a document")
    guard signers.count <= Limits.signatureCount else { throw .overLimit(.signatureCount) }
    let builder = SignatureBuilder(
      type: type, hash: hash, creationTime: time,
      subpackets: intendedRecipients.map { Subpacket(.intendedRecipientFingerprint($0)) })
    var parts: [Part] = []
    for signer in signers {
      let draft = try builder.draft(for: signer.publicKey)
      parts.append(Part(signer: signer, draft: draft, hash: try hashes.prepare(for: draft)))
    }
    self.parts = parts
    text = type == .text ? UTF8Check() : nil
  }

  /// To be written before the document, in this order.
  var onePassSignatures: [OnePassSignature] {
    parts.enumerated().map { index, part in
      let key = part.signer.publicKey
      return OnePassSignature(
        version: key.version == 6 ? 6 : 3, type: part.draft.type, hash: part.draft.hash,
        algorithm: part.draft.algorithm, salt: part.draft.salt,
        issuer: key.version == 6 ? .fingerprint(key.fingerprint) : .keyID(key.keyID),
        isLast: index == parts.count - 1)
    }
  }

  /// Takes in the next octets of the document.
  func update(_ bytes: RawSpan) {
    text?.update(bytes)
    hashes.update(bytes)
  }

  /// To be written after the document, in this order (the reverse of the one-pass packets').
  /// - Throws: ``OpenPGPError/notText`` when a text is not UTF-8, and what the signers throw.
  func finish() throws(OpenPGPError) -> [Signature] {
    if let text, !text.isComplete { throw .notText }
    var signatures: [Signature] = []
    for part in parts.reversed() {
      signatures.append(
        try part.draft.signed(digest: part.hash.digest(for: part.draft), with: part.signer))
    }
    return signatures
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10.4: signatures that stand beside their document.

/// Verifies detached signatures over a stream, in constant memory and one pass.
public struct DetachedVerification {
  public let verifier: SignatureVerifier

  public init(_ verifier: SignatureVerifier) { self.verifier = verifier }

  /// What each of the signatures is worth, in their order; the document is read ahead on another thread. Those that
  /// can be judged without the document are not hashed for; when that is all of them, the document is not read.
  /// Signatures with salts beyond ``Limits/saltedHashCount`` are refused.
  /// - Throws: ``OpenPGPError/overLimit(_:)`` for more than ``Limits/signatureCount`` signatures, and what
  ///   `document` throws.
  public func verify(
    _ signatures: [Signature], over document: any ByteSource
  ) throws(OpenPGPError) -> [SignatureVerdict] {
    try verify(signatures) { (hashes) throws(OpenPGPError) in
      try ReadAheadSource(document).forEach(hashes.update)
    }
  }

  /// The same over a document that `hash` gives to the hashes.
  func verify(
    _ signatures: [Signature], hashingWith hash: (DocumentHashes) throws(OpenPGPError) -> Void
  ) throws(OpenPGPError) -> [SignatureVerdict] {
    guard signatures.count <= Limits.signatureCount else { throw .overLimit(.signatureCount) }
    let hashes = DocumentHashes(saltedLimit: Limits.saltedHashCount)
    var early: [SignatureVerdict?] = []
    for signature in signatures {
      var verdict = verifier.verdictWithoutDocument(signature)
      if verdict == nil {
        do {
          _ = try hashes.prepare(for: signature)
        } catch .overLimit(.saltedHashCount) {
          verdict = SignatureVerdict(.refused(.tooManySalts), signature)
        }
      }
      early.append(verdict)
    }
    if !hashes.isEmpty { try hash(hashes) }
    let grades = SigningKeyGrades()
    var verdicts: [SignatureVerdict] = []
    for (signature, verdict) in zip(signatures, early) {
      if let verdict {
        verdicts.append(verdict)
      } else {
        let hash = try hashes.prepare(for: signature)
        verdicts.append(verifier.judge(signature, hash, intendedFor: nil, grades: grades))
      }
    }
    return verdicts
  }
}

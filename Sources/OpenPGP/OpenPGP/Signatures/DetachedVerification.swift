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
  ) throws(OpenPGPError) -> [SignatureVerification] {
    try verify(signatures) { (hashes) throws(OpenPGPError) in
      try ReadAheadSource(document).forEach(hashes.update)
    }
  }

  /// The same over a document that `hash` gives to the hashes.
  func verify(
    _ signatures: [Signature], hashingWith hash: (DocumentHashes) throws(OpenPGPError) -> Void
  ) throws(OpenPGPError) -> [SignatureVerification] {
    guard signatures.count <= Limits.signatureCount else { throw .overLimit(.signatureCount) }
    let hashes = DocumentHashes(saltedLimit: Limits.saltedHashCount)
    var early: [SignatureVerification?] = []
    for signature in signatures {
      var verification = verifier.resultWithoutDocument(signature)
      if verification == nil {
        do {
          _ = try hashes.prepare(for: signature)
        } catch .overLimit(.saltedHashCount) {
          verification = SignatureVerification(.refused(.tooManySalts), signature)
        }
      }
      early.append(verification)
    }
    if !hashes.isEmpty { try hash(hashes) }
    let cache = SigningKeyCache()
    var verifications: [SignatureVerification] = []
    for (signature, verification) in zip(signatures, early) {
      if let verification {
        verifications.append(verification)
      } else {
        let hash = try hashes.prepare(for: signature)
        verifications.append(verifier.verify(signature, hash, intendedFor: nil, cache: cache))
      }
    }
    return verifications
  }
}

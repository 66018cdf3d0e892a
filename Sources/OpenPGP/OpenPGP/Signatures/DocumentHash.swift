// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.4: the digest of a document. The fields of the signature go in last, so one pass over
// the document serves every signature that hashes alike.

/// The hash of a document on its way to a signature: the salt first (version 6), line ends as CR LF when the
/// signature is over text.
final class DocumentHash {
  let algorithm: HashAlgorithm
  let isText: Bool
  let salt: [UInt8]
  private var context: HashContext
  /// Made when it is needed: hashes of one document share another.
  private lazy var text = CanonicalText()

  /// - Throws: ``OpenPGPError/unsupported(_:)`` for a hash that is not there.
  init(_ algorithm: HashAlgorithm, isText: Bool, salt: [UInt8]) throws(OpenPGPError) {
    guard HashContext.isAvailable(algorithm) else {
      throw .unsupported(.hashAlgorithm(algorithm.rawValue))
    }
    self.algorithm = algorithm
    self.isText = isText
    self.salt = salt
    context = HashContext(algorithm)
    context.update(salt)
  }

  /// Takes in the next octets of the document.
  func update(_ bytes: RawSpan) {
    if isText { text.update(bytes, hash: take) } else { take(bytes) }
  }

  /// Takes in the next octets as they are to be hashed: those of a text with its line ends changed.
  func take(_ bytes: RawSpan) { context.update(bytes) }

  /// Whether this is the hash that `signature` wants.
  func serves(_ signature: Signature) -> Bool {
    algorithm == signature.hash && isText == (signature.type == .text) && salt == signature.salt
  }

  /// The digest for `signature`, whose fields go in last; other signatures over the same document can follow.
  func digest(for signature: Signature) -> [UInt8] {
    var last = context.duplicate()
    last.update(signature.hashedFields)
    return last.finish()
  }
}

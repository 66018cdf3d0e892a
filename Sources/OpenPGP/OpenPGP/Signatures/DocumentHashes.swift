// SPDX-License-Identifier: Apache-2.0
//
// One pass over a document for many signatures: those that hash alike share a context, and line ends are changed
// once for all that are over text.

/// The hashes of one document.
final class DocumentHashes {
  private struct Parameters: Hashable {
    let algorithm: HashAlgorithm
    let isText: Bool
    let salt: [UInt8]
  }

  private var hashes: [Parameters: DocumentHash] = [:]
  private var ofOctets: [DocumentHash] = []
  private var ofText: [DocumentHash] = []
  private lazy var text = CanonicalText()
  private let saltedLimit: Int
  private var saltedCount = 0

  /// - Parameter saltedLimit: how many hashes with a salt there may be. Without one there are few: as many as
  ///   algorithms, for octets and for text.
  init(saltedLimit: Int = Limits.signatureCount) { self.saltedLimit = saltedLimit }

  /// Whether nothing is to be hashed.
  var isEmpty: Bool { hashes.isEmpty }

  /// The hash that serves `signature`; a new one only when none of the others does. All are asked for before
  /// the document begins.
  func prepare(for signature: Signature) throws(OpenPGPError) -> DocumentHash {
    try prepare(signature.hash, isText: signature.type == .text, salt: signature.salt)
  }

  /// The hash of these parameters.
  /// - Throws: ``OpenPGPError/overLimit(_:)`` with `saltedHashCount` when it would be one too many.
  func prepare(_ algorithm: HashAlgorithm, isText: Bool, salt: [UInt8]) throws(OpenPGPError) -> DocumentHash {
    let parameters = Parameters(algorithm: algorithm, isText: isText, salt: salt)
    if let known = hashes[parameters] { return known }
    guard hashes.count < Limits.signatureCount else { throw .overLimit(.signatureCount) }
    if !salt.isEmpty {
      guard saltedCount < saltedLimit else { throw .overLimit(.saltedHashCount) }
      saltedCount += 1
    }
    let hash = try DocumentHash(algorithm, isText: isText, salt: salt)
    hashes[parameters] = hash
    if isText { ofText.append(hash) } else { ofOctets.append(hash) }
    return hash
  }

  /// Takes in the next octets of the document.
  func update(_ bytes: RawSpan) {
    for hash in ofOctets { hash.take(bytes) }
    if ofText.isEmpty { return }
    text.update(bytes) { piece in
      for hash in ofText { hash.take(piece) }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Hashing, by every algorithm of the registry that libcrypto has.

internal import LibCrypto
internal import Secrets

/// A hash under way.
struct HashContext: ~Copyable {
  let algorithm: HashAlgorithm
  private var context: DigestContext

  /// - Parameter algorithm: one that ``isAvailable(_:)`` knows.
  init(_ algorithm: HashAlgorithm) {
    guard let digest = algorithm.digest else { preconditionFailure("libcrypto does not have this hash") }
    self.init(algorithm, DigestContext(digest))
  }

  private init(_ algorithm: HashAlgorithm, _ context: consuming DigestContext) {
    self.algorithm = algorithm
    self.context = context
  }

  /// Whether libcrypto has the algorithm.
  static func isAvailable(_ algorithm: HashAlgorithm) -> Bool { algorithm.digest != nil }

  mutating func update(_ bytes: RawSpan) { context.update(bytes) }

  mutating func update(_ bytes: [UInt8]) { context.update(bytes.rawSpan) }

  /// A second hash that has taken in the same.
  borrowing func duplicate() -> HashContext { HashContext(algorithm, context.duplicate()) }

  /// Writes the digest to the first bytes of `output`, which has room for it; for digests of secrets.
  consuming func finish(into output: inout MutableRawSpan) { context.finish(into: &output) }

  /// The digest.
  consuming func finish() -> [UInt8] { context.finish() }
}

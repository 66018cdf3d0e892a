// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4) by libcrypto.

internal import LibCrypto

/// SHA-256 over bytes that arrive piece by piece.
public struct SHA256: ~Copyable, Sendable {
  /// Bytes in a digest.
  public static let byteCount = 32

  private var context = DigestContext(Digest.sha256)

  /// The hash of no bytes yet.
  public init() {}

  /// Hashes further bytes.
  public mutating func update(_ bytes: RawSpan) { context.update(bytes) }

  /// Writes the digest to the 32 bytes of `digest`.
  public consuming func finish(into digest: inout MutableRawSpan) {
    precondition(digest.byteCount == Self.byteCount, "a SHA-256 digest has 32 bytes")
    context.finish(into: &digest)
  }

  /// The digest as an array; for digests that are not secret.
  public consuming func finish() -> [UInt8] { context.finish() }

  /// Writes the digest of `bytes` to the 32 bytes of `digest`.
  public static func hash(_ bytes: RawSpan, into digest: inout MutableRawSpan) {
    var hash = SHA256()
    hash.update(bytes)
    hash.finish(into: &digest)
  }

  /// The digest of bytes as an array; for digests that are not secret.
  public static func hash(_ bytes: RawSpan) -> [UInt8] {
    var hash = SHA256()
    hash.update(bytes)
    return hash.finish()
  }
}

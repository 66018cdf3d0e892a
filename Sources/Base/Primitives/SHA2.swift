// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4) by libcrypto.

internal import COpenSSL

/// SHA-256 over bytes that arrive piece by piece.
@safe
public struct SHA256: ~Copyable, @unchecked Sendable {
  /// Bytes in a digest.
  public static let byteCount = 32

  private let context: OpaquePointer

  public init() {
    guard let context = unsafe EVP_MD_CTX_new(),
      unsafe EVP_DigestInit_ex(context, LibCrypto.sha256, nil) == 1
    else { preconditionFailure("libcrypto has no SHA-256") }
    unsafe self.context = unsafe context
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  /// Hashes further bytes.
  public mutating func update(_ bytes: RawSpan) {
    let result = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
    precondition(result == 1, "SHA-256 cannot fail")
  }

  /// Writes the digest to the 32 bytes of `digest`.
  public consuming func finish(into digest: inout MutableRawSpan) {
    precondition(digest.byteCount == Self.byteCount, "a SHA-256 digest has 32 bytes")
    let result = unsafe digest.withUnsafeMutableBytes {
      unsafe EVP_DigestFinal_ex(context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), nil)
    }
    precondition(result == 1, "SHA-256 cannot fail")
  }

  /// The digest as an array; for digests that are not secret.
  public consuming func finish() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Self.byteCount)
    var span = digest.mutableSpan
    var raw = unsafe span.mutableBytes
    finish(into: &raw)
    return digest
  }

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

// SPDX-License-Identifier: Apache-2.0
//
// Hash functions, and hashes under way.

internal import COpenSSL
internal import Secrets

/// A hash function: an `EVP_MD`, fetched once. An implicit fetch costs more than hashing a short message.
///
/// Sendable: an `EVP_MD` does not change once it has been fetched, and these are never freed.
@safe
package struct Digest: @unchecked Sendable {
  let reference: OpaquePointer
  /// Bytes in a digest.
  package let byteCount: Int

  private init?(_ name: String) {
    guard let reference = unsafe EVP_MD_fetch(nil, name, nil) else { return nil }
    unsafe self.reference = unsafe reference
    byteCount = Int(unsafe EVP_MD_get_size(reference))
  }

  private static func required(_ name: String) -> Digest {
    guard let digest = Digest(name) else { preconditionFailure("libcrypto has no \(name)") }
    return digest
  }

  package static let sha256 = required("SHA256")
  package static let sha512 = required("SHA512")

  // A build of libcrypto may lack these.
  package static let md5 = Digest("MD5")
  package static let sha1 = Digest("SHA1")
  package static let ripemd160 = Digest("RIPEMD160")
  package static let sha224 = Digest("SHA224")
  package static let sha384 = Digest("SHA384")
  package static let sha3_256 = Digest("SHA3-256")
  package static let sha3_512 = Digest("SHA3-512")
}

/// A hash under way: an `EVP_MD_CTX`.
///
/// Sendable: it has one owner, and only its owner changes it.
@safe
package struct DigestContext: ~Copyable, @unchecked Sendable {
  private let context: OpaquePointer
  /// Bytes in the digest.
  package let byteCount: Int

  package init(_ digest: Digest) {
    guard let context = unsafe EVP_MD_CTX_new(),
      unsafe EVP_DigestInit_ex2(context, digest.reference, nil) == 1
    else { preconditionFailure("out of memory for a hash") }
    unsafe self.context = unsafe context
    byteCount = digest.byteCount
  }

  private init(copying other: OpaquePointer, byteCount: Int) {
    guard let context = unsafe EVP_MD_CTX_new(), unsafe EVP_MD_CTX_copy_ex(context, other) == 1 else {
      preconditionFailure("out of memory for a hash")
    }
    unsafe self.context = unsafe context
    self.byteCount = byteCount
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  /// Hashes further bytes.
  package mutating func update(_ bytes: RawSpan) {
    let result = unsafe bytes.withUnsafeBytes { bytes in
      unsafe bytes.isEmpty ? 1 : EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }
    precondition(result == 1, "hashing cannot fail")
  }

  /// A copy: a second hash that has taken in the same bytes.
  package borrowing func duplicate() -> DigestContext {
    unsafe DigestContext(copying: context, byteCount: byteCount)
  }

  /// Writes the digest to the first bytes of `output`, which has room for it.
  package consuming func finish(into output: inout MutableRawSpan) {
    precondition(output.byteCount >= byteCount, "no room for the digest")
    let result = unsafe output.withUnsafeMutableBytes {
      unsafe EVP_DigestFinal_ex(context, $0.octets, nil)
    }
    precondition(result == 1, "hashing cannot fail")
  }

  /// The digest as an array; for digests that are not secret.
  package consuming func finish() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: byteCount)
    var span = digest.mutableSpan
    var output = unsafe span.mutableBytes
    finish(into: &output)
    return digest
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Hashing by libcrypto, of every algorithm in the registry that it has.

internal import COpenSSL

/// A hash under way.
@safe
struct HashContext: ~Copyable {
  let algorithm: HashAlgorithm
  private let context: OpaquePointer

  /// - Parameter algorithm: one that ``isAvailable(_:)`` knows.
  init(_ algorithm: HashAlgorithm) {
    self.algorithm = algorithm
    guard let digest = unsafe Self.digest(algorithm), let context = unsafe EVP_MD_CTX_new(),
      unsafe EVP_DigestInit_ex2(context, digest, nil) == 1
    else { preconditionFailure("libcrypto does not have this hash") }
    unsafe self.context = unsafe context
  }

  private init(_ algorithm: HashAlgorithm, copying other: OpaquePointer) {
    self.algorithm = algorithm
    guard let context = unsafe EVP_MD_CTX_new(), unsafe EVP_MD_CTX_copy_ex(context, other) == 1 else {
      preconditionFailure("out of memory for a hash")
    }
    unsafe self.context = unsafe context
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  /// Whether libcrypto has the algorithm.
  static func isAvailable(_ algorithm: HashAlgorithm) -> Bool { unsafe digest(algorithm) != nil }

  mutating func update(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { bytes in
      guard unsafe !bytes.isEmpty else { return }
      guard unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else {
        preconditionFailure("hashing cannot fail")
      }
    }
  }

  mutating func update(_ bytes: [UInt8]) { update(unsafe bytes.span.bytes) }

  /// A second hash that has taken in the same.
  borrowing func duplicate() -> HashContext { unsafe HashContext(algorithm, copying: context) }

  /// Writes the digest to the first bytes of `output`, which has room for it; for digests of secrets.
  consuming func finish(into output: inout MutableRawSpan) {
    precondition(output.byteCount >= algorithm.digestByteCount ?? 0, "no room for the digest")
    unsafe output.withUnsafeMutableBytes { output in
      let start = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      guard unsafe EVP_DigestFinal_ex(context, start, nil) == 1 else {
        preconditionFailure("hashing cannot fail")
      }
    }
  }

  /// The digest.
  consuming func finish() -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: algorithm.digestByteCount ?? 0) { output, count in
      guard unsafe EVP_DigestFinal_ex(context, output.baseAddress, nil) == 1 else {
        preconditionFailure("hashing cannot fail")
      }
      count = output.count
    }
  }

  /// Fetched once: an implicit fetch costs more than hashing a short message.
  @unsafe
  static func digest(_ algorithm: HashAlgorithm) -> OpaquePointer? {
    switch algorithm {
    case .md5: unsafe LibCryptoHashes.md5
    case .sha1: unsafe LibCryptoHashes.sha1
    case .ripemd160: unsafe LibCryptoHashes.ripemd160
    case .sha256: unsafe LibCryptoHashes.sha256
    case .sha384: unsafe LibCryptoHashes.sha384
    case .sha512: unsafe LibCryptoHashes.sha512
    case .sha224: unsafe LibCryptoHashes.sha224
    case .sha3_256: unsafe LibCryptoHashes.sha3_256
    case .sha3_512: unsafe LibCryptoHashes.sha3_512
    default: nil
    }
  }
}

@unsafe
private enum LibCryptoHashes {
  nonisolated(unsafe) static let md5 = unsafe EVP_MD_fetch(nil, "MD5", nil)
  nonisolated(unsafe) static let sha1 = unsafe EVP_MD_fetch(nil, "SHA1", nil)
  nonisolated(unsafe) static let ripemd160 = unsafe EVP_MD_fetch(nil, "RIPEMD160", nil)
  nonisolated(unsafe) static let sha256 = unsafe EVP_MD_fetch(nil, "SHA256", nil)
  nonisolated(unsafe) static let sha384 = unsafe EVP_MD_fetch(nil, "SHA384", nil)
  nonisolated(unsafe) static let sha512 = unsafe EVP_MD_fetch(nil, "SHA512", nil)
  nonisolated(unsafe) static let sha224 = unsafe EVP_MD_fetch(nil, "SHA224", nil)
  nonisolated(unsafe) static let sha3_256 = unsafe EVP_MD_fetch(nil, "SHA3-256", nil)
  nonisolated(unsafe) static let sha3_512 = unsafe EVP_MD_fetch(nil, "SHA3-512", nil)
}

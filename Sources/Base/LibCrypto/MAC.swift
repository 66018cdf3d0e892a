// SPDX-License-Identifier: Apache-2.0
//
// HMAC (FIPS 198-1) and CMAC (SP 800-38B), with a context that is used again: choosing the digest costs twice
// what two short codes cost. libcrypto erases its key schedule when the context is freed.

internal import COpenSSL

/// A message authentication code under way: an `EVP_MAC_CTX`.
///
/// Sendable: it has one owner, and only its owner changes it.
@safe
package struct MAC: ~Copyable, @unchecked Sendable {
  private let context: OpaquePointer
  /// Bytes in a code.
  package let byteCount: Int

  /// HMAC; ``start(key:)`` gives it a key.
  package init(hmac digest: Digest) {
    guard let context = unsafe EVP_MAC_CTX_new(Algorithm.hmac.reference) else {
      preconditionFailure("libcrypto has no HMAC")
    }
    unsafe self.context = unsafe context
    byteCount = digest.byteCount
    let isSet = unsafe EVP_MAC_CTX_set_params(
      context, Self.named(COFFER_PARAMETER_DIGEST, EVP_MD_get0_name(digest.reference)))
    precondition(isSet == 1, "libcrypto has no HMAC with this digest")
  }

  /// CMAC with one key for many messages, or nil when libcrypto has none with this cipher.
  /// - Parameters:
  ///   - cipher: in CBC mode.
  ///   - key: as long as the cipher wants it.
  package init?(cmac cipher: borrowing BlockCipher, key: RawSpan) {
    precondition(key.byteCount == cipher.keyByteCount, "a key is as long as the cipher wants it")
    guard let algorithm = Algorithm.cmac, let context = unsafe EVP_MAC_CTX_new(algorithm.reference) else {
      return nil
    }
    let parameters = unsafe Self.named(COFFER_PARAMETER_CIPHER, EVP_CIPHER_get0_name(cipher.reference))
    let isSet = unsafe key.withUnsafeBytes {
      unsafe EVP_MAC_init(context, $0.octets, $0.count, parameters)
    }
    guard isSet == 1 else {
      unsafe EVP_MAC_CTX_free(context)
      return nil
    }
    unsafe self.context = unsafe context
    byteCount = unsafe EVP_MAC_CTX_get_mac_size(context)
  }

  deinit { unsafe EVP_MAC_CTX_free(context) }

  /// Starts a message under `key`. An empty key counts as a key of zeros, as RFC 5869 has it for an absent salt.
  package mutating func start(key: RawSpan) {
    let result = unsafe key.withUnsafeBytes { key in
      // A nil pointer would mean the key of the last time.
      var none: UInt8 = 0
      return unsafe withUnsafePointer(to: &none) { none in
        unsafe EVP_MAC_init(context, key.octets ?? none, key.count, nil)
      }
    }
    precondition(result == 1, "a MAC cannot fail")
  }

  /// Starts another message under the same key.
  package mutating func restart() {
    precondition(unsafe EVP_MAC_init(context, nil, 0, nil) == 1, "a MAC cannot fail")
  }

  /// Takes in further bytes of the message.
  package mutating func update(_ message: RawSpan) {
    guard message.byteCount > 0 else { return }
    let result = unsafe message.withUnsafeBytes { unsafe EVP_MAC_update(context, $0.octets, $0.count) }
    precondition(result == 1, "a MAC cannot fail")
  }

  /// Writes the code to `code`, which is as long as it.
  package mutating func finish(into code: inout MutableRawSpan) {
    precondition(code.byteCount == byteCount, "a code is as long as its algorithm says")
    var written = 0
    let result = unsafe code.withUnsafeMutableBytes {
      unsafe EVP_MAC_final(context, $0.octets, &written, $0.count)
    }
    precondition(result == 1 && written == byteCount, "a MAC cannot fail")
  }

  /// One parameter, a name that libcrypto keeps; it takes a mutable pointer and only reads.
  @unsafe
  private static func named(
    _ parameter: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?
  ) -> [OSSL_PARAM] {
    unsafe [
      OSSL_PARAM_construct_utf8_string(parameter, UnsafeMutablePointer(mutating: name), 0),
      OSSL_PARAM_construct_end(),
    ]
  }

  /// An `EVP_MAC`, fetched once.
  ///
  /// Sendable: it does not change once it has been fetched, and is never freed.
  @safe
  private struct Algorithm: @unchecked Sendable {
    let reference: OpaquePointer

    init?(_ name: String) {
      guard let reference = unsafe EVP_MAC_fetch(nil, name, nil) else { return nil }
      unsafe self.reference = unsafe reference
    }

    static let cmac = Algorithm("CMAC")
    static let hmac: Algorithm = {
      guard let hmac = Algorithm("HMAC") else { preconditionFailure("libcrypto has no HMAC") }
      return hmac
    }()
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Which ciphers libcrypto has, and under which names. The default provider lacks CAST5, Blowfish and IDEA;
// they come from the legacy provider, if it is installed, in a library context of its own, so that no other
// code can use it.

internal import COpenSSL

/// A block cipher in a mode: an `EVP_CIPHER`.
///
/// Sendable: it does not change once it has been fetched.
@safe
package struct BlockCipher: ~Copyable, @unchecked Sendable {
  /// The ciphers, under libcrypto's names.
  package enum Algorithm: String, Sendable {
    case idea = "IDEA"
    case tripleDES = "DES-EDE3"
    case cast5 = "CAST5"
    case blowfish = "BF"
    case aes128 = "AES-128"
    case aes192 = "AES-192"
    case aes256 = "AES-256"
    case camellia128 = "CAMELLIA-128"
    case camellia192 = "CAMELLIA-192"
    case camellia256 = "CAMELLIA-256"

    fileprivate var isLegacy: Bool { self == .idea || self == .cast5 || self == .blowfish }
    /// AES of any key size, for which libcrypto has assembly in every mode.
    package var isAES: Bool { self == .aes128 || self == .aes192 || self == .aes256 }
  }

  package enum Mode: String, Sendable {
    case ecb = "ECB"
    case cfb = "CFB"
    case counter = "CTR"
    case ocb = "OCB"
    case gcm = "GCM"
    case cbc = "CBC"
    case keyWrap = "WRAP"
  }

  let reference: OpaquePointer

  /// nil when libcrypto does not have the cipher in this mode.
  package init?(_ algorithm: Algorithm, _ mode: Mode) {
    let name = "\(algorithm.rawValue)-\(mode.rawValue)"
    guard let found = unsafe Self.fetch(name, isLegacy: algorithm.isLegacy) else { return nil }
    unsafe reference = unsafe found
  }

  deinit { unsafe EVP_CIPHER_free(reference) }

  /// Bytes in a key.
  package var keyByteCount: Int { Int(unsafe EVP_CIPHER_get_key_length(reference)) }

  /// Bytes in an IV or a nonce, unless another length is set.
  package var ivByteCount: Int { Int(unsafe EVP_CIPHER_get_iv_length(reference)) }

  @unsafe
  private static func fetch(_ name: String, isLegacy: Bool) -> OpaquePointer? {
    guard isLegacy else { return unsafe EVP_CIPHER_fetch(nil, name, nil) }
    guard let provider = LegacyProvider.shared else { return nil }
    return unsafe EVP_CIPHER_fetch(provider.context, name, nil)
  }
}

/// A library context with the legacy provider.
///
/// Sendable: libcrypto locks what it changes in a context, and this one is never freed.
@safe
private struct LegacyProvider: @unchecked Sendable {
  let context: OpaquePointer

  /// nil where the provider is not installed. Made when first asked for.
  static let shared = LegacyProvider()

  private init?() {
    guard let context = unsafe OSSL_LIB_CTX_new() else { return nil }
    guard unsafe OSSL_PROVIDER_load(context, "legacy") != nil else {
      unsafe OSSL_LIB_CTX_free(context)
      return nil
    }
    unsafe self.context = unsafe context
  }
}

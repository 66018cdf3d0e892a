// SPDX-License-Identifier: Apache-2.0
//
// Which of the registry's ciphers libcrypto has, and under which names. What its default provider has left out
// (CAST5, Blowfish, IDEA) comes from the legacy provider where that is installed, in a library context of its
// own, so that nothing else can see it.

internal import COpenSSL

/// A block cipher in a mode, as libcrypto knows it.
@safe
struct BlockCipher: ~Copyable {
  enum Mode: String {
    case ecb = "ECB"
    case cfb = "CFB"
    case counter = "CTR"
    case ocb = "OCB"
    case gcm = "GCM"
    case cbc = "CBC"
    case keyWrap = "WRAP"
  }

  /// An `EVP_CIPHER`.
  let reference: OpaquePointer

  /// - Throws: ``OpenPGPError/unsupported(_:)`` when libcrypto does not have the cipher in this mode.
  init(_ algorithm: SymmetricAlgorithm, _ mode: Mode) throws(OpenPGPError) {
    guard let name = algorithm.libraryName,
      let found = unsafe Self.fetch("\(name)-\(mode.rawValue)", isLegacy: algorithm.isLegacy)
    else { throw .unsupported(.symmetricAlgorithm(algorithm.rawValue)) }
    unsafe reference = unsafe found
  }

  deinit { unsafe EVP_CIPHER_free(reference) }

  @unsafe
  private static func fetch(_ name: String, isLegacy: Bool) -> OpaquePointer? {
    guard isLegacy else { return unsafe EVP_CIPHER_fetch(nil, name, nil) }
    guard let context = unsafe LegacyProvider.context else { return nil }
    return unsafe EVP_CIPHER_fetch(context, name, nil)
  }
}

extension SymmetricAlgorithm {
  /// The name without the mode; nil for what libcrypto never has.
  fileprivate var libraryName: String? {
    switch self {
    case .idea: "IDEA"
    case .tripleDES: "DES-EDE3"
    case .cast5: "CAST5"
    case .blowfish: "BF"
    case .aes128: "AES-128"
    case .aes192: "AES-192"
    case .aes256: "AES-256"
    case .camellia128: "CAMELLIA-128"
    case .camellia192: "CAMELLIA-192"
    case .camellia256: "CAMELLIA-256"
    default: nil
    }
  }

  fileprivate var isLegacy: Bool { self == .idea || self == .cast5 || self == .blowfish }
}

@unsafe
private enum LegacyProvider {
  /// A library context with the legacy provider; nil where it is not installed. Made when first asked for.
  nonisolated(unsafe) static let context: OpaquePointer? = {
    guard let context = unsafe OSSL_LIB_CTX_new() else { return nil }
    guard unsafe OSSL_PROVIDER_load(context, "legacy") != nil else {
      unsafe OSSL_LIB_CTX_free(context)
      return nil
    }
    return unsafe context
  }()
}

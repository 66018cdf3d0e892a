// SPDX-License-Identifier: Apache-2.0
//
// HKDF (RFC 5869) by libcrypto, extract and expand, with the hashes that RFC 9580 uses it with.

internal import COpenSSL
internal import Secrets

/// HKDF with SHA-256 or SHA-512, of any output length that it allows.
enum ExpandingHKDF {
  /// - Parameters:
  ///   - hash: SHA-256 or SHA-512.
  ///   - ikm: the input keying material; not empty.
  ///   - salt: may be empty.
  ///   - info: says what the output is for; at most 1,024 octets.
  ///   - byteCount: 1 to 255 digests.
  static func derive(
    _ hash: HashAlgorithm, ikm: RawSpan, salt: RawSpan, info: [UInt8], byteCount: Int
  ) -> SecretBytes {
    precondition(hash == .sha256 || hash == .sha512, "HKDF here is with SHA-256 or SHA-512")
    let digestByteCount = hash == .sha256 ? 32 : 64
    precondition((1...255 * digestByteCount).contains(byteCount), "HKDF gives 1 to 255 digests")
    precondition(ikm.byteCount > 0, "a key is not derived from nothing")
    guard let kdf = unsafe EVP_KDF_fetch(nil, "HKDF", nil) else { preconditionFailure("no HKDF") }
    defer { unsafe EVP_KDF_free(kdf) }
    guard let context = unsafe EVP_KDF_CTX_new(kdf) else { preconditionFailure("no HKDF") }
    defer { unsafe EVP_KDF_CTX_free(context) }
    let name = unsafe hash == .sha256 ? COFFER_SHA256 : COFFER_SHA512
    return SecretBytes(byteCount: byteCount) { output in
      let result = unsafe ikm.withUnsafeBytes { ikm in
        unsafe salt.withUnsafeBytes { salt in
          unsafe info.withUnsafeBytes { info in
            var parameters = unsafe [
              OSSL_PARAM_construct_utf8_string(
                COFFER_PARAMETER_DIGEST, UnsafeMutablePointer(mutating: name), 0),
              parameter(COFFER_PARAMETER_KEY, ikm),
            ]
            if unsafe !salt.isEmpty { unsafe parameters.append(parameter(COFFER_PARAMETER_SALT, salt)) }
            if unsafe !info.isEmpty { unsafe parameters.append(parameter(COFFER_PARAMETER_INFO, info)) }
            unsafe parameters.append(OSSL_PARAM_construct_end())
            return unsafe output.withUnsafeMutableBytes { output in
              unsafe EVP_KDF_derive(
                context, output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count, parameters)
            }
          }
        }
      }
      precondition(result == 1, "HKDF cannot fail")
    }
  }

  /// libcrypto takes a mutable pointer and only reads.
  @unsafe
  private static func parameter(
    _ name: UnsafePointer<CChar>?, _ bytes: UnsafeRawBufferPointer
  ) -> OSSL_PARAM {
    unsafe OSSL_PARAM_construct_octet_string(
      name, UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
  }
}

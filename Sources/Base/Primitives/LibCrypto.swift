// SPDX-License-Identifier: Apache-2.0
//
// The algorithms of libcrypto, fetched once: an implicit fetch costs more than hashing a short message.

internal import COpenSSL

@unsafe
enum LibCrypto {
  nonisolated(unsafe) static let sha256 = unsafe EVP_MD_fetch(nil, "SHA256", nil)
  nonisolated(unsafe) static let sha512 = unsafe EVP_MD_fetch(nil, "SHA512", nil)
  nonisolated(unsafe) static let aes256GCM = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
  nonisolated(unsafe) static let hmac = unsafe EVP_MAC_fetch(nil, "HMAC", nil)
}

// SPDX-License-Identifier: Apache-2.0
//
// Operations with keys: agreement, signatures, and RSA.

internal import COpenSSL
package import Secrets

extension EVPKey {
  // MARK: Agreement

  /// The secret that this private key and a public one share: the x coordinate, or the octets of RFC 7748.
  /// - Throws: `refused` when the keys share none.
  package func sharedSecret(with peer: borrowing EVPKey) throws(LibCryptoError) -> SecretBytes {
    guard let context = unsafe EVP_PKEY_CTX_new(reference, nil) else { throw .failed }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var count = 0
    guard unsafe EVP_PKEY_derive_init(context) == 1,
      unsafe EVP_PKEY_derive_set_peer(context, peer.reference) == 1,
      unsafe EVP_PKEY_derive(context, nil, &count) == 1
    else { throw .refused }
    var secret = SecretBytes(zeroed: count)
    let isDone = secret.withMutableBytes { output in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe EVP_PKEY_derive(context, output.octets, &count) == 1 && count == output.count
      }
    }
    guard isDone else { throw .refused }
    return secret
  }

  // MARK: Signatures of digests: RSA, DSA, ECDSA

  /// A signature of RSA, with the padding of PKCS#1 version 1.5 for `digest`, or of ECDSA, in DER.
  /// - Throws: `refused` when libcrypto does not pad for this digest.
  package func signature(
    of value: [UInt8], paddedFor digest: Digest?
  ) throws(LibCryptoError) -> [UInt8] {
    guard let context = unsafe EVP_PKEY_CTX_new(reference, nil) else { throw .failed }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_sign_init(context) == 1 else { throw .failed }
    if let digest { guard unsafe Self.pad(context, for: digest) else { throw .refused } }
    var signature = [UInt8](repeating: 0, count: byteCount)
    var count = signature.count
    guard unsafe EVP_PKEY_sign(context, &signature, &count, value, value.count) == 1 else { throw .failed }
    return Array(signature.prefix(count))
  }

  /// Whether `signature` is a signature of the digest `value`: of RSA, padded for `digest`, or in DER.
  /// - Throws: `refused` when libcrypto does not pad for this digest.
  package func isValid(
    _ signature: [UInt8], of value: [UInt8], paddedFor digest: Digest?
  ) throws(LibCryptoError) -> Bool {
    guard let context = unsafe EVP_PKEY_CTX_new(reference, nil) else { throw .failed }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_verify_init(context) == 1 else { return false }
    if let digest { guard unsafe Self.pad(context, for: digest) else { throw .refused } }
    return unsafe EVP_PKEY_verify(context, signature, signature.count, value, value.count) == 1
  }

  /// Makes an operation of RSA use the padding of PKCS#1 version 1.5 with this hash's name in it.
  @unsafe
  private static func pad(_ context: OpaquePointer, for digest: Digest) -> Bool {
    unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
      && EVP_PKEY_CTX_set_signature_md(context, digest.reference) == 1
  }

  /// Bytes of a signature at most, and of a modulus.
  private var byteCount: Int { Int(unsafe EVP_PKEY_get_size(reference)) }

  // MARK: Signatures of messages: Ed25519, Ed448

  /// A signature of the message, as it is; nil when libcrypto fails.
  package func signature(message: [UInt8]) -> [UInt8]? {
    guard let context = unsafe EVP_MD_CTX_new() else { return nil }
    defer { unsafe EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: byteCount)
    var count = signature.count
    guard unsafe EVP_DigestSignInit(context, nil, nil, nil, reference) == 1,
      unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1,
      count == signature.count
    else { return nil }
    return signature
  }

  /// Whether the octets are a signature of the message, as it is.
  package func isValid(_ signature: [UInt8], message: [UInt8]) -> Bool {
    guard let context = unsafe EVP_MD_CTX_new() else { return false }
    defer { unsafe EVP_MD_CTX_free(context) }
    return unsafe EVP_DigestVerifyInit(context, nil, nil, nil, reference) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }

  // MARK: Encryption by RSA

  /// Encrypts with the padding of PKCS#1 version 1.5.
  /// - Throws: `refused` when the modulus is too small for the payload, or even.
  package func encryptedByRSA(_ payload: RawSpan) throws(LibCryptoError) -> [UInt8] {
    guard let context = unsafe EVP_PKEY_CTX_new(reference, nil) else { throw .failed }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var output = [UInt8](repeating: 0, count: byteCount)
    var count = output.count
    let isDone =
      unsafe EVP_PKEY_encrypt_init(context) == 1
      && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
      && payload.withUnsafeBytes { payload in
        unsafe EVP_PKEY_encrypt(context, &output, &count, payload.octets, payload.count) == 1
      }
    guard isDone else { throw .refused }
    return Array(output.prefix(count))
  }

  /// The power of RSA, without its padding: as many octets as the modulus.
  /// - Throws: `refused` for a number that is not below the modulus, which everybody can see.
  package func rawDecryptedByRSA(_ ciphertext: [UInt8]) throws(LibCryptoError) -> SecretBytes {
    guard let context = unsafe EVP_PKEY_CTX_new(reference, nil) else { throw .failed }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_decrypt_init(context) == 1,
      unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1
    else { throw .failed }
    var block = SecretBytes(zeroed: ciphertext.count)
    let isDone = block.withMutableBytes { block in
      unsafe block.withUnsafeMutableBytes { block in
        var count = block.count
        return unsafe EVP_PKEY_decrypt(context, block.octets, &count, ciphertext, ciphertext.count) == 1
          && count == block.count
      }
    }
    guard isDone else { throw .refused }
    return block
  }
}

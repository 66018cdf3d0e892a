// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3: whether a signature of a digest is a key's. libcrypto checks what makes signatures
// malleable: the DigestInfo of PKCS#1 octet by octet, the S of EdDSA below the group's order. Small-order and
// non-canonical points it takes as RFC 8032 lets it.

internal import COpenSSL

extension PublicKey {
  /// Whether `material` is this key's signature of the digest.
  ///
  /// Fields that are not a key, and signatures of another algorithm, are simply not valid.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` for an algorithm, a curve or a hash that is not there.
  func isValid(_ material: SignatureMaterial, digest: [UInt8], hash: HashAlgorithm) throws(OpenPGPError)
    -> Bool
  {
    guard digest.count == hash.digestByteCount else { return false }
    do throws(OpenPGPError) {
      return try isValidSignature(material, digest, hash)
    } catch {
      if case .malformed = error { return false }
      throw error
    }
  }

  private func isValidSignature(
    _ signature: SignatureMaterial, _ digest: [UInt8], _ hash: HashAlgorithm
  ) throws(OpenPGPError) -> Bool {
    let key = try LibraryKey.make(self)
    switch (material, signature) {
    case (.rsa(let modulus, _), .rsa(let value)):
      guard let bytes = value.padded(to: modulus.bytes.count) else { return false }
      return try key.isValid(bytes, digest: digest, paddedFor: hash)
    case (.dsa, .dsa(let r, let s)), (.ecdsa, .ecdsa(let r, let s)):
      let sequence = ECDSASignature.sequence(r: r, s: s)
      return try key.isValid(sequence, digest: digest, paddedFor: nil)
    case (.eddsaLegacy, .eddsaLegacy(let r, let s)):
      guard let r = r.padded(to: 32), let s = s.padded(to: 32) else { return false }
      return key.isValid(r + s, message: digest)
    case (.ed25519, .ed25519(let bytes)), (.ed448, .ed448(let bytes)):
      return key.isValid(bytes, message: digest)
    default: return false
    }
  }
}

extension LibraryKey {
  fileprivate func isValid(
    _ signature: [UInt8], digest: [UInt8], paddedFor hash: HashAlgorithm?
  ) throws(OpenPGPError) -> Bool {
    guard let context = unsafe EVP_PKEY_CTX_new(reference, nil) else { throw .internalFailure }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_verify_init(context) == 1 else { return false }
    if let hash { guard unsafe hash.pad(context) else { throw .unsupported(.hashAlgorithm(hash.rawValue)) } }
    return unsafe EVP_PKEY_verify(context, signature, signature.count, digest, digest.count) == 1
  }

  /// EdDSA: whether the octets are a signature of the message, as it is.
  func isValid(_ signature: [UInt8], message: [UInt8]) -> Bool {
    guard let context = unsafe EVP_MD_CTX_new() else { return false }
    defer { unsafe EVP_MD_CTX_free(context) }
    return unsafe EVP_DigestVerifyInit(context, nil, nil, nil, reference) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }
}

extension HashAlgorithm {
  /// Makes an operation of RSA use the padding of PKCS#1 version 1.5 with this hash's name in it; false when
  /// libcrypto does not have the hash.
  @unsafe
  func pad(_ context: OpaquePointer) -> Bool {
    guard let digest = unsafe HashContext.digest(self) else { return false }
    return unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
      && EVP_PKEY_CTX_set_signature_md(context, digest) == 1
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3: signatures of a digest.

internal import COpenSSL

extension UnlockedKey {
  /// See ``Signer/sign(digest:hash:)``.
  public func sign(digest: [UInt8], hash: HashAlgorithm) throws(OpenPGPError) -> SignatureMaterial {
    guard publicKey.algorithm.signs else { throw .keyCannot(.sign) }
    precondition(digest.count == hash.digestByteCount, "a digest is as long as its algorithm says")
    let key = try libraryKey()
    switch publicKey.material {
    case .rsa: return .rsa(MPI(try key.signature(digest: digest, paddedFor: hash)))
    case .ecdsa:
      let (r, s) = try ECDSASignature.integers(try key.signature(digest: digest, paddedFor: nil))
      return .ecdsa(r: r, s: s)
    case .eddsaLegacy:
      let signature = try key.signature(message: digest)
      return .eddsaLegacy(r: MPI(Array(signature.prefix(32))), s: MPI(Array(signature.suffix(32))))
    case .ed25519: return .ed25519(try key.signature(message: digest))
    case .ed448: return .ed448(try key.signature(message: digest))
    default: throw .keyCannot(.sign)
    }
  }
}

extension LibraryKey {
  /// A signature of RSA, with the padding of PKCS#1 version 1.5 for the hash, or of ECDSA, in DER.
  fileprivate func signature(
    digest: [UInt8], paddedFor hash: HashAlgorithm?
  ) throws(OpenPGPError) -> [UInt8] {
    guard let context = unsafe EVP_PKEY_CTX_new(reference, nil) else { throw .internalFailure }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_sign_init(context) == 1 else { throw .internalFailure }
    if let hash { guard unsafe hash.pad(context) else { throw .unsupported(.hashAlgorithm(hash.rawValue)) } }
    var signature = [UInt8](repeating: 0, count: Int(unsafe EVP_PKEY_get_size(reference)))
    var count = signature.count
    guard unsafe EVP_PKEY_sign(context, &signature, &count, digest, digest.count) == 1 else {
      throw .internalFailure
    }
    return Array(signature.prefix(count))
  }

  /// A signature of Ed25519 or Ed448.
  fileprivate func signature(message: [UInt8]) throws(OpenPGPError) -> [UInt8] {
    guard let context = unsafe EVP_MD_CTX_new() else { throw .internalFailure }
    defer { unsafe EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: Int(unsafe EVP_PKEY_get_size(reference)))
    var count = signature.count
    guard unsafe EVP_DigestSignInit(context, nil, nil, nil, reference) == 1,
      unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1,
      count == signature.count
    else { throw .internalFailure }
    return signature
  }
}

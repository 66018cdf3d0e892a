// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3: signatures of a digest.

internal import LibCrypto

extension UnlockedKey {
  /// See ``Signer/sign(digest:hash:)``.
  public func sign(digest: [UInt8], hash: HashAlgorithm) throws(OpenPGPError) -> SignatureMaterial {
    guard publicKey.algorithm.signs else { throw .keyCannot(.sign) }
    precondition(digest.count == hash.digestByteCount, "a digest is as long as its algorithm says")
    if publicKey.algorithm.isPostQuantum { return try postQuantumSignature(of: digest) }
    let key = try evpKey()
    switch publicKey.material {
    case .rsa: return .rsa(MPI(try key.signature(digest: digest, paddedFor: hash)))
    case .ecdsa:
      let (r, s) = try ECDSASignature.integers(try key.signature(digest: digest, paddedFor: nil))
      return .ecdsa(r: r, s: s)
    case .eddsaLegacy:
      let signature = try key.edDSASignature(digest)
      return .eddsaLegacy(r: MPI(Array(signature.prefix(32))), s: MPI(Array(signature.suffix(32))))
    case .ed25519: return .ed25519(try key.edDSASignature(digest))
    case .ed448: return .ed448(try key.edDSASignature(digest))
    default: throw .keyCannot(.sign)
    }
  }
}

extension EVPKey {
  /// A signature of RSA, with the padding of PKCS#1 version 1.5 for the hash, or of ECDSA, in DER.
  fileprivate func signature(
    digest: [UInt8], paddedFor hash: HashAlgorithm?
  ) throws(OpenPGPError) -> [UInt8] {
    do throws(LibCryptoError) {
      return try signature(of: digest, paddedFor: try hash?.paddingDigest())
    } catch {
      throw OpenPGPError(error, refused: .unsupported(.hashAlgorithm(hash?.rawValue ?? 0)))
    }
  }

  /// A signature of Ed25519 or Ed448.
  fileprivate func edDSASignature(_ message: [UInt8]) throws(OpenPGPError) -> [UInt8] {
    guard let signature = signature(message: message) else { throw .internalFailure }
    return signature
  }
}

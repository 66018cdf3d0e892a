// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3, and RFC 9980: whether a signature of a digest is a key's. libcrypto checks what makes signatures
// malleable: the DigestInfo of PKCS#1 octet by octet, the S of EdDSA below the group's order. Small-order and
// non-canonical points it takes as RFC 8032 lets it.

internal import LibCrypto
internal import PostQuantum

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
    if algorithm.isPostQuantum { return try isValidPostQuantumSignature(signature, digest) }
    let key = try EVPKey.make(self)
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

  /// RFC 9980, sections 5.2.3 and 6.1.3. Both halves of a composite are verified, whatever the first says.
  private func isValidPostQuantumSignature(
    _ signature: SignatureMaterial, _ digest: [UInt8]
  ) throws(OpenPGPError) -> Bool {
    switch (material, signature) {
    case (
      .compositeSignature(let kind, let eddsaKey, let mldsaKey),
      .compositeSignature(let other, let eddsa, let mldsa)
    ):
      guard kind == other else { return false }
      let isValidByCurve = try EVPKey.native(kind.curve, eddsaKey).isValid(eddsa, message: digest)
      let isValidByLattice = kind.lattice.isValid(mldsa, of: digest, publicKey: mldsaKey)
      return isValidByCurve && isValidByLattice
    case (.hashBasedSignature(let kind, let key), .hashBasedSignature(let other, let octets)):
      return kind == other && kind.parameters.isValid(octets, of: digest, publicKey: key)
    case (.unknown, _): throw .unsupported(.publicKeyAlgorithm(algorithm.rawValue))
    default: return false
    }
  }
}

extension EVPKey {
  fileprivate func isValid(
    _ signature: [UInt8], digest: [UInt8], paddedFor hash: HashAlgorithm?
  ) throws(OpenPGPError) -> Bool {
    do throws(LibCryptoError) {
      return try isValid(signature, of: digest, paddedFor: try hash?.paddingDigest())
    } catch {
      throw OpenPGPError(error, refused: .unsupported(.hashAlgorithm(hash?.rawValue ?? 0)))
    }
  }
}

extension HashAlgorithm {
  /// The hash that the padding of PKCS#1 version 1.5 names.
  func paddingDigest() throws(LibCryptoError) -> Digest {
    guard let digest else { throw .refused }
    return digest
  }
}

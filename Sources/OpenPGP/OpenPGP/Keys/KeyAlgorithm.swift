// SPDX-License-Identifier: Apache-2.0

/// What new keys are made of.
public enum KeyAlgorithm: Sendable {
  /// 3,072 to 16,384 bits: less must not be made (RFC 9580, section 12.4).
  case rsa(bitCount: Int)
  /// Ed25519 in its old form, which signs: for version 4 only.
  case eddsaLegacy
  /// X25519 in its old form, which encrypts: for version 4 only.
  case curve25519Legacy
  /// Signatures on a curve of NIST or Brainpool.
  case ecdsa(Curve)
  /// Encryption on a curve of NIST or Brainpool.
  case ecdh(Curve)
  /// Signatures with Ed25519.
  case ed25519
  /// Encryption with X25519.
  case x25519
  /// Signatures with Ed448.
  case ed448
  /// Encryption with X448.
  case x448
  /// Signatures with EdDSA and ML-DSA: for version 6 only.
  case compositeSignature(CompositeSignatureAlgorithm)
  /// Signatures with SLH-DSA: for version 6 only.
  case hashBasedSignature(HashBasedSignatureAlgorithm)
  /// Encryption with ECDH and ML-KEM; in version 4 ML-KEM-768 with X25519 alone.
  case compositeKEM(CompositeKEMAlgorithm)
}

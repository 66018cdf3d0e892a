// SPDX-License-Identifier: Apache-2.0

/// What new keys are made of.
public enum KeyAlgorithm: Sendable {
  /// 3,072 to 16,384 bits: less must not be made (RFC 9580, section 12.4).
  case rsa(bitCount: Int)
  /// For version 4 only.
  case eddsaLegacy, curve25519Legacy
  case ecdsa(Curve), ecdh(Curve)
  case ed25519, x25519, ed448, x448
}

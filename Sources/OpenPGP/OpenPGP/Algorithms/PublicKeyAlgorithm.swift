// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 9.1: the registry's order. An unknown number is a value like any other.

/// A public-key algorithm by its number.
public struct PublicKeyAlgorithm: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let rsa = PublicKeyAlgorithm(rawValue: 1)
  public static let rsaEncryptOnly = PublicKeyAlgorithm(rawValue: 2)
  public static let rsaSignOnly = PublicKeyAlgorithm(rawValue: 3)
  public static let elgamal = PublicKeyAlgorithm(rawValue: 16)
  public static let dsa = PublicKeyAlgorithm(rawValue: 17)
  public static let ecdh = PublicKeyAlgorithm(rawValue: 18)
  public static let ecdsa = PublicKeyAlgorithm(rawValue: 19)
  public static let eddsaLegacy = PublicKeyAlgorithm(rawValue: 22)
  public static let x25519 = PublicKeyAlgorithm(rawValue: 25)
  public static let x448 = PublicKeyAlgorithm(rawValue: 26)
  public static let ed25519 = PublicKeyAlgorithm(rawValue: 27)
  public static let ed448 = PublicKeyAlgorithm(rawValue: 28)

  /// Whether the algorithm makes signatures.
  public var signs: Bool {
    switch self {
    case .rsa, .rsaSignOnly, .dsa, .ecdsa, .eddsaLegacy, .ed25519, .ed448: true
    default: false
    }
  }

  /// Whether session keys can be encrypted with it.
  public var encrypts: Bool {
    switch self {
    case .rsa, .rsaEncryptOnly, .elgamal, .ecdh, .x25519, .x448: true
    default: false
    }
  }
}

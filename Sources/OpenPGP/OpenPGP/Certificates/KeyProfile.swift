// SPDX-License-Identifier: Apache-2.0
//
// What new keys are made of, and what they say their holder can read. Who sends to a certificate goes by what
// it says, so a profile never promises more than the software it is meant for has.

/// A kind of new key.
public enum KeyProfile: Sendable, CaseIterable {
  /// Version 4, Ed25519 and Curve25519 in their old form: what GnuPG reads. It promises version 1 of encrypted
  /// data alone, since GnuPG cannot read version 2, and nothing of LibrePGP's.
  case universal
  /// Version 6, Ed448 and X448, version 2 of encrypted data, OCB before GCM.
  case advanced
  /// Version 4, RSA with 3,072 bits: what knows RFC 4880 and no curves.
  case rfc4880
  /// Version 6, Ed25519 and X25519: the algorithms that RFC 9580 demands of everybody.
  case rfc9580

  /// Of the keys.
  public var version: UInt8 {
    switch self {
    case .universal, .rfc4880: 4
    case .advanced, .rfc9580: 6
    }
  }

  /// Of the primary key, which certifies and signs. A signing subkey of its own would pay where the primary
  /// key lies in a safe; where both lie in one place it is one secret more to keep and two signatures more
  /// for everybody to verify.
  var signing: KeyAlgorithm {
    switch self {
    case .universal: .eddsaLegacy
    case .advanced: .ed448
    case .rfc4880: .rsa(bitCount: Self.modulusBitCount)
    case .rfc9580: .ed25519
    }
  }

  /// Of the subkey that messages are encrypted to.
  var encryption: KeyAlgorithm {
    switch self {
    case .universal: .curve25519Legacy
    case .advanced: .x448
    case .rfc4880: .rsa(bitCount: Self.modulusBitCount)
    case .rfc9580: .x25519
    }
  }

  /// RFC 9580, section 12.4: new RSA keys have 3,072 bits at least.
  private static let modulusBitCount = 3072
}

extension SecretKeyProtection.Profile {
  /// What a key of this version is locked with: version 4 goes to GnuPG, which has no Argon2.
  static func forKey(version: UInt8) -> SecretKeyProtection.Profile { version == 6 ? .advanced : .universal }
}

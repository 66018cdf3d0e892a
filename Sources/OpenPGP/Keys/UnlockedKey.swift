// SPDX-License-Identifier: Apache-2.0
//
// A private key in memory for secrets, and what can be done with it.

internal import Secrets

/// A private key without its protection.
public struct UnlockedKey: Signer, Decryptor, Sendable {
  public let publicKey: PublicKey
  /// The secret fields of section 5.5.5, as they stand in an unprotected packet, without the checksum.
  let material: SharedSecret

  init(publicKey: PublicKey, material: SharedSecret) {
    self.publicKey = publicKey
    self.material = material
  }

  public func sign(digest: [UInt8], hash: HashAlgorithm) throws(OpenPGPError) -> SignatureMaterial {
    preconditionFailure("not built yet")
  }

  public func decrypt(_ packet: PublicKeyEncryptedSessionKey) throws(OpenPGPError) -> SessionKey {
    preconditionFailure("not built yet")
  }

  /// A new key.
  public static func generate(
    _ algorithm: KeyAlgorithm, version: UInt8, creationTime: Timestamp
  ) throws(OpenPGPError) -> UnlockedKey {
    preconditionFailure("not built yet")
  }

  /// The packet of this key without protection.
  public func withoutProtection() -> SecretKey { preconditionFailure("not built yet") }

  /// The packet of this key, protected by a password. `isSubkey` is bound by AEAD (section 5.5.3).
  public func locked(
    password: RawSpan, with protection: NewProtection, isSubkey: Bool
  ) throws(OpenPGPError) -> SecretKey {
    preconditionFailure("not built yet")
  }
}

/// What new keys are made of.
public enum KeyAlgorithm: Sendable {
  case rsa(bitCount: Int)
  case eddsaLegacy, curve25519Legacy
  case ecdsa(Curve), ecdh(Curve)
  case ed25519, x25519, ed448, x448
}

/// How keys are protected when they are written.
public enum NewProtection: Sendable {
  /// AES-256 in CFB, iterated and salted S2K with SHA-256, the highest count: what GnuPG reads.
  case universal
  /// AES-256 in OCB, Argon2id with 2^19 KiB, 4 lanes, 3 passes (PG-15).
  case advanced
}

extension SecretKey {
  /// The key without its protection.
  /// - Throws: ``OpenPGPError/wrongPassword``; ``OpenPGPError/keyIsLocked`` without a password.
  public func unlocked(password: RawSpan?, isSubkey: Bool) throws(OpenPGPError) -> UnlockedKey {
    preconditionFailure("not built yet")
  }
}

extension PublicKey {
  /// Whether `material` is this key's signature of the digest.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` for an algorithm that is not there.
  func isValid(_ material: SignatureMaterial, digest: [UInt8], hash: HashAlgorithm) throws(OpenPGPError)
    -> Bool
  {
    preconditionFailure("not built yet")
  }

  /// Encrypts a session key to this key: version 3 for SEIPD version 1, 6 for 2.
  /// - Parameter isAnonymous: leaves out who the recipient is.
  func encrypt(_ key: SessionKey, version: UInt8, isAnonymous: Bool) throws(OpenPGPError)
    -> PublicKeyEncryptedSessionKey
  {
    preconditionFailure("not built yet")
  }
}

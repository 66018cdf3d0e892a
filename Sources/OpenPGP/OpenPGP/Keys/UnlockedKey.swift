// SPDX-License-Identifier: Apache-2.0
//
// Private keys without their protection, in memory for secrets, and what the engine needs of a private key at
// all: Signer and Decryptor. Where such a key is (in memory, in an envelope of an enclave, on a card) does
// not matter to the engine.

internal import LibCrypto
internal import Secrets

/// A private key without its protection.
public struct UnlockedKey: Signer, Decryptor, Sendable {
  /// The public half.
  public let publicKey: PublicKey
  /// The secret fields of section 5.5.5, as in an unprotected packet, without the checksum.
  let material: SharedSecretBytes

  /// - Parameter material: must belong to the public key.
  init(publicKey: PublicKey, material: SharedSecretBytes) {
    self.publicKey = publicKey
    self.material = material
  }

  /// libcrypto's form, for one operation.
  func evpKey() throws(OpenPGPError) -> EVPKey {
    try material.withBytes { fields throws(OpenPGPError) in
      try EVPKey.make(publicKey, secretFields: fields)
    }
  }
}

/// A private key that signs.
public protocol Signer {
  /// The public half, with the algorithm and the version of the signatures.
  var publicKey: PublicKey { get }

  /// Signs a digest, made with `hash`; its length is that of the hash.
  /// - Throws: ``OpenPGPError/keyCannot(_:)`` when it cannot sign.
  func sign(digest: [UInt8], hash: HashAlgorithm) throws(OpenPGPError) -> SignatureMaterial
}

/// A private key that opens session keys.
public protocol Decryptor {
  /// The public half: it tells which session keys may be for this key.
  var publicKey: PublicKey { get }

  /// The session key in `packet`, which is encrypted to this key.
  /// - Throws: ``OpenPGPError/notAuthentic`` when it is not for this key or was changed: all such failures are
  ///   one, so that nobody can learn from the difference.
  func decrypt(_ packet: PKESK) throws(OpenPGPError) -> SessionKey
}

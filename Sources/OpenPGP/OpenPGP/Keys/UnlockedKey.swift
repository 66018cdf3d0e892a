// SPDX-License-Identifier: Apache-2.0
//
// A private key in memory for secrets. What it does is in the files beside this one.

internal import LibCrypto
internal import Secrets

/// A private key without its protection.
public struct UnlockedKey: Signer, Decryptor, Sendable {
  public let publicKey: PublicKey
  /// The secret fields of section 5.5.5, as they stand in an unprotected packet, without the checksum.
  let material: SharedSecret

  /// - Parameter material: must belong to the public key.
  init(publicKey: PublicKey, material: SharedSecret) {
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

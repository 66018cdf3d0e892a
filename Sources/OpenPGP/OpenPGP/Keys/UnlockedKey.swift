// SPDX-License-Identifier: Apache-2.0
//
// A private key in memory for secrets. What it does is in the files beside this one.

internal import Secrets

/// A private key without its protection.
public struct UnlockedKey: Signer, Decryptor, Sendable {
  public let publicKey: PublicKey
  /// The secret fields of section 5.5.5, as they stand in an unprotected packet, without the checksum.
  let material: SharedSecretBytes

  /// - Parameter material: must belong to the public key.
  init(publicKey: PublicKey, material: SharedSecretBytes) {
    self.publicKey = publicKey
    self.material = material
  }

  /// libcrypto's form, for one operation.
  func libraryKey() throws(OpenPGPError) -> LibraryKey {
    try material.withBytes { fields throws(OpenPGPError) in
      try LibraryKey.make(publicKey, secretFields: fields)
    }
  }
}

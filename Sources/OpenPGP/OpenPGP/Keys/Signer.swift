// SPDX-License-Identifier: Apache-2.0
//
// What the engine needs of a private key. Where the key is (in memory, in an envelope of an enclave, on a
// card) is not the engine's business.

/// A private key that signs.
public protocol Signer {
  var publicKey: PublicKey { get }

  /// Signs a digest, made with `hash`; its length is that of the hash.
  /// - Throws: ``OpenPGPError/keyCannot(_:)`` when it is no signing key.
  func sign(digest: [UInt8], hash: HashAlgorithm) throws(OpenPGPError) -> SignatureMaterial
}

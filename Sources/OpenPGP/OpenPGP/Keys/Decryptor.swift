// SPDX-License-Identifier: Apache-2.0

/// A private key that opens session keys.
public protocol Decryptor {
  var publicKey: PublicKey { get }

  /// The session key in `packet`, which is encrypted to this key.
  /// - Throws: ``OpenPGPError/notAuthentic`` when it is not for this key or was changed: all such failures are
  ///   one, so that nobody can learn from the difference.
  func decrypt(_ packet: PKESK) throws(OpenPGPError) -> SessionKey
}

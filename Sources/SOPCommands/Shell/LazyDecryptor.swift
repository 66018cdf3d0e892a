// SPDX-License-Identifier: Apache-2.0
//
// A protected key is unlocked when a message turns out to be for it: the protection is meant to take time.
//
// Concurrency: one thread at a time, like the streams it is used with.

internal import OpenPGP
internal import Secrets

/// A secret key that is unlocked on its first use.
final class LazyDecryptor: Decryptor {
  let publicKey: PublicKey
  private let key: TransferableSecretKey
  private let passwords: [SharedSecret]
  private var unlocked: UnlockedKey?

  private init(_ publicKey: PublicKey, _ key: TransferableSecretKey, _ passwords: [SharedSecret]) {
    self.publicKey = publicKey
    self.key = key
    self.passwords = passwords
  }

  /// All keys of `key` that can decrypt; whether they still should is no question for old messages.
  static func all(in key: TransferableSecretKey, passwords: [SharedSecret]) -> [LazyDecryptor] {
    key.certificate.publicKeys.filter { $0.algorithm.encrypts && key.secrets[$0.fingerprint] != nil }
      .map { LazyDecryptor($0, key, passwords) }
  }

  func decrypt(_ packet: PublicKeyEncryptedSessionKey) throws(OpenPGPError) -> SessionKey {
    if let unlocked { return try unlocked.decrypt(packet) }
    let opened = try key.unlocked(publicKey.fingerprint, for: .decrypt, passwords: passwords)
    unlocked = opened
    return try opened.decrypt(packet)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// A protected key is unlocked when a message turns out to be for it: the protection is meant to take time.
//
// Concurrency: one thread at a time, like the streams it is used with.

internal import OpenPGP
internal import Secrets

/// A secret key that is unlocked on its first use, once, whatever comes of it.
final class LazyDecryptor: Decryptor {
  let publicKey: PublicKey
  private let unlock: () throws(OpenPGPError) -> UnlockedKey
  /// A message may have many session keys that want this key; taking off its protection takes time in vain, too.
  private var unlocked: Result<UnlockedKey, OpenPGPError>?

  init(_ publicKey: PublicKey, unlock: @escaping () throws(OpenPGPError) -> UnlockedKey) {
    self.publicKey = publicKey
    self.unlock = unlock
  }

  /// All keys of `key` that can decrypt; whether they still should is no question for old messages.
  static func all(in key: TransferableSecretKey, passwords: [SharedSecretBytes]) -> [LazyDecryptor] {
    key.certificate.publicKeys.filter { $0.algorithm.encrypts && key.secrets[$0.fingerprint] != nil }
      .map { publicKey in
        LazyDecryptor(publicKey) { () throws(OpenPGPError) in
          try key.unlocked(publicKey.fingerprint, for: .decrypt, passwords: passwords)
        }
      }
  }

  func decrypt(_ packet: PKESK) throws(OpenPGPError) -> SessionKey {
    let result = unlocked ?? result()
    unlocked = result
    return try result.get().decrypt(packet)
  }

  private func result() -> Result<UnlockedKey, OpenPGPError> {
    do throws(OpenPGPError) {
      return .success(try unlock())
    } catch {
      return .failure(error)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

internal import Keychains
internal import Storage

extension Keybag {
  /// The store of sealed items, where the keybag says that it is.
  /// - Throws: `KeychainError.serviceUnavailable` when this program was built without that store.
  func openKeychain(_ file: DatabaseFile) throws(KeychainError) -> any Keychain {
    switch keychain {
    case .file: return FileKeychain(file)
    case .secretService:
      #if SecretService
        return SecretServiceKeychain(coffer: coffer, file: file)
      #else
        throw .serviceUnavailable
      #endif
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

internal import Keychains
internal import Storage

extension Keybag {
  /// The keychain, in the place that the keybag names.
  /// - Throws: `KeychainError.serviceUnavailable` when this program was built without that store.
  func openKeychain(_ file: DatabaseFile) throws(KeychainError) -> any Keychain {
    switch keychain {
    case .file: return FileKeychain(file)
    case .secretService:
      #if SecretService
        return BoundServiceKeychain(SecretServiceKeychain(coffer: coffer, file: file), file: file)
      #else
        throw .serviceUnavailable
      #endif
    }
  }

  /// Whether the Secret Service has another state of the keychain than this file knows: a copy of the coffer has
  /// written it since, and needs it.
  func isServiceKeychainAnothers(_ file: DatabaseFile) -> Bool {
    guard keychain == .secretService else { return false }
    do throws(KeychainError) {
      _ = try openKeychain(file).items()
      return false
    } catch { return error == .invalidData }
  }

  /// Removes this coffer's items from the Secret Service, if its keychain is there.
  /// - Returns: false when they may still be there: the service is locked, or does not answer.
  func removeServiceKeychain(_ file: DatabaseFile) -> Bool {
    switch keychain {
    case .file: return true
    case .secretService:
      #if SecretService
        do throws(KeychainError) {
          try SecretServiceKeychain(coffer: coffer, file: file).remove()
          return true
        } catch { return false }
      #else
        return false
      #endif
    }
  }
}

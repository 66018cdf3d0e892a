// SPDX-License-Identifier: Apache-2.0
//
// Enclave keys by name: the handle is an item of the class that the key's access control names; the key
// itself is in the enclave. Only that enclave can use the handle.

public import Enclaves
internal import Foundation
internal import Secrets

extension KeychainService {
  /// Makes a P-256 key in `enclave` and keeps its handle under `tag`.
  ///
  /// - Throws: `KeychainError.duplicateItem` when the name is taken, before the enclave is asked;
  ///   `.secureEnclaveUnavailable` without a chip; `.enclave`; `.locked`.
  public func createSecureEnclaveKey(
    tag: String, in enclave: any Enclave, use: EnclaveKeyUse,
    access: AccessControl = AccessControl(.afterFirstUnlockThisDeviceOnly),
    enrolment: KeyEnrolment = KeyEnrolment()
  ) throws(KeychainError) -> EnclaveKey {
    guard try !hasItem(forKey: tag) else { throw .duplicateItem }
    let key: EnclaveKey
    do { key = try enclave.createKey(use: use, access: access, enrolment: enrolment) } catch {
      throw Self.sorted(error)
    }
    try create(
      key.handle.withBytes { SecretBytes(copying: $0) }, forKey: tag,
      accessibility: access.protection.accessibility)
    return key
  }

  /// The key of that name, nil when there is none.
  /// - Throws: `KeychainError.invalidData` for a handle that is damaged, or of another kind of enclave.
  public func loadSecureEnclaveKey(tag: String, in enclave: any Enclave) throws(KeychainError) -> EnclaveKey?
  {
    guard let handle = try loadSecret(forKey: tag) else { return nil }
    do {
      return try handle.withBytes { handle throws(EnclaveError) in try enclave.loadKey(handle) }
    } catch { throw Self.sorted(error) }
  }

  /// Deletes the key of that name from the enclave, then its handle; it is not an error if there is none.
  public func deleteSecureEnclaveKey(tag: String, in enclave: any Enclave) throws(KeychainError) {
    if let key = try loadSecureEnclaveKey(tag: tag, in: enclave) {
      do { try enclave.deleteKey(key) } catch { throw Self.sorted(error) }
    }
    try delete(forKey: tag)
  }

  private static func sorted(_ error: EnclaveError) -> KeychainError {
    switch error {
    case .unavailable: .secureEnclaveUnavailable
    case .corrupt, .wrongKind: .invalidData
    default: .enclave(error)
    }
  }
}

extension AccessControl.Protection {
  /// The class of the item that holds the handle. A coffer always has a passphrase or phrase, so the third
  /// asks for no more than the first.
  var accessibility: AccessibilityClass {
    switch self {
    case .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: .whenUnlockedThisDeviceOnly
    case .afterFirstUnlockThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
    }
  }
}

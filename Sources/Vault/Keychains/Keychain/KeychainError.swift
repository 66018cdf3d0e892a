// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What can go wrong in a keychain. A status is the native code of the store below: for the
/// file keychain, an extended SQLite result code; for the Secret Service, a negative `errno`.
public enum KeychainError: Error, Equatable, Sendable {
  case saveFailed(Int32)
  case loadFailed(Int32)
  case deleteFailed(Int32)
  /// No item of that name; only from calls that require one.
  case itemNotFound
  /// There is an item of that name; only from the create-only call.
  case duplicateItem
  /// The item, or the list of items, is not what was stored.
  case invalidData
  case unexpectedError(Int32)
  case encodingFailed
  case decodingFailed
  /// No chip holds keys here.
  case secureEnclaveUnavailable
  /// The item is there and its class key is not: unlock first. Never reported as missing.
  case locked
  /// The store is a service that is locked itself: the keyring of the desktop. No passphrase of ours opens it.
  case serviceLocked
  /// The store is a service that does not run here, or has no default collection.
  case serviceUnavailable
}

extension KeychainError: LocalizedError {
  /// Fixed texts: callers may rely on them.
  public var errorDescription: String? {
    switch self {
    case .saveFailed(let status): "Failed to save item to Keychain (status: \(status))"
    case .loadFailed(let status): "Failed to load item from Keychain (status: \(status))"
    case .deleteFailed(let status): "Failed to delete item from Keychain (status: \(status))"
    case .itemNotFound: "Keychain item not found"
    case .duplicateItem: "Keychain item already exists"
    case .invalidData: "Keychain data is invalid or corrupted"
    case .unexpectedError(let status): "Unexpected Keychain error (status: \(status))"
    case .encodingFailed: "Failed to encode item for Keychain"
    case .decodingFailed: "Failed to decode item from Keychain"
    case .secureEnclaveUnavailable: "Secure Enclave is not available on this device"
    case .locked: "Keychain is locked"
    case .serviceLocked: "Secret Service is locked"
    case .serviceUnavailable: "Secret Service is not available"
    }
  }

  /// The status of the store below, where there is one.
  public var status: Int32? {
    switch self {
    case .saveFailed(let status), .loadFailed(let status), .deleteFailed(let status),
      .unexpectedError(let status):
      status
    default: nil
    }
  }
}

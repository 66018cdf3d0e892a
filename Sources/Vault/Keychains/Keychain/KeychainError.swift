// SPDX-License-Identifier: Apache-2.0

public import Enclaves
public import Foundation
public import Storage

/// The errors of a keychain. The number of the first cases is the native code of a service: a negative
/// `errno` for the Secret Service, an `OSStatus` for Apple's keychain. Errors of other modules keep their
/// type, in ``storage(_:)`` and ``enclave(_:)``.
@nonexhaustive
public enum KeychainError: Error, Equatable, Sendable {
  /// The service did not store the batch; its native code.
  case saveFailed(Int32)
  /// The service did not give the items; its native code.
  case loadFailed(Int32)
  /// The service did not delete the item; its native code.
  case deleteFailed(Int32)
  /// No item of that name; only from calls that require one.
  case itemNotFound
  /// There is an item of that name; only from the create-only call.
  case duplicateItem
  /// The item, or the list of items, is damaged or was changed.
  case invalidData
  /// Any other answer of a service; its native code.
  case unexpectedError(Int32)
  /// The device's state cannot be stored: a field is missing or contradicts another.
  case encodingFailed
  /// The item opens, but is not UTF-8, or not a valid state of the device.
  case decodingFailed
  /// This machine has no chip for keys.
  case secureEnclaveUnavailable
  /// The coffer's file, which has the items or their digests, cannot be read or written, or is damaged.
  case storage(StorageError)
  /// The enclave that holds the key refused.
  case enclave(EnclaveError)
  /// An error that no layer below promises: a bug. The name of its type, never what it says.
  case unsorted(type: String)
  /// The item exists, but its class key is missing: unlock first. A locked item is never reported as missing.
  case locked
  /// The store is a service that is locked itself: the keyring of the desktop. No passphrase of ours opens it.
  case serviceLocked
  /// The store is a service that does not run here, or has no default collection.
  case serviceUnavailable
  /// The store is a service that is used through a library, which is not installed.
  case serviceLibraryMissing
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
    case .serviceLibraryMissing: "Secret Service cannot be reached without its library"
    case .storage(let error): "Keychain file failed (status: \(error.status))"
    case .enclave: "Secure Enclave refused the operation"
    case .unsorted: "Unexpected Keychain error"
    }
  }

  /// Whether the items, or the list of items, are damaged: trying again does not help.
  public var isDamage: Bool {
    switch self {
    case .invalidData, .decodingFailed: true
    case .storage(let error): error.isDamage
    default: false
    }
  }

  /// The native code, if there is one: for logs and texts.
  public var status: Int32? {
    switch self {
    case .saveFailed(let status), .loadFailed(let status), .deleteFailed(let status),
      .unexpectedError(let status):
      status
    case .storage(let error): error.status
    default: nil
    }
  }
}

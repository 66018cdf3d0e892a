// SPDX-License-Identifier: Apache-2.0

public import Enclaves
public import Keychains

/// Why a private key could not be kept, used or changed. No case carries a fingerprint (AM-16).
public enum CustodyError: Error, Equatable, Sendable {
  /// The coffer is locked.
  case locked
  /// There is no private key of that fingerprint.
  case missing
  /// There is one of that fingerprint already.
  case alreadyExists
  /// An envelope or the manifest is not what was stored.
  case corrupt
  /// No enclave here is of the kind that the key is in, or it refuses; its own answer.
  case enclave(EnclaveError)
  /// The store did not take or give what it should.
  case keychain(KeychainError)
  /// The mode asks for a finger, and none was recognised.
  case fingerRequired
  /// New keys of this mode need the passphrase or PIN.
  case passcodeRequired
  /// There are keys without a backup: going over to high security wants that acknowledged (AM-05).
  case acknowledgementRequired(keysWithoutBackup: Int)
  /// A change was interrupted; it is for ``PrivateKeyCustody/recover()`` to end it first.
  case recoveryPending
  /// As many keys as a coffer holds.
  case tooManyKeys(limit: Int)
  /// An empty or huge private key, or the fingerprint of another version.
  case invalidInput
}

extension CustodyError {
  init(_ error: any Error) {
    self =
      switch error {
      case let error as CustodyError: error
      case EnclaveSealingError.enclave(let error): .enclave(error)
      case is EnclaveSealingError: .corrupt
      case EnclaveError.corrupt: .corrupt
      case let error as EnclaveError: .enclave(error)
      case KeychainError.locked: .locked
      case KeychainError.invalidData: .corrupt
      case let error as KeychainError: .keychain(error)
      default: .keychain(.unexpectedError(0))
      }
  }
}

// SPDX-License-Identifier: Apache-2.0

public import Enclaves
public import Keychains

/// Why a private key could not be kept, used or changed. No case carries a fingerprint (AM-16).
@nonexhaustive
public enum CustodyError: Error, Equatable, Sendable {
  /// The coffer is locked.
  case locked
  /// There is no private key of that fingerprint.
  case missing
  /// There is one of that fingerprint already.
  case alreadyExists
  /// An envelope or the manifest is not what was stored.
  case corrupt
  /// No enclave here is of the kind that the key is in, or the enclave refused, with this error.
  case enclave(EnclaveError)
  /// The store failed to save or load.
  case keychain(KeychainError)
  /// The mode asks for a finger, and none was recognised.
  case fingerRequired
  /// The mode asks for its guard, such as its PIN or a security key, which was not opened.
  case guardRequired
  /// The guard's chip refused, with this error: `.wrongPasscode` for a wrong PIN.
  case guardRefused(EnclaveError)
  /// The guard *PIN* needs a chip that counts wrong PINs.
  case guardNeedsChip
  /// The passphrase or PIN of a slot is needed; neither a finger nor a session is enough.
  case passcodeRequired
  /// There are keys without a backup: going over to high security wants that acknowledged (AM-05).
  case acknowledgementRequired(keysWithoutBackup: Int)
  /// There are keys without a backup, and one security key alone would open them: it wants a second key, or the
  /// backups, and no acknowledgement helps.
  case secondKeyRequired(keysWithoutBackup: Int)
  /// The guard is to be given up, and so many keys that it opens have no backup.
  case backupRequired(keysWithoutBackup: Int)
  /// The guard is to be given up, and the mode has none.
  case guardNotNeeded
  /// A change was interrupted and cannot be ended now; ``PrivateKeyCustody/recover()`` tries again and says why.
  case recoveryPending
  /// The coffer holds its maximum of keys already.
  case tooManyKeys(limit: Int)
  /// An empty or huge private key, or the fingerprint of another version.
  case invalidInput
}

extension CustodyError {
  init(_ error: KeychainError) {
    self =
      switch error {
      case .locked: .locked
      case .enclave(let error): CustodyError(error)
      case _ where error.isDamage: .corrupt
      default: .keychain(error)
      }
  }

  init(_ error: EnclaveError) { self = error == .corrupt ? .corrupt : .enclave(error) }

  init(_ error: EnclaveSealingError) {
    self =
      switch error {
      case .enclave(let error): CustodyError(error)
      case .wrongKey, .tampered: .corrupt
      }
  }
}

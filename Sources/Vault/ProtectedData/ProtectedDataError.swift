// SPDX-License-Identifier: Apache-2.0

public import Enclaves
public import Keychains
public import Storage

/// Why an operation on protected data failed. No case contains a value of the user's.
///
/// *Locked*, *not now* and *damaged* are separate answers: only the two recovery cases say that something is
/// lost, and only an explicit reset replaces lost data.
@nonexhaustive
public enum ProtectedDataError: Error, Equatable, Sendable {
  /// Protected data is locked: unlock first.
  case locked
  /// The authentication that was offered has expired.
  case notAuthorised
  /// A relock failed: nothing opens again in this process (PD-23).
  case restartRequired
  /// Others can read or write the coffer's folder or its database (PD-24).
  case unprotectedFiles
  /// The class key is missing: unlock the coffer first.
  case keychainLocked
  /// The keychain does not answer now, or is locked itself, with this error.
  case keychainUnavailable(KeychainError)
  /// The binding key is in an enclave of a kind that this machine or program does not have.
  case enclaveMissing(EnclaveKind)
  /// The enclave exists but does not answer now.
  case enclave(EnclaveError)
  /// The file cannot be read or written now, or is damaged below the rows.
  case storage(StorageError)
  /// The framework as a whole is damaged (PD-22): recover, or reset it explicitly.
  case frameworkRecovery(FrameworkFault)
  /// This domain is damaged (PD-22): recover, or reset it explicitly.
  case domainRecovery(ProtectedDomain, DomainFault)
  /// This domain was being made or removed when a process ended; the next unlock settles it when no other
  /// process writes.
  case pendingMutation(ProtectedDomain)
  /// The value violates a rule or a limit of its domain.
  case invalidValue(ProtectedDomain)
  /// The settings could not be read, and there is no default for what they decide (PD-17).
  case settingsUnavailable
  /// There is protected data already.
  case alreadyExists
  /// An error that no layer below promises: a bug. The name of its type, never what it says.
  case unsorted(type: String)
}

extension ProtectedDataError {
  /// Sorts errors of file and keychain. Code that reads one item sorts damage first.
  package init(_ error: any Error) {
    switch error {
    case let error as ProtectedDataError: self = error
    case let error as StorageError: self = .storage(error)
    case KeychainError.locked: self = .keychainLocked
    case KeychainError.storage(let error) where error.isDamage: self = .storage(error)
    case KeychainError.enclave(let error): self = .enclave(error)
    case let error as KeychainError where error.isDamage: self = .storage(.corrupt(part: .record))
    case let error as KeychainError: self = .keychainUnavailable(error)
    default: self = .unsorted(type: "\(type(of: error))")
    }
  }

  /// Runs work on file or keychain, and sorts its errors.
  static func sorting<R>(_ body: () throws -> R) throws(ProtectedDataError) -> R {
    do { return try body() } catch { throw ProtectedDataError(error) }
  }
}

/// A fault of the framework as a whole. All of these are permanent.
@nonexhaustive
public enum FrameworkFault: String, Error, Sendable, CaseIterable {
  /// The file has no registry.
  case registryMissing
  /// The registry is accidentally damaged; this shows before unlocking.
  case registryCorrupt
  /// The registry is well-formed, but was not written under this coffer's key.
  case registryTampered
  /// A reset was interrupted between keychain and file: the registry is still the one to be replaced. The
  /// content of the domains is lost already; repeat the reset.
  case resetInterrupted
  /// The registry is an older one than the keychain's ledger says.
  case registryRolledBack
  /// The registry is newer than the keychain's ledger can account for.
  case ledgerBehind
  /// The keychain has no ledger of generations.
  case ledgerMissing
  /// The ledger is not what was stored.
  case ledgerCorrupt
  /// The keychain has no root secret.
  case rootSecretMissing
  /// The root secret is not what was stored, or its envelope does not open under the right key.
  case rootSecretCorrupt
  /// A root secret of the first format, although the second is in use (PD-07).
  case rootSecretDowngraded
  /// The marker of the lowest format and the registry contradict each other.
  case formatFloorInconsistent
  /// The keychain has no binding key.
  case bindingKeyMissing
  /// The binding key is damaged, belongs to another chip, is not the envelope's key, or has the wrong access
  /// control.
  case bindingKeyUnusable
}

/// A fault of one domain. All of these are permanent.
@nonexhaustive
public enum DomainFault: String, Error, Sendable, CaseIterable {
  /// The registry does not list the domain: it was removed, or its creation was abandoned.
  case absent
  /// The registry lists the domain, but its row is gone.
  case missing
  /// The domain's wrapped key does not open.
  case keyCorrupt
  /// The domain's payload does not open under its key.
  case payloadCorrupt
  /// The payload is an older one than the keychain's ledger says.
  case rolledBack
  /// The payload is newer than the keychain's ledger can account for.
  case ledgerBehind
  /// A newer version of the program wrote it.
  case unknownSchema
  /// The payload is authentic, but does not match its schema.
  case malformed
}

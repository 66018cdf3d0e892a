// SPDX-License-Identifier: Apache-2.0

public import Enclaves
public import Keychains
public import Storage

/// Why protected data do not do what was asked. Nothing in here names a value of the user's.
///
/// *Locked*, *not now* and *damaged* are different answers: only the two cases of recovery say that
/// something is lost, and nothing but an explicit reset replaces what is.
@nonexhaustive
public enum ProtectedDataError: Error, Equatable, Sendable {
  /// Protected data are locked: unlock first.
  case locked
  /// The authentication that was offered does not count any more.
  case notAuthorised
  /// A relock was not complete: nothing opens again until the process ends (PD-23).
  case restartRequired
  /// Others can read or write the coffer's folder or its database (PD-24).
  case unprotectedFiles
  /// The class key is not there: unlock the coffer first.
  case keychainLocked
  /// The keychain does not answer now, or is locked itself; what it says.
  case keychainUnavailable(KeychainError)
  /// The binding key is in an enclave of a kind that this machine or program does not have.
  case enclaveMissing(EnclaveKind)
  /// The enclave is there and does not answer now.
  case enclave(EnclaveError)
  /// The file cannot be read or written now, or is damaged below the rows.
  case storage(StorageError)
  /// The framework as a whole is damaged (PD-22): recover, or reset it explicitly.
  case frameworkRecovery(FrameworkFault)
  /// This domain is damaged (PD-22): recover, or reset it explicitly.
  case domainRecovery(ProtectedDomain, DomainFault)
  /// This domain was being made or removed when a process ended; it is settled when nobody else writes.
  case pendingMutation(ProtectedDomain)
  /// What was to be stored breaks a rule or a limit of its domain.
  case invalidValue(ProtectedDomain)
  /// The settings could not be read, and there is no default for what they decide (PD-17).
  case settingsUnavailable
  /// There are protected data already.
  case alreadyExists
  /// An error that no layer below promises: a bug. The name of its type, never what it says.
  case unsorted(type: String)
}

extension ProtectedDataError {
  /// Sorts what file and keychain say; whoever reads one item sorts *damaged* first.
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

  /// Does work on file or keychain, and sorts its errors.
  static func sorting<R>(_ body: () throws -> R) throws(ProtectedDataError) -> R {
    do { return try body() } catch { throw ProtectedDataError(error) }
  }
}

/// What is wrong with the framework as a whole. None of these is a passing condition.
@nonexhaustive
public enum FrameworkFault: String, Error, Sendable, CaseIterable {
  /// The file has no registry.
  case registryMissing
  /// The registry is not the bytes of one: an accident, told before unlocking.
  case registryCorrupt
  /// The registry is well made and not by us.
  case registryTampered
  /// A reset was cut off between keychain and file: the registry is the one that it was to replace. What the
  /// domains held was given up already; only the reset has to be ended.
  case resetInterrupted
  /// The registry is an older one.
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
  /// A root secret of the first format, where the second had been reached (PD-07).
  case rootSecretDowngraded
  /// The marker of the lowest format and the registry contradict each other.
  case formatFloorInconsistent
  /// The keychain has no binding key.
  case bindingKeyMissing
  /// The binding key is damaged, of another chip, another key than the envelope's, or asks for more than it may.
  case bindingKeyUnusable
}

/// What is wrong with one domain. None of these is a passing condition.
@nonexhaustive
public enum DomainFault: String, Error, Sendable, CaseIterable {
  /// The registry does not have it: its making was given up half-way, or its removal finished.
  case absent
  /// The registry has it and its row is gone.
  case missing
  /// The domain's wrapped key does not open.
  case keyCorrupt
  /// The domain's payload does not open under its key.
  case payloadCorrupt
  /// The payload is an older one.
  case rolledBack
  /// The payload is newer than the keychain's ledger can account for.
  case ledgerBehind
  /// Written by a program that knows more.
  case unknownSchema
  /// Authentic, and not what the schema allows.
  case malformed
}

// SPDX-License-Identifier: Apache-2.0

public import Enclaves
public import Keychains
public import Storage

/// Why protected data do not do what was asked. Nothing in here names a value of the user's.
///
/// *Locked*, *not now* and *damaged* are different answers: only the two cases of recovery say that
/// something is lost, and nothing but an explicit reset replaces what is.
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
}

extension ProtectedDataError {
  /// Sorts what file and keychain say; whoever reads one item sorts *damaged* first.
  init(_ error: any Error) {
    switch error {
    case let error as ProtectedDataError: self = error
    case let error as StorageError: self = .storage(error)
    case KeychainError.locked: self = .keychainLocked
    case KeychainError.invalidData, KeychainError.decodingFailed:
      self = .storage(.corrupt(part: .record))
    case let error as KeychainError: self = .keychainUnavailable(error)
    default: self = .storage(.inputOutput(code: 0))
    }
  }

  /// Does work on file or keychain, and sorts its errors.
  static func sorting<R>(_ body: () throws -> R) throws(ProtectedDataError) -> R {
    do { return try body() } catch { throw ProtectedDataError(error) }
  }
}

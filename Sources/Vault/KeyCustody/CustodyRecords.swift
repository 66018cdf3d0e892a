// SPDX-License-Identifier: Apache-2.0

public import ProtectedData

/// The records of custody in the protected data: the journal and the mode (PD-10), and the metadata of the
/// keys (PD-11).
public protocol CustodyRecords: Sendable {
  /// The mode and the journal.
  func control() throws(ProtectedDataError) -> PrivateKeyControl
  /// Changes mode or journal. It is on the disk when this returns.
  func changeControl(_ change: (inout PrivateKeyControl) -> Void) throws(ProtectedDataError)
  /// The metadata of the keys.
  func identities() throws(ProtectedDataError) -> [PGPKeyIdentity]
}

extension ProtectedDomains: CustodyRecords {
  /// Reads the domain of private-key control.
  public func control() throws(ProtectedDataError) -> PrivateKeyControl { try read() }

  /// Changes the domain of private-key control, on the disk when this returns.
  public func changeControl(_ change: (inout PrivateKeyControl) -> Void) throws(ProtectedDataError) {
    do { try update(PrivateKeyControl.self, change) } catch { throw ProtectedDataError(error) }
  }

  /// Reads the identities from the domain of key metadata.
  public func identities() throws(ProtectedDataError) -> [PGPKeyIdentity] {
    try read(KeyMetadata.self).identities
  }
}

extension CustodyRecords {
  /// The change that is under way.
  func journal() throws(ProtectedDataError) -> RecoveryJournal? { try control().recoveryJournal }

  /// Clears the journal, and records the new mode.
  func end(_ mode: AuthenticationMode) throws(ProtectedDataError) {
    try changeControl {
      $0.recoveryJournal = nil
      $0.authMode = mode
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP
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
  /// Changes the metadata of the keys. It is on the disk when this returns.
  func changeIdentities(_ change: (inout [PGPKeyIdentity]) -> Void) throws(ProtectedDataError)
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

  /// Changes the domain of key metadata, on the disk when this returns.
  public func changeIdentities(
    _ change: (inout [PGPKeyIdentity]) -> Void
  ) throws(ProtectedDataError) {
    do { try update(KeyMetadata.self) { change(&$0.identities) } } catch { throw ProtectedDataError(error) }
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

  /// Removes the metadata of the keys of a change that the manifest does not name: of a new key whose change
  /// was not made, and of a deleted one. It asks the journal and guesses nothing: the metadata of a key that was
  /// lost otherwise stays.
  func unlist(_ journal: RecoveryJournal, _ manifest: CustodyManifest) throws(ProtectedDataError) {
    guard journal.kind == .wrap || journal.kind == .delete else { return }
    let gone = journal.fingerprints.filter { manifest.digests[$0] == nil }
    guard !gone.isEmpty else { return }
    try changeIdentities { identities in
      identities.removeAll { gone.contains($0.fingerprint) }
    }
  }
}

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
  func metadata() throws(ProtectedDataError) -> KeyMetadata
  /// Changes the metadata of the keys. It is on the disk when this returns.
  func changeMetadata(_ change: (inout KeyMetadata) -> Void) throws(ProtectedDataError)
}

extension CustodyRecords {
  /// The identities, without what a change has staged.
  public func identities() throws(ProtectedDataError) -> [PGPKeyIdentity] { try metadata().identities }

  /// The keys of which a backup was made.
  func keysWithBackup() throws(ProtectedDataError) -> Set<Fingerprint> {
    Set(try identities().filter { $0.backedUpAt != nil }.map(\.fingerprint))
  }

  /// Changes the identities. They are on the disk when this returns.
  public func changeIdentities(
    _ change: (inout [PGPKeyIdentity]) -> Void
  ) throws(ProtectedDataError) {
    try changeMetadata { change(&$0.identities) }
  }
}

extension ProtectedDomains: CustodyRecords {
  /// Reads the domain of private-key control.
  public func control() throws(ProtectedDataError) -> PrivateKeyControl { try read() }

  /// Changes the domain of private-key control, on the disk when this returns.
  public func changeControl(_ change: (inout PrivateKeyControl) -> Void) throws(ProtectedDataError) {
    do { try update(PrivateKeyControl.self, change) } catch { throw ProtectedDataError(error) }
  }

  /// Reads the domain of key metadata.
  public func metadata() throws(ProtectedDataError) -> KeyMetadata { try read() }

  /// Changes the domain of key metadata, on the disk when this returns.
  public func changeMetadata(_ change: (inout KeyMetadata) -> Void) throws(ProtectedDataError) {
    do { try update(KeyMetadata.self, change) } catch { throw ProtectedDataError(error) }
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

  /// Brings the metadata to where the keys are after a change: what was staged takes its place if the change was
  /// made, and is dropped if not; the metadata of a deleted key is removed. It asks the journal and guesses
  /// nothing: the metadata of a key that was lost otherwise stays.
  func settle(_ journal: RecoveryJournal, _ manifest: CustodyManifest) throws(ProtectedDataError) {
    guard journal.kind != .rewrap else { return }
    let isMade = manifest.generation >= journal.targetGeneration
    let gone = journal.kind == .delete ? journal.fingerprints.filter { manifest.digests[$0] == nil } : []
    let present = try metadata()
    guard !present.staged.isEmpty || present.identities.contains(where: { gone.contains($0.fingerprint) })
    else { return }
    try changeMetadata { metadata in
      metadata.endStaging { isMade && journal.fingerprints.contains($0) }
      metadata.identities.removeAll { gone.contains($0.fingerprint) }
    }
  }
}

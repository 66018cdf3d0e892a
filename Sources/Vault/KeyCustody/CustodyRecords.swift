// SPDX-License-Identifier: Apache-2.0

public import ProtectedData

/// What custody keeps among the protected data: the journal and the mode (PD-10), and what is known of the
/// keys (PD-11).
public protocol CustodyRecords: Sendable {
  func control() throws -> PrivateKeyControl
  /// Changes mode or journal. It is on the disk when this returns.
  func changeControl(_ change: (inout PrivateKeyControl) -> Void) throws
  func identities() throws -> [PGPKeyIdentity]
}

extension ProtectedDomains: CustodyRecords {
  public func control() throws -> PrivateKeyControl { try read() }

  public func changeControl(_ change: (inout PrivateKeyControl) -> Void) throws {
    try update(PrivateKeyControl.self, change)
  }

  public func identities() throws -> [PGPKeyIdentity] { try read(KeyMetadata.self).identities }
}

extension CustodyRecords {
  /// The change that is under way.
  func journal() throws -> RecoveryJournal? { try control().recoveryJournal }

  /// Clears the journal, and notes the mode that counts now.
  func end(_ mode: AuthenticationMode) throws {
    try changeControl {
      $0.recoveryJournal = nil
      $0.authMode = mode
    }
  }
}

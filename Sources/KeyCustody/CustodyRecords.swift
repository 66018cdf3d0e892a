// SPDX-License-Identifier: Apache-2.0

/// A change of private keys that is under way, as the journal has it (AM-06, AM-19).
public struct PendingChange: Equatable, Sendable {
  /// What is being done. The numbers are stored.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// Going over to another mode.
    case rewrap = 1
    case modifyExpiry = 2
    case `import` = 3
    case wrap = 4
  }

  public var kind: Kind
  /// The mode when the change is complete.
  public var mode: AuthenticationMode
  /// The manifest's generation when the change is complete.
  public var generation: UInt64
  /// The keys that get new envelopes.
  public var fingerprints: [KeyFingerprint]

  public init(
    kind: Kind, mode: AuthenticationMode, generation: UInt64, fingerprints: [KeyFingerprint]
  ) {
    self.kind = kind
    self.mode = mode
    self.generation = generation
    self.fingerprints = fingerprints
  }
}

/// What custody keeps among the protected data: the journal, the mode for others to read, and whether keys
/// have a backup.
public protocol CustodyRecords: Sendable {
  func pendingChange() throws -> PendingChange?
  /// Writes the journal. It is on the disk when this returns.
  func begin(_ change: PendingChange) throws
  /// Clears the journal, and notes the mode that counts now.
  func end(_ mode: AuthenticationMode) throws
  /// The keys of which a backup was made.
  func fingerprintsWithBackup() throws -> Set<KeyFingerprint>
}

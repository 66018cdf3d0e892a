// SPDX-License-Identifier: Apache-2.0

/// A change of private keys that is under way, so that it can be finished or undone after a crash (AM-11, AM-19).
public struct RecoveryJournal: Equatable, Sendable {
  /// What is being done. The numbers are stored.
  public enum Kind: UInt8, Sendable, CaseIterable {
    case rewrap = 1
    case modifyExpiry = 2
    case `import` = 3
    case delete = 4
    case wrap = 5
  }

  /// How far it has come. The numbers are stored.
  public enum Phase: UInt8, Sendable, CaseIterable {
    /// New rows are being written; the old ones count.
    case staging = 1
    /// The new rows count; the old ones are being removed.
    case flipped = 2
  }

  public var kind: Kind
  public var phase: Phase
  /// The mode that holds when it is done.
  public var targetMode: PrivateKeyControl.AuthMode
  /// The generation of the rows that are being written.
  public var targetGeneration: UInt64
  /// The keys that are changed: 20 bytes (version 4) or 32 (version 6) each, no key twice.
  public var fingerprints: [[UInt8]]

  public init(
    kind: Kind, phase: Phase, targetMode: PrivateKeyControl.AuthMode, targetGeneration: UInt64,
    fingerprints: [[UInt8]]
  ) {
    self.kind = kind
    self.phase = phase
    self.targetMode = targetMode
    self.targetGeneration = targetGeneration
    self.fingerprints = fingerprints
  }
}

// SPDX-License-Identifier: Apache-2.0

public import OpenPGP

/// The domain with the authentication mode of private keys and the journal of a change to them (PD-10).
public struct PrivateKeyControl: ProtectedPayload {
  /// What each use of a private key asks for. The numbers are stored, and the same in all formats (AM-01,
  /// AM-02).
  public enum AuthMode: UInt8, Sendable, CaseIterable {
    /// Mode *standard*: each use of a key takes the passcode (AM-01).
    case standard = 1
    /// Mode *high security* with the guard *finger*: each use of a key takes a finger and nothing else (AM-02).
    case highSecurityWithFinger = 2
    /// Mode *standard* with fingers switched on: each use of a key takes a finger or the passcode (AM-01).
    case standardWithFinger = 3
    /// Mode *high security* with a guard record: each use of a key takes the passcode and the guard.
    case highSecurityWithGuard = 4
  }

  /// ``ProtectedDomain/privateKeyControl``.
  public static let domain = ProtectedDomain.privateKeyControl
  /// Schema 1.
  public static let schemaVersion: UInt16 = 1
  /// Standard mode, without a journal.
  public static let initial = PrivateKeyControl(authMode: .standard)

  /// The mode that holds for all private keys.
  public var authMode: AuthMode
  /// The change that is under way; nil if there is none.
  public var recoveryJournal: RecoveryJournal?

  /// A control with this mode; by default nothing is under way. Writing it checks the rules.
  public init(authMode: AuthMode, recoveryJournal: RecoveryJournal? = nil) {
    self.authMode = authMode
    self.recoveryJournal = recoveryJournal
  }

  // MARK: Bytes

  /// Checks mode and journal, and that no fingerprint occurs twice.
  public static func check(_ bytes: RawSpan) throws(MalformedPayload) { _ = try fields(bytes) }

  /// Reads mode and journal.
  public init(_ bytes: RawSpan) throws(MalformedPayload) {
    let (control, fingerprints) = try Self.fields(bytes)
    self = control
    recoveryJournal?.fingerprints = fingerprints.map { bytes.fingerprint($0) }
  }

  /// Everything but the fingerprints, and their ranges.
  private static func fields(
    _ bytes: RawSpan
  ) throws(MalformedPayload) -> (PrivateKeyControl, fingerprints: [Range<Int>]) {
    var cursor = PayloadCursor()
    var control = PrivateKeyControl(authMode: try cursor.one(bytes))
    var fingerprints: [Range<Int>] = []
    if try cursor.flag(bytes) {
      control.recoveryJournal = RecoveryJournal(
        kind: try cursor.one(bytes), phase: try cursor.one(bytes), targetMode: try cursor.one(bytes),
        targetGeneration: try cursor.uint64(bytes), fingerprints: [])
      for _ in 0..<(try cursor.count(bytes, limit: KeyMetadata.countLimit)) {
        let byteCount = try cursor.fingerprintByteCount(bytes)
        fingerprints.append(try cursor.range(bytes, count: byteCount))
      }
    }
    try cursor.finish(bytes)
    guard bytes.areDistinct(fingerprints) else { throw MalformedPayload() }
    return (control, fingerprints)
  }

  /// Writes the mode, then the journal if there is one.
  public func write(to writer: inout PayloadWriter) {
    writer.append(authMode.rawValue)
    writer.append(recoveryJournal != nil)
    guard let journal = recoveryJournal else { return }
    writer.append(journal.kind.rawValue)
    writer.append(journal.phase.rawValue)
    writer.append(journal.targetMode.rawValue)
    writer.append(bigEndian: journal.targetGeneration)
    writer.append(bigEndian: UInt16(clamping: journal.fingerprints.count))
    for fingerprint in journal.fingerprints {
      guard Fingerprint(bytes: fingerprint.bytes) == fingerprint else { return writer.refuse() }
      writer.append(fingerprint.version)
      writer.append(fingerprint.bytes)
    }
  }
}

/// A change of private keys that is under way, so that it can be finished or undone after a crash (AM-11, AM-19).
public struct RecoveryJournal: Equatable, Sendable {
  /// The kind of the change. The numbers are stored.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// All keys are wrapped for another mode.
    case rewrap = 1
    /// A key gets another expiry date.
    case modifyExpiry = 2
    /// Keys are added.
    case `import` = 3
    /// Keys are removed.
    case delete = 4
    /// A new key is wrapped.
    case wrap = 5
  }

  /// The progress of the change. The numbers are stored.
  public enum Phase: UInt8, Sendable, CaseIterable {
    /// New rows are being written; the old ones count.
    case staging = 1
    /// The new rows count; the old ones are being removed.
    case flipped = 2
  }

  /// The kind of the change.
  public var kind: Kind
  /// The progress of the change.
  public var phase: Phase
  /// The mode that holds when it is done.
  public var targetMode: PrivateKeyControl.AuthMode
  /// The generation of the rows that are being written.
  public var targetGeneration: UInt64
  /// The keys that are changed, of version 4 or 6; no key twice.
  public var fingerprints: [Fingerprint]

  /// A journal with these values. Writing its control checks the rules.
  public init(
    kind: Kind, phase: Phase, targetMode: PrivateKeyControl.AuthMode, targetGeneration: UInt64,
    fingerprints: [Fingerprint]
  ) {
    self.kind = kind
    self.phase = phase
    self.targetMode = targetMode
    self.targetGeneration = targetGeneration
    self.fingerprints = fingerprints
  }
}

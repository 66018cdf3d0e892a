// SPDX-License-Identifier: Apache-2.0

/// The domain that says how private keys are authorised, and what is being done to them (PD-10).
public struct PrivateKeyControl: ProtectedPayload {
  /// The numbers are stored, and the same wherever a mode is (AM-01, AM-02).
  public enum AuthMode: UInt8, Sendable, CaseIterable {
    case standard = 1
    case highSecurity = 2
  }

  public static let domain = ProtectedDomain.privateKeyControl
  public static let schemaVersion: UInt16 = 1
  public static let initial = PrivateKeyControl(authMode: .standard)

  public var authMode: AuthMode
  /// Nil when nothing is under way.
  public var recoveryJournal: RecoveryJournal?

  public init(authMode: AuthMode, recoveryJournal: RecoveryJournal? = nil) {
    self.authMode = authMode
    self.recoveryJournal = recoveryJournal
  }

  // MARK: Bytes

  public static func check(_ bytes: RawSpan) throws(MalformedPayload) { _ = try fields(bytes) }

  public init(_ bytes: RawSpan) throws(MalformedPayload) {
    let (control, fingerprints) = try Self.fields(bytes)
    self = control
    recoveryJournal?.fingerprints = fingerprints.map { bytes.array($0) }
  }

  /// All but the fingerprints, and where those are.
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
        let version = try cursor.one(bytes, of: PGPKeyIdentity.KeyVersion.self)
        fingerprints.append(try cursor.range(bytes, count: version.fingerprintByteCount))
      }
    }
    try cursor.finish(bytes)
    guard bytes.areDistinct(fingerprints) else { throw MalformedPayload() }
    return (control, fingerprints)
  }

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
      guard let version = PGPKeyIdentity.KeyVersion(fingerprintByteCount: fingerprint.count) else {
        return writer.refuse()
      }
      writer.append(version.rawValue)
      writer.append(fingerprint)
    }
  }
}

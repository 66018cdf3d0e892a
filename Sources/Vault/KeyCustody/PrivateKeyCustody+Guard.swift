// SPDX-License-Identifier: Apache-2.0
//
// The guard of high security: made and used once before anything depends on it, then opened once for a command.

public import Enclaves
public import Keychains
public import ProtectedData
public import Secrets
internal import SecurityKeys

/// A guard that was made and used once. ``PrivateKeyCustody/switchMode(to:_:guard:leaving:acknowledgesMissingBackup:)``
/// writes it in one batch with everything that depends on it.
public struct NewGuard: Sendable {
  let record: GuardRecord
  let open: OpenGuard
  let opening: Opening

  /// What opens the record again when it was read back.
  enum Opening: Sendable {
    case pin(SharedSecretBytes)
    /// All of them.
    case securityKeys([(SecurityKeyCredential, SharedSecretBytes)])
  }

  /// Opens a record by all that this guard opens with.
  /// - Throws: ``CustodyError``.
  func open(
    _ record: GuardRecord, _ enclaveOfKind: (EnclaveKind) -> (any Enclave)?
  ) throws(CustodyError) -> [OpenGuard] {
    switch opening {
    case .pin(let pin): [try record.open(pin: pin, enclaveOfKind: enclaveOfKind)]
    case .securityKeys(let secrets): try record.openAll(secrets)
    }
  }

  /// Whether the loss of one thing closes all keys for good.
  var hangsOnOneKey: Bool {
    if case .securityKeys(let secrets) = opening { secrets.count == 1 } else { false }
  }
}

extension PrivateKeyCustody {
  /// The mode of all keys of a coffer, without opening its protected data.
  /// - Throws: `CustodyError.locked`, `.corrupt`, `.keychain`.
  public static func mode(_ keychain: KeychainService) throws(CustodyError) -> AuthenticationMode {
    try CustodyItems(keychain).manifest.mode
  }

  /// The ways that open the guard; empty without a guard record.
  public func guardWays() throws(CustodyError) -> [GuardWay] {
    let items = try CustodyItems(keychain)
    return items.manifest.guardDigest == nil ? [] : try items.guardRecord().ways.map(\.kind)
  }

  /// Whether the guard's chip takes a PIN now; a guard without one is not examined.
  /// - Throws: `CustodyError.guardRefused`, such as with `.lockedOut` or `.otherChip`; `.corrupt`.
  public func checkGuard() throws(CustodyError) {
    for way in try CustodyItems(keychain).guardRecord().pinWays {
      guard let chip = enclaveOfKind(way.key.kind) else { throw .guardRefused(.unavailable) }
      do { try chip.checkReadiness(of: way.key) } catch { throw .guardRefused(error) }
    }
  }

  /// Opens the guard with its PIN.
  /// - Throws: `CustodyError.guardRefused`, with `.wrongPasscode` for a wrong PIN, which the chip has counted;
  ///   `.corrupt` when the record is not what was stored, or the mode has none.
  public func openGuard(pin: SharedSecretBytes) throws(CustodyError) -> OpenGuard {
    try CustodyItems(keychain).guardRecord().open(pin: pin, enclaveOfKind: enclaveOfKind)
  }

  /// Makes a guard that a PIN opens, and opens it once. Nothing is written.
  ///
  /// - Parameters:
  ///   - pin: 6 to 64 characters, as `PINPolicy` judges.
  ///   - chip: counts wrong PINs.
  /// - Throws: `PINPolicy.Problem`; `CustodyError.guardNeedsChip`, `.guardRefused`.
  public func newGuard(pin: SharedSecretBytes, in chip: any Enclave) throws -> NewGuard {
    if let problem = pin.withBytes({ PINPolicy.problem(with: $0) }) { throw problem }
    let record = try GuardRecord.make(pin: pin, in: chip)
    let open = try record.open(pin: pin) { $0 == chip.kind ? chip : nil }
    return NewGuard(record: record, open: open, opening: .pin(pin))
  }
}

extension CustodyItems {
  /// The guard that new envelopes of a mode are sealed to; nil for a mode without a guard record.
  /// - Throws: `CustodyError.guardRequired` when it was not opened; `.corrupt`.
  func openGuard(
    for mode: AuthenticationMode, _ authorization: CustodyAuthorization, _ newGuard: NewGuard?
  ) throws(CustodyError) -> OpenGuard? {
    guard mode == .highSecurityWithGuard else { return nil }
    if let newGuard { return newGuard.open }
    guard let open = authorization.openGuard, open.digest == (try guardRecord().digest()) else {
      throw .guardRequired
    }
    return open
  }
}

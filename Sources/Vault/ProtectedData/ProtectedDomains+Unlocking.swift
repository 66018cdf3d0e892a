// SPDX-License-Identifier: Apache-2.0
//
// Opens all domains in one pass, with one fetch of the root secret (PD-09). Before they are used, it repairs
// the ledger after a crash, converts to the second formats, and settles pending changes.

internal import Keychains
internal import Secrets
internal import Storage
public import UserAuthentication

extension ProtectedDomains {
  /// Opens every domain that can be opened, after an authentication just now.
  ///
  /// If the authentication has expired, or no domain can be opened, it returns at once: nothing is fetched,
  /// and nobody is asked. A damaged domain does not keep the others from opening.
  /// - Throws: framework recovery, and then nothing is open and nothing was changed; errors that may pass:
  ///   `.keychainLocked`, `.keychainUnavailable`, `.enclaveMissing`, `.enclave`, `.storage`.
  public func unlock(_ gate: borrowing AuthenticatedContext) throws(ProtectedDataError) -> UnlockReport {
    try unlock(isAuthorised: gate.isValid)
  }

  /// Opens every domain that can be opened, as part of a session whose owner was authenticated.
  public func unlock(_ session: SessionAuthorization) throws(ProtectedDataError) -> UnlockReport {
    try unlock(isAuthorised: session.isValid)
  }

  private func unlock(isAuthorised: Bool) throws(ProtectedDataError) -> UnlockReport {
    do throws(ProtectedDataError) {
      return try withCore { core throws(ProtectedDataError) in
        guard isAuthorised else { return UnlockReport(outcome: .notAuthorised, domains: [:]) }
        if let session = core.session {
          return UnlockReport(outcome: .alreadyOpen, domains: session.domains)
        }
        try Self.checkProtection(file)
        let registry = try Self.registry(StoredImage.read(file, []))
        guard !registry.domains(.ready).isEmpty else {
          return UnlockReport(outcome: .nothingToOpen, domains: registry.statesWithoutKey)
        }
        let session = try openSession(registry)
        core.fault = nil
        core.session = session
        return UnlockReport(outcome: .opened, domains: session.domains)
      }
    } catch { throw Self.logged(error, "unlock") }
  }

  private func openSession(_ registry: Registry) throws(ProtectedDataError) -> Session {
    let root = try RootSecret.fetch(keychain, registryFloor: registry.formatFloor, enclaves)
    var found = try examine(root.keys, ProtectedDomain.allCases)
    let mustWrite = root.first != nil || found.registry.formatFloor < RootSecret.floor || found.hasOldSettings
    if mustWrite || found.hasPending {
      do throws(ProtectedDataError) {
        found = try examineAsWriter(root.keys, ProtectedDomain.allCases)
        if let first = root.first { try upgradeRoot(first) }
        try raiseFloor(&found, root.keys)
        try upgradeSettings(&found, root.keys)
        try settlePending(&found, root.keys)
      } catch {
        // Pending changes may wait for the process that writes now.
        guard !mustWrite, error == .storage(.inUse) else { throw error }
      }
    }
    return Session(keys: root.keys, found)
  }

  // MARK: Looking

  /// Checks what is stored, and repairs a ledger that is one behind. Other processes may write meanwhile.
  func examine(
    _ keys: RootKeys, _ domains: [ProtectedDomain]
  ) throws(ProtectedDataError) -> Examination {
    if let found = try settled(keys, domains) { return found }
    do throws(ProtectedDataError) { return try examineAsWriter(keys, domains) } catch {
      guard error == .storage(.inUse) else { throw error }
      // The other writer was perhaps between file and ledger, and has finished now.
      guard let found = try settled(keys, domains) else { throw error }
      return found
    }
  }

  /// Checks what is stored; nil if something is ahead of the ledger.
  private func settled(
    _ keys: RootKeys, _ domains: [ProtectedDomain]
  ) throws(ProtectedDataError) -> Examination? {
    do throws(ProtectedDataError) {
      let found = try Examination(file, keychain, keys, domains)
      return found.isSettled ? found : nil
    } catch {
      guard error == .frameworkRecovery(.ledgerBehind) else { throw error }
      return nil
    }
  }

  /// Checks what is stored, as the only writer, and repairs a ledger that is one behind.
  func examineAsWriter(
    _ keys: RootKeys, _ domains: [ProtectedDomain]
  ) throws(ProtectedDataError) -> Examination {
    try ProtectedDataError.sorting { try file.claimWriting() }
    var found = try Examination(file, keychain, keys, domains)
    if found.isAhead {
      found.ledger = found.healedLedger
      try found.ledger.save(keychain)
    }
    return found
  }

  // MARK: Writing

  /// Makes one change: the file first, in one transaction, then the ledger.
  func commit(
    _ found: inout Examination, _ keys: RootKeys, registry: Registry? = nil,
    rows: [ProtectedDomain: StoredChange.RowChange] = [:],
    generations: [ProtectedDomain: UInt64] = [:]
  ) throws(ProtectedDataError) {
    var change = StoredChange(former: found.image, rows: rows)
    if var registry {
      registry.revision += 1
      change.record = registry.record(keys)
      found.registry = registry
    }
    try change.apply(to: file)
    if let record = change.record { found.image.record = record }
    for (domain, change) in rows {
      switch change {
      case .write(let row): found.image.rows[domain] = row
      case .delete: found.image.rows[domain] = nil
      }
    }
    found.ledger.revision = found.registry.revision
    found.ledger.generations.merge(generations) { $1 }
    try found.ledger.save(keychain)
  }

  /// Converts a root secret of the first format to the second (PD-07). Envelope and marker appear together.
  private func upgradeRoot(_ first: SharedSecretBytes) throws(ProtectedDataError) {
    let now = try keychain.protectedItem(RootSecret.account, damaged: .rootSecretCorrupt)
    // Another process may have done this before we got the writer's lock.
    guard now?.count == RootSecret.byteCount else { throw .storage(.inUse) }
    let binding = try BindingKey.loadOrCreate(keychain, enclaves, bindingKind)
    let envelope = try first.withBytes { root throws(ProtectedDataError) in
      try RootSecret.seal(root, to: binding)
    }
    try ProtectedDataError.sorting { try keychain.apply(RootSecret.items(envelope, binding)) }
    try emptyLog()
  }

  private func raiseFloor(_ found: inout Examination, _ keys: RootKeys) throws(ProtectedDataError) {
    guard found.registry.formatFloor < RootSecret.floor else { return }
    var registry = found.registry
    registry.formatFloor = RootSecret.floor
    try commit(&found, keys, registry: registry)
  }

  /// Writes settings of an older schema as those of the present one (PD-12).
  private func upgradeSettings(_ found: inout Examination, _ keys: RootKeys) throws(ProtectedDataError) {
    guard found.hasOldSettings else { return }
    let opened = try found.opened(.protectedSettings)
    let settings: ProtectedSettings
    do throws(MalformedPayload) {
      settings = try opened.payload.withBytes { bytes throws(MalformedPayload) in
        try ProtectedSettings.upgrading(bytes, from: opened.record.schemaVersion)
      }
    } catch { throw .domainRecovery(.protectedSettings, .malformed) }
    try write(settings, over: opened, &found, keys)
  }

  /// Abandons pending creations and finishes pending removals, as the registry lists them.
  private func settlePending(_ found: inout Examination, _ keys: RootKeys) throws(ProtectedDataError) {
    guard found.hasPending else { return }
    var registry = found.registry
    var rows: [ProtectedDomain: StoredChange.RowChange] = [:]
    for domain in found.registry.domains(.pendingCreate) + found.registry.domains(.pendingDelete) {
      registry.entries[domain] = nil
      rows[domain] = .delete
      found.findings[domain] = .fault(.absent)
    }
    try commit(&found, keys, registry: registry, rows: rows)
    try emptyLog()
  }

  /// Erases deleted data from the log; a reader of another process may prevent that.
  func emptyLog() throws(ProtectedDataError) {
    _ = try ProtectedDataError.sorting { try file.truncateLog() }
  }
}

extension Registry {
  /// The states of domains that are not ready, which are known without the root secret.
  fileprivate var statesWithoutKey: [ProtectedDomain: DomainState] {
    var states: [ProtectedDomain: DomainState] = [:]
    for domain in ProtectedDomain.allCases where entries[domain] != .ready {
      states[domain] = entries[domain] == nil ? .recovery(.absent) : .pendingMutation
    }
    return states
  }
}

extension Examination {
  fileprivate var hasPending: Bool {
    !registry.domains(.pendingCreate).isEmpty || !registry.domains(.pendingDelete).isEmpty
  }

  fileprivate var hasOldSettings: Bool {
    guard case .open(let opened) = findings[.protectedSettings] else { return false }
    return ProtectedSettings.upgradedSchemaVersions.contains(opened.record.schemaVersion)
  }
}

/// The result of unlocking.
public struct UnlockReport: Equatable, Sendable {
  /// How unlocking ended, other than by an error.
  public enum Outcome: Equatable, Sendable {
    /// The root secret was fetched once, and every domain that can be opened is.
    case opened
    /// Protected data was open before; nothing was fetched.
    case alreadyOpen
    /// The authentication had expired; nothing was fetched (PD-09).
    case notAuthorised
    /// No domain can be opened; nothing was fetched (PD-09).
    case nothingToOpen
  }

  /// How unlocking ended.
  public var outcome: Outcome
  /// Every domain; empty without a valid authentication.
  public var domains: [ProtectedDomain: DomainState]
}

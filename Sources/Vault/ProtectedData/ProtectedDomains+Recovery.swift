// SPDX-License-Identifier: Apache-2.0
//
// Diagnosis, and the two resets (PD-22). None of this happens automatically.

public import Enclaves
public import Keychains
internal import Logging
internal import Secrets
internal import Storage
public import UserAuthentication

extension ProtectedDomains {
  /// The known faults, and the steps that help.
  public func recoveryState() -> RecoveryReport {
    var report = RecoveryReport(state: state, domains: domains, steps: [])
    switch report.state {
    case .restartRequired: report.steps = [.restart]
    case .frameworkRecovery: report.steps = [.resetFramework]
    case .locked: report.steps = [.unlock]
    case .unlocked:
      for domain in ProtectedDomain.allCases {
        if case .recovery = report.domains[domain] { report.steps.append(.resetDomain(domain)) }
      }
    }
    if let isPrivate = try? file.isPrivate(), !isPrivate { report.steps.insert(.protectFiles, at: 0) }
    return report
  }

  /// Deletes a domain in any state, and makes it again under a new key. Its content is lost.
  ///
  /// If the process ends before this returns, the domain is absent and in recovery; it never looks like an
  /// empty one.
  /// - Throws: `.locked`, `.frameworkRecovery`: the framework must be open; `.storage`, `.keychainUnavailable`.
  public func resetDomain(_ domain: ProtectedDomain) throws(ProtectedDataError) {
    do throws(ProtectedDataError) {
      try withCore { core throws(ProtectedDataError) in
        var session = try Self.session(core)
        var found = try examineAsWriter(session.keys, [domain])
        try remove(domain, &found, session.keys)
        try make(domain, &found, session.keys)
        session.note(try examineAsWriter(session.keys, [domain]))
        core.session = session
      }
    } catch { throw Self.logged(error, "reset of a domain") }
    Self.log.notice("a domain was reset")
  }

  private func remove(
    _ domain: ProtectedDomain, _ found: inout Examination, _ keys: RootKeys
  ) throws(ProtectedDataError) {
    guard found.registry.entries[domain] != nil else { return }
    var registry = found.registry
    registry.entries[domain] = .pendingDelete
    // The payload may be authentic and newer than the ledger: its number must not be used a second time.
    var last = found.ledger.generations[domain] ?? 0
    if let row = found.image.rows[domain], let opened = try? Finding.open(domain, row, keys) {
      last = max(last, opened.record.generation)
    }
    try commit(&found, keys, registry: registry, generations: [domain: last])
    registry = found.registry
    registry.entries[domain] = nil
    try commit(&found, keys, registry: registry, rows: [domain: .delete])
    try emptyLog()
  }

  private func make(
    _ domain: ProtectedDomain, _ found: inout Examination, _ keys: RootKeys
  ) throws(ProtectedDataError) {
    var registry = found.registry
    registry.entries[domain] = .pendingCreate
    try commit(&found, keys, registry: registry)
    registry = found.registry
    registry.entries[domain] = .ready
    let generation = (found.ledger.generations[domain] ?? 0) + 1
    let row = try Self.newRow(domain, generation: generation, keys)
    try commit(
      &found, keys, registry: registry, rows: [domain: .write(row)], generations: [domain: generation])
  }

  /// Deletes all domains and makes them again, under a new root secret and a new binding key in `enclave`.
  /// Their content is lost. Afterwards protected data is locked.
  /// - Throws: `.notAuthorised`; `.keychainLocked`, `.enclave`, `.storage` and others, before anything was changed;
  ///   if interrupted, the framework is still in recovery.
  public func resetFramework(
    _ session: SessionAuthorization, in enclave: any Enclave
  ) throws(ProtectedDataError) {
    try resetFramework(isAuthorised: session.isValid, enclave)
  }

  /// The same, with the proof of an authentication just now.
  public func resetFramework(
    _ gate: borrowing AuthenticatedContext, in enclave: any Enclave
  ) throws(ProtectedDataError) {
    try resetFramework(isAuthorised: gate.isValid, enclave)
  }

  private func resetFramework(
    isAuthorised: Bool, _ enclave: any Enclave
  ) throws(ProtectedDataError) {
    do throws(ProtectedDataError) {
      guard isAuthorised else { throw .notAuthorised }
      if state == .unlocked { try relock() }
      try withCore { core throws(ProtectedDataError) in
        try Self.checkProtection(file)
        let former = try? RootSecret.binding(keychain, enclaves)
        try Self.install(file, keychain, enclave, replacing: StoredImage.read(file, []).record)
        core.fault = nil
        // The enclave may keep part of a key, although its handle is gone.
        if let former { try? former.enclave.deleteKey(former.key) }
        try emptyLog()
      }
    } catch { throw Self.logged(error, "reset of the framework") }
    Self.log.notice("the framework was reset")
  }
}

extension ProtectedDomains {
  /// The same of a keychain, without asking this machine; nil when the key is gone, or is not one.
  /// - Throws: `.keychainLocked`, `.keychainUnavailable`.
  public static func enclaveKind(
    _ keychain: KeychainService
  ) throws(ProtectedDataError) -> EnclaveKind? {
    do throws(ProtectedDataError) {
      return try keychain.protectedItem(BindingKey.account, damaged: .bindingKeyUnusable)?
        .withBytes { EnclaveKind(handle: $0) }
    } catch .frameworkRecovery { return nil }
  }

  /// The kind of enclave that holds the binding key, and so the root secret. Known while locked.
  /// - Throws: `.frameworkRecovery` when the key is gone; `.keychainLocked`.
  public func enclaveKind() throws(ProtectedDataError) -> EnclaveKind {
    try RootSecret.binding(keychain, enclaves).enclave.kind
  }
}

/// The faults of protected data, and the steps that help.
public struct RecoveryReport: Equatable, Sendable {
  /// One thing to do. None of them happens automatically.
  public enum Step: Equatable, Sendable {
    /// No fault is known; unlock to check the rest.
    case unlock
    /// End this process and start again.
    case restart
    /// Make folder and database accessible to their owner alone.
    case protectFiles
    /// Delete the domain and make it again; its content is lost.
    case resetDomain(ProtectedDomain)
    /// Delete all domains and make them again, under a new root secret and a new binding key; their content
    /// is lost.
    case resetFramework
  }

  /// The state of the framework as a whole.
  public var state: ProtectedState
  /// Every domain, while unlocked; empty otherwise.
  public var domains: [ProtectedDomain: DomainState]
  /// In this order; empty when nothing is wrong.
  public var steps: [Step]
}

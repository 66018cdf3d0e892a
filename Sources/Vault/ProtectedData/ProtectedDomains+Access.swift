// SPDX-License-Identifier: Apache-2.0
//
// Reads and changes the content of a domain. Every call reads and opens the stored row again: no payload and
// no domain key is kept between two calls, and changes of other processes are seen at once.

internal import Secrets

extension ProtectedDomains {
  /// The present content of a domain. Do not keep it: after a relock no copy may be left.
  /// - Throws: `.locked`, `.domainRecovery`, `.pendingMutation`, `.frameworkRecovery`, `.storage`.
  public func read<Payload: ProtectedPayload>(
    _ type: Payload.Type = Payload.self
  ) throws(ProtectedDataError) -> Payload {
    try withCore { core throws(ProtectedDataError) in
      var session = try Self.session(core)
      let found = try look(Payload.domain, session)
      session.note(Payload.domain, found)
      core.session = session
      switch found {
      case .open(let opened): return try Self.decode(opened)
      case .pending: throw .pendingMutation(Payload.domain)
      case .fault(let fault): throw .domainRecovery(Payload.domain, fault)
      }
    }
  }

  /// Changes the content of a domain. When this returns, the change is on the disk; if `body` throws, or does
  /// not change the value, nothing is written.
  ///
  /// `body` MUST NOT call protected data back.
  /// - Throws: what ``read(_:)`` throws; `.invalidValue`; `.storage(.inUse)` while another process writes;
  ///   `.keychainUnavailable` also when the change is on the disk but not in the ledger, which the next
  ///   access updates; and what `body` throws.
  public func update<Payload: ProtectedPayload, Result>(
    _ type: Payload.Type = Payload.self, _ body: (inout Payload) throws -> Result
  ) throws -> Result {
    let outcome = try withCore { core throws(ProtectedDataError) -> Swift.Result<Result, any Error> in
      var session = try Self.session(core)
      var found = try examineAsWriter(session.keys, [Payload.domain])
      session.note(found)
      core.session = session
      let opened = try found.opened(Payload.domain)
      let former: Payload = try Self.decode(opened)
      var value = former
      let result: Result
      do { result = try body(&value) } catch { return .failure(error) }
      if value != former {
        try write(value, over: opened, &found, session.keys)
        session.note(found)
        core.session = session
      }
      return .success(result)
    }
    return try outcome.get()
  }

  /// Opens one domain. If this session has opened it before, no older state is accepted; otherwise the ledger
  /// is read.
  private func look(
    _ domain: ProtectedDomain, _ session: Session
  ) throws(ProtectedDataError) -> Finding {
    guard let known = session.generations[domain], session.domains[domain] == .open else {
      return try examine(session.keys, [domain]).findings[domain] ?? .fault(.absent)
    }
    let image = try StoredImage.read(file, [domain])
    let registry = try Self.registry(image)
    guard let record = image.record, Registry.isAuthentic(record, session.keys) else {
      throw .frameworkRecovery(.registryTampered)
    }
    guard registry.revision >= session.revision else { throw .frameworkRecovery(.registryRolledBack) }
    return Finding(domain, image.rows[domain], registry.entries[domain], session.keys) { found in
      found < known ? .rolledBack : .current
    }
  }

  private static func decode<Payload: ProtectedPayload>(
    _ opened: Finding.Opened
  ) throws(ProtectedDataError) -> Payload {
    guard opened.record.schemaVersion == Payload.schemaVersion else {
      throw .domainRecovery(Payload.domain, .unknownSchema)
    }
    do throws(MalformedPayload) {
      return try opened.payload.withBytes { bytes throws(MalformedPayload) in try Payload(bytes) }
    } catch { throw .domainRecovery(Payload.domain, .malformed) }
  }

  /// Writes a payload of the next generation.
  func write<Payload: ProtectedPayload>(
    _ value: Payload, over former: Finding.Opened, _ found: inout Examination, _ keys: RootKeys
  ) throws(ProtectedDataError) {
    let domain = Payload.domain
    guard let payload = value.encoded(), var row = found.image.rows[domain] else {
      throw .invalidValue(domain)
    }
    let record = DomainRecord(
      domain: domain, schemaVersion: Payload.schemaVersion, generation: former.record.generation + 1)
    row.payload = record.seal(payload, under: former.key)
    try commit(
      &found, keys, rows: [domain: .write(row)], generations: [domain: record.generation])
    found.findings[domain] = .open(
      Finding.Opened(key: former.key, record: record, payload: SharedSecretBytes(payload)))
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Reading and changing what a domain holds. Every call reads what is stored and opens it again: no payload and no
// domain key is kept between two calls, and another process's change is seen at once.

internal import Secrets

extension ProtectedDomains {
  /// What a domain holds now. Keep it no longer than a call takes: after a relock nothing of it is to be left.
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

  /// Changes what a domain holds. When this returns, the change is on the disk; when `body` throws, or leaves the
  /// value as it was, nothing is written.
  ///
  /// `body` MUST NOT call protected data back.
  /// - Throws: what ``read(_:)`` throws; `.invalidValue`; `.storage(.inUse)` while another process writes;
  ///   `.keychainUnavailable` also when the change is on the disk and could not be entered into the ledger: the
  ///   next access does that. What `body` throws.
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

  /// Opens one domain. Where this session has had it open, nothing older than that is taken; else the ledger is
  /// asked again.
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

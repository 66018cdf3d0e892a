// SPDX-License-Identifier: Apache-2.0
//
// The domains that a coffer takes along to another machine. Their content leaves the enclave's protection here: the
// caller seals it in another way.

public import Secrets

/// The content of a domain, as it is sealed.
public struct DomainContent: Sendable {
  /// The domain.
  public let domain: ProtectedDomain
  /// The version of the payload's schema.
  public let schemaVersion: UInt16
  /// The payload.
  public let payload: SharedSecretBytes

  /// A content that was taken along.
  public init(domain: ProtectedDomain, schemaVersion: UInt16, payload: SharedSecretBytes) {
    self.domain = domain
    self.schemaVersion = schemaVersion
    self.payload = payload
  }
}

extension ProtectedDomains {
  /// The domains that are taken along. The others are about this machine's enclave alone.
  public static let movable: [ProtectedDomain] = [.keyMetadata, .protectedSettings, .contacts]

  /// The content of the domains that are taken along, at one moment.
  /// - Throws: `.locked`, `.domainRecovery`, `.pendingMutation`, `.frameworkRecovery`, `.storage`.
  public func movableContents() throws(ProtectedDataError) -> [DomainContent] {
    try withCore { core throws(ProtectedDataError) in
      var session = try Self.session(core)
      let found = try examine(session.keys, Self.movable)
      session.note(found)
      core.session = session
      var contents: [DomainContent] = []
      for domain in Self.movable {
        let opened = try found.opened(domain)
        contents.append(
          DomainContent(
            domain: domain, schemaVersion: opened.record.schemaVersion, payload: opened.payload))
      }
      return contents
    }
  }

  /// Replaces the content of domains by what was taken along.
  /// - Throws: `.domainRecovery` for a content that this version does not read, before anything is written; and what
  ///   ``movableContents()`` throws.
  public func replaceContents(_ contents: [DomainContent]) throws(ProtectedDataError) {
    for content in contents { try Self.check(content) }
    try withCore { core throws(ProtectedDataError) in
      var session = try Self.session(core)
      var found = try examineAsWriter(session.keys, contents.map(\.domain))
      for content in contents {
        let former = try found.opened(content.domain)
        let record = DomainRecord(
          domain: content.domain, schemaVersion: content.schemaVersion,
          generation: former.record.generation + 1)
        guard var row = found.image.rows[content.domain] else {
          throw .domainRecovery(content.domain, .missing)
        }
        row.payload = content.payload.withBytes { payload in
          record.seal(SecretBytes(copying: payload), under: former.key)
        }
        try commit(
          &found, session.keys, rows: [content.domain: .write(row)],
          generations: [content.domain: record.generation])
        found.findings[content.domain] = .open(
          Finding.Opened(key: former.key, record: record, payload: content.payload))
      }
      session.note(found)
      core.session = session
    }
  }

  private static func check(_ content: DomainContent) throws(ProtectedDataError) {
    let type = content.domain.payload
    guard movable.contains(content.domain), content.schemaVersion == type.schemaVersion else {
      throw .domainRecovery(content.domain, .unknownSchema)
    }
    do throws(MalformedPayload) {
      try content.payload.withBytes { bytes throws(MalformedPayload) in try type.check(bytes) }
    } catch { throw .domainRecovery(content.domain, .malformed) }
  }

  /// The keychain items that only this machine's enclave gives a meaning.
  public static let accountsOfThisMachine = [
    RootSecret.account, RootSecret.floorAccount, BindingKey.account, GenerationLedger.account,
    ResetMark.account,
  ]
}

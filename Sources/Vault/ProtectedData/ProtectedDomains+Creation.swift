// SPDX-License-Identifier: Apache-2.0
//
// Makes new protected data: with a new coffer, and when the framework is reset.

public import Enclaves
public import Keychains
internal import Primitives
internal import Secrets
public import Storage

extension ProtectedDomains {
  /// Makes the protected data of a new coffer: a root secret, a binding key in `enclave`, and all domains
  /// with their initial content.
  /// - Throws: `.alreadyExists`; `.unprotectedFiles`; `.keychainLocked`; `.enclave`.
  public static func create(
    file: DatabaseFile, keychain: KeychainService, enclave: any Enclave
  ) throws(ProtectedDataError) {
    try checkProtection(file)
    guard try StoredImage.read(file, []).record == nil,
      try keychain.protectedItem(RootSecret.account, damaged: .rootSecretCorrupt) == nil
    else { throw .alreadyExists }
    try install(file, keychain, enclave)
  }

  /// Keychain first, all in one batch; then the file, all in one transaction. An interruption between the two
  /// leaves a registry that the new root secret does not authenticate: framework recovery, which a mark tells
  /// from tampering.
  ///
  /// - Parameter former: the registry's record to replace; nil when there is none.
  static func install(
    _ file: DatabaseFile, _ keychain: KeychainService, _ enclave: any Enclave,
    replacing former: [UInt8]? = nil
  ) throws(ProtectedDataError) {
    let binding = try BindingKey.create(in: enclave)
    let root = SystemRandom.secretBytes(count: RootSecret.byteCount)
    let keys = root.withBytes { RootKeys($0) }
    let envelope = try root.withBytes { root throws(ProtectedDataError) in
      try RootSecret.seal(root, to: binding)
    }
    var registry = Registry(revision: 1, formatFloor: RootSecret.floor, entries: [:])
    var ledger = GenerationLedger(revision: registry.revision, generations: [:])
    var change = StoredChange(former: nil)
    for domain in ProtectedDomain.allCases {
      registry.entries[domain] = .ready
      ledger.generations[domain] = 1
      change.rows[domain] = .write(try newRow(domain, generation: 1, keys))
    }
    change.record = registry.record(keys)
    try ProtectedDataError.sorting {
      try file.claimWriting()
      try keychain.apply(
        RootSecret.items(envelope, binding) + [RootSecret.item(ledger.bytes, GenerationLedger.account)]
          + (former.map { [ResetMark.item(replacing: $0)] } ?? []))
    }
    try change.apply(to: file)
    if former != nil {
      try ProtectedDataError.sorting { try keychain.apply([.delete(account: ResetMark.account)]) }
    }
  }

  /// The row of a new domain with its initial content, under a new key.
  static func newRow(
    _ domain: ProtectedDomain, generation: UInt64, _ keys: RootKeys
  ) throws(ProtectedDataError) -> DomainRow {
    let key = DomainKey.make()
    let type = domain.payload
    guard let payload = type.initial.encoded() else { throw .invalidValue(domain) }
    let record = DomainRecord(domain: domain, schemaVersion: type.schemaVersion, generation: generation)
    return DomainRow(
      wrappedKey: DomainKey.wrap(key, for: domain, keys), payload: record.seal(payload, under: key))
  }
}

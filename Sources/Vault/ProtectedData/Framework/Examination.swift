// SPDX-License-Identifier: Apache-2.0
//
// Checks what is stored, with the root keys. Nothing here writes, except that a ledger can be saved.

internal import Keychains
internal import Secrets
internal import Storage

/// The result of checking one domain.
enum Finding {
  case open(Opened)
  case pending
  case fault(DomainFault)

  /// A domain whose key and payload are authentic.
  struct Opened {
    let key: SharedSecretBytes
    let record: DomainRecord
    let payload: SharedSecretBytes
  }

  var state: DomainState {
    switch self {
    case .open: .open
    case .pending: .pendingMutation
    case .fault(let fault): .recovery(fault)
    }
  }

  /// Opens a row: checks first that it is authentic, then its generation, then its schema.
  init(
    _ domain: ProtectedDomain, _ row: DomainRow?, _ entry: Registry.EntryState?, _ keys: RootKeys,
    verdict: (UInt64) -> GenerationVerdict
  ) {
    switch entry {
    case nil: self = .fault(.absent)
    case .pendingCreate, .pendingDelete: self = .pending
    case .ready:
      do throws(DomainFault) {
        guard let row else { throw .missing }
        let opened = try Self.open(domain, row, keys)
        switch verdict(opened.record.generation) {
        case .current, .ahead: break
        case .rolledBack: throw .rolledBack
        case .unaccounted: throw .ledgerBehind
        }
        try Self.checkContent(opened)
        self = .open(opened)
      } catch { self = .fault(error) }
    }
  }

  /// Opens key and payload of a row.
  static func open(
    _ domain: ProtectedDomain, _ row: DomainRow, _ keys: RootKeys
  ) throws(DomainFault) -> Opened {
    guard let key = DomainKey.unwrap(row.wrappedKey, for: domain, keys) else { throw .keyCorrupt }
    guard let record = DomainRecord(row.payload, of: domain),
      let payload = record.open(row.payload, under: key)
    else { throw .payloadCorrupt }
    return Opened(key: key, record: record, payload: payload)
  }

  private static func checkContent(_ opened: Opened) throws(DomainFault) {
    let type = opened.record.domain.payload
    let isOldSettings =
      opened.record.domain == .protectedSettings
      && ProtectedSettings.upgradedSchemaVersions.contains(opened.record.schemaVersion)
    guard opened.record.schemaVersion == type.schemaVersion || isOldSettings else { throw .unknownSchema }
    do {
      try opened.payload.withBytes { bytes throws(MalformedPayload) in
        guard isOldSettings else { return try type.check(bytes) }
        _ = try ProtectedSettings.upgrading(bytes, from: opened.record.schemaVersion)
      }
    } catch { throw .malformed }
  }
}

/// Registry, ledger and some domains at one moment.
struct Examination {
  var image: StoredImage
  var registry: Registry
  var ledger: GenerationLedger
  var findings: [ProtectedDomain: Finding] = [:]
  /// Something authentic is one step ahead of the ledger, as a process that ends early leaves it.
  private(set) var isAhead: Bool
  /// Nothing is ahead of the ledger. If the writer's lock is not held, something ahead may be the work of a
  /// running writer; something behind never is.
  private(set) var isSettled: Bool

  /// - Throws: framework recovery; errors of reading.
  init(
    _ file: DatabaseFile, _ keychain: KeychainService, _ keys: RootKeys, _ domains: [ProtectedDomain]
  ) throws(ProtectedDataError) {
    // The ledger first: a writer that comes between makes the file newer, never older.
    ledger = try GenerationLedger.load(keychain)
    image = try StoredImage.read(file, domains)
    registry = try ProtectedDomains.registry(image)
    guard let record = image.record else { throw .frameworkRecovery(.registryMissing) }
    guard Registry.isAuthentic(record, keys) else {
      throw .frameworkRecovery(try ResetMark.names(record, keychain) ? .resetInterrupted : .registryTampered)
    }
    var verdicts = [GenerationVerdict(found: registry.revision, ledger: ledger.revision)]
    switch verdicts[0] {
    case .current, .ahead: break
    case .rolledBack: throw .frameworkRecovery(.registryRolledBack)
    case .unaccounted: throw .frameworkRecovery(.ledgerBehind)
    }
    let known = ledger.generations
    for domain in domains {
      findings[domain] = Finding(domain, image.rows[domain], registry.entries[domain], keys) { found in
        verdicts.append(GenerationVerdict(found: found, ledger: known[domain] ?? 0))
        return verdicts[verdicts.count - 1]
      }
    }
    isAhead = verdicts.contains(.ahead)
    isSettled = verdicts.allSatisfy { $0 == .current || $0 == .rolledBack }
  }

  /// The ledger that matches the open domains and the registry; entries of other domains stay.
  var healedLedger: GenerationLedger {
    var healed = ledger
    healed.revision = registry.revision
    for case (let domain, .open(let opened)) in findings {
      healed.generations[domain] = opened.record.generation
    }
    return healed
  }

  /// The open domain, or an error for its state.
  func opened(_ domain: ProtectedDomain) throws(ProtectedDataError) -> Finding.Opened {
    switch findings[domain] {
    case .open(let opened): return opened
    case .pending: throw .pendingMutation(domain)
    case .fault(let fault): throw .domainRecovery(domain, fault)
    case nil: throw .domainRecovery(domain, .absent)
    }
  }
}

extension GenerationLedger {
  static func load(_ keychain: KeychainService) throws(ProtectedDataError) -> GenerationLedger {
    guard let bytes = try keychain.protectedItem(account, damaged: .ledgerCorrupt) else {
      throw .frameworkRecovery(.ledgerMissing)
    }
    guard let ledger = bytes.withBytes({ GenerationLedger($0) }) else {
      throw .frameworkRecovery(.ledgerCorrupt)
    }
    return ledger
  }

  func save(_ keychain: KeychainService) throws(ProtectedDataError) {
    let bytes = bytes
    try ProtectedDataError.sorting {
      try keychain.save(
        SecretBytes(copying: bytes.rawSpan), forKey: Self.account,
        accessibility: .whenUnlockedThisDeviceOnly)
    }
  }
}

extension KeychainService {
  /// An item of the class *when unlocked*; nil when there is none. A locked or unavailable keychain is an
  /// error; only a damaged item is a fault.
  func protectedItem(
    _ account: String, damaged fault: FrameworkFault
  ) throws(ProtectedDataError) -> SharedSecretBytes? {
    do throws(KeychainError) {
      guard let item = try loadSecret(forKey: account, in: .whenUnlockedThisDeviceOnly) else { return nil }
      return SharedSecretBytes(item)
    } catch {
      throw error.isDamage ? .frameworkRecovery(fault) : ProtectedDataError(error)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// What is stored, looked at with the root keys in hand. Nothing here writes.

internal import Keychains
internal import Secrets
internal import Storage

/// What was found of one domain.
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

  /// Opens a row. Its number counts only once it is authentic, its schema only once its number is right.
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

  /// Key and payload of a row, as far as they are authentic.
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
      && opened.record.schemaVersion == ProtectedSettings.upgradedSchemaVersion
    guard opened.record.schemaVersion == type.schemaVersion || isOldSettings else { throw .unknownSchema }
    do {
      try opened.payload.withBytes { bytes throws(MalformedPayload) in
        if isOldSettings { _ = try ProtectedSettings.upgrading(bytes) } else { try type.check(bytes) }
      }
    } catch { throw .malformed }
  }
}

/// Registry, ledger and some domains, as of one moment.
struct Examination {
  var image: StoredImage
  var registry: Registry
  var ledger: GenerationLedger
  var findings: [ProtectedDomain: Finding] = [:]
  /// Something is ahead of the ledger, as an ended process leaves it, and authentic.
  private(set) var isAhead: Bool
  /// Nothing is ahead of the ledger. Without the writer's lock, something that is may be a writer at work; what
  /// is behind is not.
  private(set) var isSettled: Bool

  /// - Throws: framework recovery; what reading may throw.
  init(
    _ file: DatabaseFile, _ keychain: KeychainService, _ keys: RootKeys, _ domains: [ProtectedDomain]
  ) throws(ProtectedDataError) {
    // The ledger first: a writer who comes between makes the file newer, never older.
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

  /// The ledger that fits what was found; where something is in recovery, it stays.
  var healedLedger: GenerationLedger {
    var healed = ledger
    healed.revision = registry.revision
    for case (let domain, .open(let opened)) in findings {
      healed.generations[domain] = opened.record.generation
    }
    return healed
  }

  /// The domain, as it can be read.
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
        SecretBytes(copying: unsafe bytes.span.bytes), forKey: Self.account,
        accessibility: .whenUnlockedThisDeviceOnly)
    }
  }
}

extension KeychainService {
  /// An item of the class *when unlocked*; nil when there is none. *Locked* and *not now* are errors of their
  /// own; only an item that is not what was stored is a fault.
  func protectedItem(
    _ account: String, damaged fault: FrameworkFault
  ) throws(ProtectedDataError) -> SharedSecretBytes? {
    do throws(KeychainError) {
      guard let item = try loadSecret(forKey: account, in: .whenUnlockedThisDeviceOnly) else { return nil }
      return SharedSecretBytes(item)
    } catch {
      switch error {
      case .invalidData, .decodingFailed: throw .frameworkRecovery(fault)
      default: throw ProtectedDataError(error)
      }
    }
  }
}

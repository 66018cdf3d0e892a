// SPDX-License-Identifier: Apache-2.0
//
// Makes a coffer from a backup (Specs/backup.md, "Restoring"): a new one with the old slots and keys, whose protected
// data and private parts are bound to this machine.

public import Backups
internal import Captures
public import Enclaves
internal import KeyCustody
public import Keychains
internal import OpenPGP
internal import Primitives
internal import ProtectedData
internal import Secrets
internal import Storage
internal import Syncing
internal import UserAuthentication
public import Vaults

/// What came with a backup, and what did not.
public struct RestoredCoffer: Sendable {
  /// An identity, as its metadata names it.
  public struct Identity: Sendable, Equatable {
    /// Lower-case hexadecimal digits.
    public let fingerprint: String
    /// The first of its user IDs; empty when it has none.
    public let name: String
  }

  /// The coffer, open.
  public let coffer: Coffer
  /// When the backup was made; seconds since 1970, UTC.
  public let made: Int64
  /// Messages.
  public var messageCount = 0
  /// Captures.
  public var captureCount = 0
  /// Contacts.
  public var contactCount = 0
  /// Identities that came with their private parts.
  public var identities: [Identity] = []
  /// Identities whose private parts are not in the backup; nothing of them came.
  public var missingIdentities: [Identity] = []
  /// Slots of the old machine's devices, which were left out.
  public var leftOutSlots: [KeySlot] = []
  /// Where this machine's new keys are.
  public let enclave: EnclaveKind
}

/// A backup that is not open.
public struct LockedBackup: Sendable {
  /// Its file.
  public let path: String
  /// The slots that open it.
  public let keybag: Keybag

  /// Reads the head of a file.
  /// - Throws: `BackupError`.
  public init(path: String) throws(BackupError) {
    self.path = path
    keybag = try BackupReader(path: path).header.keybag
  }

  /// Opens it with a passphrase or a recovery phrase.
  /// - Throws: `KeybagError`.
  public func unlock(_ credential: borrowing SlotCredential) throws(KeybagError) -> ClassKeys {
    try keybag.unlock(credential).keys
  }
}

extension Coffer {
  /// Makes a coffer in `home` from a backup. It appears complete or not at all.
  ///
  /// - Parameters:
  ///   - backup: the file.
  ///   - keys: from ``LockedBackup/unlock(_:)``.
  ///   - attestation: where new keys are made; nil for this machine's chip if one answers, else software if the old
  ///     machine's keys were in software too.
  ///   - progress: called with the bytes done and of all; false stops.
  /// - Throws: `BackupError`; `StorageError.alreadyExists`, `.notEmpty`, `.inUse`; `EnclaveError`;
  ///   `CofferError.hardwareRequired`.
  public static func restore(
    _ backup: LockedBackup, _ keys: ClassKeys, to home: String, machine: Machine = Machine(),
    attestation: EnclaveKind? = nil, clock: VaultClock = .system, progress: (Int, Int) -> Bool
  ) throws -> RestoredCoffer {
    try DatabaseFile.checkPlace(home: home)
    let enclave = try machine.enclaveForNewKeys(attestation, after: nil)
    var reader = try BackupReader(path: backup.path)
    // Between the two readings somebody may have put another file there.
    guard reader.header.keybag == backup.keybag else { throw BackupError.damaged }
    try reader.open(keys)
    let (keybag, leftOut) = try backup.keybag.movedToFile(keys)
    let total = reader.fileByteCount
    var arrivals = Arrivals()
    let file = try DatabaseFile.create(home: home) { file in
      try file.write { try keybag.save($0) }
      let contents = try reader.restore(to: file) { !progress($0, total) }
      let binding = try FileBinding(coffer: keybag.coffer, keys: keys)
      try file.write { try binding.create($0) }
      file.bind(binding)
      arrivals = try Arrival(
        file: file, keybag: keybag, keys: keys, machine: machine, enclave: enclave,
        isToldWhere: attestation != nil, clock: clock
      ).settle(contents)
    }
    guard let slot = keybag.slots.first else { throw KeybagError.lastSlot }
    let coffer = try Coffer(
      file: file, keybag: keybag, keys: keys, slot: slot, machine: machine, clock: clock,
      agents: AgentSession(home: home, coffer: keybag.coffer, machine.agentVariables))
    if enclave.kind.isHardware { coffer.counter.makeIfMissing() }
    var restored = RestoredCoffer(
      coffer: coffer, made: arrivals.made, leftOutSlots: leftOut, enclave: enclave.kind)
    restored.messageCount = arrivals.messageCount
    restored.captureCount = arrivals.captureCount
    restored.contactCount = arrivals.contactCount
    restored.identities = arrivals.identities
    restored.missingIdentities = arrivals.missingIdentities
    return restored
  }
}

/// What has arrived.
private struct Arrivals {
  var made: Int64 = 0
  var messageCount = 0
  var captureCount = 0
  var contactCount = 0
  var identities: [RestoredCoffer.Identity] = []
  var missingIdentities: [RestoredCoffer.Identity] = []
}

/// A coffer whose rows have arrived, and which is not yet this machine's.
private struct Arrival {
  let file: DatabaseFile
  let keybag: Keybag
  let keys: ClassKeys
  let machine: Machine
  let enclave: any Enclave
  /// Whether the user has said where new keys are made.
  let isToldWhere: Bool
  let clock: VaultClock

  /// Gives it protected data, custody and registration of this machine.
  func settle(_ contents: BackupContents) throws -> Arrivals {
    let keychain = KeychainService(keychain: try keybag.openKeychain(file), keys: keys)
    if !isToldWhere, !enclave.kind.isHardware,
      try ProtectedDomains.enclaveKind(keychain)?.isHardware == true
    {
      throw CofferError.hardwareRequired
    }
    // Nothing of the old machine may be taken for this one's.
    let strange = try keychain.accounts().filter { account in
      ProtectedDomains.accountsOfThisMachine.contains(account) || PrivateKeyCustody.owns(account: account)
        || AccountLink.itemNames.contains(account)
    }
    try keychain.apply(strange.map { .delete(account: $0) })
    try ProtectedDomains.create(file: file, keychain: keychain, enclave: enclave)
    try PrivateKeyCustody.prepare(keychain)
    var arrivals = Arrivals()
    arrivals.made = contents.about.made
    try settleProtectedData(contents, keychain, &arrivals)
    _ = try Device.register(keychain, in: enclave)
    try LastBackup(made: contents.about.made, hasPrivateParts: contents.about.hasPrivateParts).save(keychain)
    try keychain.replaceSecret(
      forKey: AuditLog.account, by: AuditLog.line(.restored, count: 0, at: clock.now()))
    let vault = try Vault.open(file: file, keychain: keychain, isAuthenticated: true, clock: clock)
    try vault.checkRows()
    arrivals.messageCount = try vault.status().messageCount
    let found = try CaptureStore(file: file, keychain: keychain).examine(isDeep: false)
    guard found.damaged.isEmpty, found.strayBlobCount == 0, found.strayPartCount == 0 else {
      throw BackupError.damaged
    }
    arrivals.captureCount = found.captureCount
    return arrivals
  }

  private func settleProtectedData(
    _ contents: BackupContents, _ keychain: KeychainService, _ arrivals: inout Arrivals
  ) throws {
    let machine = machine
    let domains = try ProtectedDomains(
      file: file, keychain: keychain, enclaves: { machine.enclave($0) })
    _ = try domains.unlock(
      SessionAuthorization(deadline: .now.advanced(by: AuthenticationLimits.longestContextLifetime)) { true })
    try domains.replaceContents(
      contents.domains.map { content in
        guard let domain = ProtectedDomain(rawValue: content.number) else { throw BackupError.damaged }
        return DomainContent(
          domain: domain, schemaVersion: content.schemaVersion, payload: content.payload)
      })
    let here = Set(contents.privateParts.map(\.fingerprint))
    for identity in try domains.identities() {
      let named = RestoredCoffer.Identity(
        fingerprint: Hexadecimal.text(identity.fingerprint.bytes), name: identity.userIDs.first ?? "")
      if here.contains(identity.fingerprint.bytes) {
        arrivals.identities.append(named)
      } else {
        arrivals.missingIdentities.append(named)
      }
    }
    let made = UInt32(clamping: contents.about.made)
    try domains.changeIdentities { identities in
      identities.removeAll { !here.contains($0.fingerprint.bytes) }
      for index in identities.indices { identities[index].backedUpAt = made }
    }
    try settlePrivateParts(contents.privateParts, keychain, domains)
    arrivals.contactCount = try domains.read(ContactsSnapshot.self).contacts.count
  }

  private func settlePrivateParts(
    _ parts: [BackupReader.PrivatePart], _ keychain: KeychainService, _ domains: ProtectedDomains
  ) throws {
    guard !parts.isEmpty else { return }
    let machine = machine
    let custody = PrivateKeyCustody(
      file: file, keychain: keychain, records: domains, enclave: enclave,
      enclaveOfKind: { machine.enclave($0) })
    try custody.importKeys(
      parts.map { part in
        guard let payload = PrivateKeyPayload(rawValue: part.kind),
          let fingerprint = Fingerprint(bytes: part.fingerprint)
        else { throw BackupError.damaged }
        return (secret: part.secret, payload: payload, fingerprint: fingerprint)
      }, CustodyAuthorization(owner: keys.owner))
  }
}

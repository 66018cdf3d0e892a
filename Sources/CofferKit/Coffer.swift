// SPDX-License-Identifier: Apache-2.0
//
// The composition root: makes a coffer, opens one, and owns what an open one consists of. Everything
// that needs keys is a method of `Coffer`; what can be told without is in `LockedCoffer`.

public import Foundation
public import Keychains
internal import Primitives
public import Secrets
internal import Storage
public import Vaults

/// An open coffer. It is locked again by letting it go.
public final class Coffer: Sendable {
  /// The directory that holds it.
  public let home: String
  public let keychain: KeychainService
  public let vault: Vault
  /// The slot that opened it.
  public let slot: KeySlot

  let file: DatabaseFile
  let keys: ClassKeys
  let clock: VaultClock

  // MARK: Make and open

  /// Makes a coffer with a passphrase slot and a slot for the recovery phrase, and opens it.
  ///
  /// It appears complete or not at all.
  /// - Throws: `StorageError.alreadyExists`; `KeybagError.derivation`; `CofferError.weakPassphrase`.
  public static func create(
    home: String, passphrase: borrowing Passphrase, recoveryPhrase: borrowing RecoveryPhrase,
    kdf: SlotKDF = .recommended, policy: PassphrasePolicy = .standard, clock: VaultClock = .system
  ) throws -> Coffer {
    let assessment = policy.check(passphrase)
    guard assessment.isAccepted else { throw CofferError.weakPassphrase(assessment.problems) }
    guard !DatabaseFile.exists(home: home) else { throw StorageError.alreadyExists }
    var (keybag, unlocked) = try Keybag.create(SlotCredential(passphrase), kdf: kdf, now: clock.now())
    try keybag.addSlot(SlotCredential(recoveryPhrase), kdf: .seed, keys: unlocked.keys, now: clock.now())
    let finished = keybag
    let file = try DatabaseFile.create(home: home) { file in
      try file.write { try finished.save($0) }
      let keychain = KeychainService(keychain: FileKeychain(file), keys: unlocked.keys)
      try keychain.prepare()
      _ = try Vault.create(file: file, keychain: keychain, clock: clock)
      try Settings(policy: policy).save(keychain)
      try AuditLog().save(keychain)
    }
    let coffer = try Coffer(file: file, unlocked: unlocked, clock: clock)
    try coffer.note(.created)
    return coffer
  }

  /// Opens a coffer.
  ///
  /// - Throws: `StorageError.notFound`, `.corrupt`; `KeybagError.wrongSecret`, `.noSuchSlot`, `.corrupt`,
  ///   `.derivation`; `VaultError.corrupt`.
  public static func open(
    home: String, credential: borrowing SlotCredential, clock: VaultClock = .system
  ) throws -> Coffer {
    try LockedCoffer(home: home).unlock(credential, clock: clock)
  }

  init(file: DatabaseFile, unlocked: Keybag.Unlocked, clock: VaultClock) throws {
    self.file = file
    self.clock = clock
    home = file.home
    slot = unlocked.slot
    keys = unlocked.keys
    keychain = KeychainService(keychain: FileKeychain(file), keys: unlocked.keys)
    vault = try Vault.open(file: file, keychain: keychain, isAuthenticated: true, clock: clock)
  }

  /// Drops the keys from memory and closes the file.
  public func close() {
    vault.clearCache()
    file.close()
  }

  // MARK: Slots

  /// The slots, as they are now.
  public func slots() throws -> [KeySlot] { try file.read(Keybag.load).slots }

  /// Puts a new passphrase in the place of the slot that opened this coffer.
  public func changePassphrase(to passphrase: borrowing Passphrase, kdf: SlotKDF? = nil) throws {
    try check(passphrase)
    try changeKeybag { keybag in
      try keybag.replaceSlot(
        slot.id, by: SlotCredential(passphrase), kdf: kdf ?? Self.kdf(like: slot), keys: keys,
        now: clock.now())
    }
    try note(.passphraseChanged)
  }

  /// Sets a passphrase after a recovery: in the place of the only passphrase slot, or beside several.
  /// - Returns: whether a former passphrase was replaced.
  public func resetPassphrase(to passphrase: borrowing Passphrase, kdf: SlotKDF? = nil) throws -> Bool {
    try check(passphrase)
    let kdf = kdf ?? .recommended
    let replaced = try changeKeybag { keybag in
      let former = keybag.slots.filter { $0.kind == .passphrase }
      let credential = SlotCredential(passphrase)
      if former.count == 1 {
        try keybag.replaceSlot(former[0].id, by: credential, kdf: kdf, keys: keys, now: clock.now())
      } else {
        try keybag.addSlot(credential, kdf: kdf, keys: keys, now: clock.now())
      }
      return former.count == 1
    }
    try note(.recovered)
    return replaced
  }

  /// Adds a passphrase.
  public func addSlot(_ passphrase: borrowing Passphrase, kdf: SlotKDF = .recommended) throws -> KeySlot {
    try check(passphrase)
    let slot = try changeKeybag {
      try $0.addSlot(SlotCredential(passphrase), kdf: kdf, keys: keys, now: clock.now())
    }
    try note(.slotAdded)
    return slot
  }

  /// Adds a recovery phrase.
  public func addSlot(_ phrase: borrowing RecoveryPhrase) throws -> KeySlot {
    let slot = try changeKeybag {
      try $0.addSlot(SlotCredential(phrase), kdf: .seed, keys: keys, now: clock.now())
    }
    try note(.slotAdded)
    return slot
  }

  /// Removes a slot, but never the last.
  public func removeSlot(_ id: UUID) throws {
    try changeKeybag { try $0.removeSlot(id, keys: keys) }
    try note(.slotRemoved)
  }

  /// Notes that the recovery phrase has just opened this coffer.
  public func noteRecoveryDrill() throws {
    var settings = try Settings.load(keychain)
    settings.lastRecoveryDrill = clock.now()
    try settings.save(keychain)
    try note(.recoveryDrill)
  }

  /// The rules for passphrases and what else is kept about this coffer.
  public func settings() throws -> Settings { try Settings.load(keychain) }

  // MARK: Audit

  /// What was done, the oldest first.
  public func auditLog() throws -> [AuditLog.Entry] { try AuditLog.load(keychain).entries }

  /// Adds a line to the audit log, after the deed.
  ///
  /// A disk that is full by then leaves the line out: what was done must not be reported as failed, least
  /// of all a new passphrase.
  public func note(_ event: AuditLog.Event, count: Int = 0) throws {
    var log = try AuditLog.load(keychain)
    log.append(event, count: count, at: clock.now())
    do {
      try log.save(keychain)
    } catch {
      guard error == .saveFailed(StorageError.full.status) else { throw error }
    }
  }

  // MARK: -

  private func check(_ passphrase: borrowing Passphrase) throws {
    let assessment = try settings().policy.check(passphrase)
    guard assessment.isAccepted else { throw CofferError.weakPassphrase(assessment.problems) }
  }

  /// Changes the slots as one transaction, and leaves no former wrapping in the log.
  @discardableResult
  private func changeKeybag<R>(_ change: (inout Keybag) throws -> R) throws -> R {
    let result = try file.write { transaction in
      var keybag = try Keybag.load(transaction)
      let result = try change(&keybag)
      try keybag.save(transaction)
      return result
    }
    do {
      try file.truncateLog()
    } catch StorageError.full {
      // The change is made and must not be reported as failed; closing the coffer tries again.
    }
    return result
  }

  private static func kdf(like slot: KeySlot) -> SlotKDF {
    slot.kind == .passphrase ? slot.kdf : .recommended
  }
}

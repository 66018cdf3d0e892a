// SPDX-License-Identifier: Apache-2.0
//
// The composition root: creates and opens a coffer, and owns the parts of an open one. Everything that needs keys is
// a method of `Coffer`; everything that does not is in `LockedCoffer`.

public import Agent
public import Captures
public import Enclaves
public import Foundation
internal import KeyCustody
public import Keychains
internal import Logging
internal import Primitives
internal import ProtectedData
public import Secrets
internal import Storage
internal import Synchronization
public import Vaults

/// An open coffer. Releasing the last reference locks it.
public final class Coffer: Sendable {
  /// The directory that holds it; nil for one in memory.
  public var home: String? { file.home }
  /// Names it for its whole life.
  public let id: UUID
  /// The coffer's small secrets.
  public let keychain: KeychainService
  /// The coffer's messages.
  public let vault: Vault
  /// The coffer's photo captures.
  public let captures: CaptureStore
  /// The slot that opened it; nil when an agent's keys did.
  public let slot: KeySlot?
  /// When it was opened; if a slot opened it, that was an authentication.
  let openedAt = ContinuousClock.now
  /// The machine it was opened on.
  public let machine: Machine

  let file: DatabaseFile
  let keys: ClassKeys
  let binding: FileBinding
  let clock: VaultClock
  /// Whoever keeps the keys between commands.
  let agents: AgentSession
  /// Created on first use.
  let protectedData = Mutex<ProtectedDomains?>(nil)
  private let counterIsBehind = Atomic(false)
  /// Whether the slots were changed and the chip has not counted that: until the coffer is opened again, an earlier
  /// copy of the file passes as the latest.
  public var isCounterBehind: Bool { counterIsBehind.load(ordering: .relaxed) }

  // MARK: Make and open

  /// Makes a coffer with a passphrase slot and a slot for the recovery phrase, and opens it.
  ///
  /// It appears complete or not at all. The key that signs captures, and the key that protected data is bound to,
  /// are created in the enclave of the kind `attestation`. If that is nil, they are created in the machine's chip
  /// if one answers, else in software.
  ///
  /// - Throws: `StorageError.alreadyExists`, `.notEmpty`, `.inUse`; `KeybagError.derivation`; `CofferError.weakPassphrase`;
  ///   `KeychainError.secureEnclaveUnavailable`.
  public static func create(
    home: String, passphrase: borrowing Passphrase, recoveryPhrase: borrowing RecoveryPhrase,
    kdf: SlotKDF = .recommended, policy: PassphrasePolicy = .usual,
    keychain place: KeychainPlace = .file, machine: Machine = Machine(), attestation: EnclaveKind? = nil,
    clock: VaultClock = .system
  ) throws -> Coffer {
    let assessment = policy.check(passphrase)
    guard assessment.isAccepted else { throw CofferError.weakPassphrase(assessment.problems) }
    try DatabaseFile.checkPlace(home: home)
    var (keybag, unlocked) = try Keybag.create(
      SlotCredential(passphrase), kdf: kdf, keychain: place, now: clock.now())
    try keybag.addSlot(SlotCredential(recoveryPhrase), kdf: .seed, keys: unlocked.keys, now: clock.now())
    let finished = keybag
    let enclave = try attestation.map { kind in
      guard let enclave = machine.enclave(kind) else { throw EnclaveError.unavailable }
      // Checked before there is a directory that would have to be removed.
      do { try enclave.checkAvailability() } catch EnclaveError.unavailable {
        throw KeychainError.secureEnclaveUnavailable
      }
      return enclave
    }
    let attestationEnclave = try enclave ?? machine.enclaveForNewKeys()
    let file = try DatabaseFile.create(home: home) { file in
      try populate(
        file, finished, unlocked.keys, enclave: attestationEnclave, policy: policy, clock: clock)
    } undo: { file in
      // Items in the Secret Service are not removed with the file. They carry the id of this coffer.
      _ = finished.removeServiceKeychain(file)
    }
    let coffer = try Coffer(
      file: file, keybag: finished, keys: unlocked.keys, slot: unlocked.slot, machine: machine, clock: clock,
      agents: AgentSession(home: home, coffer: finished.coffer, machine.agentVariables))
    if attestationEnclave.kind.isHardware { coffer.counter.makeIfMissing() }
    return coffer
  }

  /// Writes everything that a new coffer has.
  static func populate(
    _ file: DatabaseFile, _ keybag: Keybag, _ keys: ClassKeys, enclave: any Enclave,
    policy: PassphrasePolicy, clock: VaultClock
  ) throws {
    let binding = try FileBinding(coffer: keybag.coffer, keys: keys)
    try file.write { transaction in
      try keybag.save(transaction)
      try binding.create(transaction)
    }
    file.bind(binding)
    let keychain = KeychainService(keychain: try keybag.openKeychain(file), keys: keys)
    try keychain.prepare()
    try ProtectedDomains.create(file: file, keychain: keychain, enclave: enclave)
    try PrivateKeyCustody.prepare(keychain)
    _ = try Vault.create(file: file, keychain: keychain, clock: clock)
    _ = try Device.register(keychain, in: enclave)
    try Settings(policy: policy).save(keychain)
    var log = AuditLog()
    log.append(.created, count: 0, at: clock.now())
    try log.save(keychain)
  }

  /// Opens a coffer.
  ///
  /// - Throws: `StorageError.notFound`, `.corrupt`; `KeybagError.wrongSecret`, `.noSuchSlot`, `.corrupt`,
  ///   `.derivation`; `VaultError.corrupt`.
  public static func open(
    home: String, credential: borrowing SlotCredential, machine: Machine = Machine(),
    clock: VaultClock = .system
  ) throws -> Coffer {
    try LockedCoffer(home: home, machine: machine, clock: clock).unlock(credential)
  }

  /// - Parameter slot: the slot that was just opened; nil for keys from an agent.
  init(
    file: DatabaseFile, keybag: Keybag, keys: ClassKeys, slot: KeySlot?, machine: Machine, clock: VaultClock,
    agents: AgentSession
  ) throws {
    self.file = file
    id = keybag.coffer
    self.clock = clock
    self.machine = machine
    self.slot = slot
    self.keys = keys
    self.agents = agents
    binding = try Self.bind(file, coffer: keybag.coffer, keys: keys)
    keychain = KeychainService(keychain: try keybag.openKeychain(file), keys: keys)
    captures = CaptureStore(file: file, keychain: keychain)
    vault = try Vault.open(file: file, keychain: keychain, isAuthenticated: slot != nil, clock: clock)
    listenForFailures { _, _ in }
  }

  /// Verifies the file's parts from now on, first the two that everything else depends on.
  /// - Throws: `StorageError.outdated` when the slots or the keychain are not in the state that was stored last.
  static func bind(_ file: DatabaseFile, coffer: UUID, keys: ClassKeys) throws -> FileBinding {
    let binding = try FileBinding(coffer: coffer, keys: keys)
    file.bind(binding)
    for part in [BoundPart.slots, .keychain] { try file.read(part) { _ in } }
    return binding
  }

  /// The counter in the machine's chip that belongs to this coffer.
  var counter: RollbackCounter {
    RollbackCounter(file: file, binding: binding, machine: machine, clock: clock)
  }

  /// Accepts this state of the coffer as the current one, although the chip's counter is ahead of it: for an owner
  /// who has restored a backup.
  ///
  /// - Returns: false when it already is the current one.
  /// - Throws: `CofferError.slotRequired` when an agent's keys opened this coffer; `EnclaveError.unavailable`.
  public func acceptEarlierState() throws -> Bool {
    guard slot != nil else { throw CofferError.slotRequired }
    guard try counter.accept() else { return false }
    audit(.earlierStateAccepted)
    return true
  }

  /// Drops the keys from memory and closes the file.
  ///
  /// If protected data cannot be locked, nothing of it opens again in this process
  /// (`ProtectedDataError.restartRequired`, PD-23), and the log says so. All else is dropped and closed even then.
  public func close() {
    do { try protectedData.withLock { $0 }?.relock() } catch {
      // It was logged, and the process's latch is set. Not thrown: whoever closes has nothing to undo, and the rest
      // must be dropped now.
    }
    vault.clearCache()
    captures.clearCache()
    file.close()
  }

  // MARK: Session and device

  /// Gives the keys to the coffer's agent, which is started if there is none.
  ///
  /// - Parameters:
  ///   - executable: a program that runs the agent when its first argument is `agent`.
  ///   - limits: of this session alone, instead of those in the settings.
  /// - Returns: the limits after which the session ends: without use, and at the latest.
  /// - Throws: `CofferError.slotRequired` when an agent's keys opened this coffer; `AgentError`.
  public func beginSession(
    executable: String, limits: SessionLimits = SessionLimits()
  ) throws -> (idleSeconds: Int, absoluteSeconds: Int) {
    guard let slot else { throw CofferError.slotRequired }
    let settings = try settings()
    let limits = SessionLimits(
      idleSeconds: limits.idleSeconds ?? settings.limits.idleSeconds,
      absoluteSeconds: limits.absoluteSeconds ?? settings.limits.absoluteSeconds)
    return try agents.begin(keys, slot: slot.id, limits: limits, executable: executable)
  }

  /// Ends the session, wherever its agent runs. Call this after a change of slots, so that nobody continues with
  /// the keys from before.
  /// - Returns: whether there was an agent.
  /// - Throws: `AgentError.unreachable`, `.notAnswering`.
  public func endSession() throws(AgentError) -> Bool {
    try agents.end()
  }

  /// The registration of this machine; nil after it was forgotten.
  public func device() throws -> Device? { try Device.load(keychain) }

  /// Registers this machine again if it was forgotten; its key is in the chip if one answers, else in software.
  /// - Returns: the new registration; nil when there was one.
  public func registerDeviceIfForgotten() throws -> Device? {
    guard try device() == nil else { return nil }
    try file.claimWriting()
    let enclave = try machine.enclaveForNewKeys()
    let device = try Device.register(keychain, in: enclave)
    if enclave.kind.isHardware { counter.makeIfMissing() }
    audit(.deviceRegistered)
    return device
  }

  // MARK: Slots

  /// The slots, as they are now.
  public func slots() throws -> [KeySlot] { try file.read(.slots, Keybag.load).slots }

  /// Whether a passphrase slot of this coffer opens with `passphrase`.
  /// - Throws: `KeybagError.derivation`, `.corrupt`; `StorageError`.
  public func opens(_ passphrase: borrowing Passphrase) throws -> Bool {
    try opens(SlotCredential(passphrase))
  }

  /// Whether a slot of this coffer opens with the twelve words.
  /// - Throws: `KeybagError.derivation`, `.corrupt`; `StorageError`.
  public func opens(_ words: borrowing RecoveryPhrase) throws -> Bool { try opens(SlotCredential(words)) }

  private func opens(_ credential: borrowing SlotCredential) throws -> Bool {
    do {
      _ = try file.read(.slots, Keybag.load).unlock(credential)
      return true
    } catch KeybagError.wrongSecret {
      return false
    } catch KeybagError.noSuchSlot {
      return false
    }
  }

  /// Replaces the passphrase of the slot that opened this coffer.
  ///
  /// - Throws: `KeybagError.noSuchSlot` when it was not opened with a passphrase.
  public func changePassphrase(to passphrase: borrowing Passphrase, kdf: SlotKDF? = nil) throws {
    guard let slot else { throw CofferError.slotRequired }
    guard slot.kind == .passphrase else { throw KeybagError.noSuchSlot }
    try check(passphrase)
    try changeKeybag { keybag in
      try keybag.replaceSlot(
        slot.id, by: SlotCredential(passphrase), kdf: kdf ?? slot.kdf, keys: keys,
        now: clock.now())
    }
    audit(.passphraseChanged)
  }

  /// Sets a passphrase after a recovery: replaces the only passphrase slot, or adds one to several.
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
    audit(.recovered)
    return replaced
  }

  /// Adds a passphrase.
  ///
  /// - Parameter label: the owner's name for the slot, no other's, which stays as long as the slot; nil for none. The same
  ///   holds for other kinds of slots.
  public func addSlot(
    _ passphrase: borrowing Passphrase, label: String? = nil, kdf: SlotKDF = .recommended
  ) throws -> KeySlot {
    try check(passphrase)
    let slot = try changeKeybag {
      try $0.addSlot(SlotCredential(passphrase), label: label, kdf: kdf, keys: keys, now: clock.now())
    }
    audit(.slotAdded)
    return slot
  }

  /// Adds a recovery phrase.
  public func addSlot(_ phrase: borrowing RecoveryPhrase, label: String? = nil) throws -> KeySlot {
    let slot = try changeKeybag {
      try $0.addSlot(SlotCredential(phrase), label: label, kdf: .seed, keys: keys, now: clock.now())
    }
    audit(.slotAdded)
    return slot
  }

  /// Adds a key in a device, such as the machine's chip (``Machine/chipSlot()``), guarded by a PIN.
  ///
  /// - Throws: `PINPolicy.Problem`; `KeybagError.deviceHasSlot`; the device's errors, such as `KeybagError.enclave`,
  ///   `.notHardware`.
  public func addSlot<Device: DeviceSlotMethod>(
    _ device: Device, pin: SharedSecretBytes, label: String? = nil
  ) throws -> KeySlot {
    if let problem = pin.withBytes({ Device.problem(withNewPIN: $0) }) { throw problem }
    guard try !file.read(.slots, Keybag.load).hasSlot(of: device) else { throw KeybagError.deviceHasSlot }
    // Outside of the transaction, because a device is slow.
    let credential = try device.newCredential(pin: pin)
    let slot = try changeKeybag {
      try $0.addSlot(credential, label: label, kdf: Device.newDerivation, keys: keys, now: clock.now())
    }
    if Device.kind == .enclave { counter.makeIfMissing() }
    audit(.slotAdded)
    return slot
  }

  /// Forgets this machine: the slots of its chip, and its registration. Captures that it signed stay.
  /// - Returns: the removed parts, and those that may still be in the chip.
  public func forgetDevice() throws -> ForgottenDevice {
    let removed = try changeKeybag { keybag in
      let slots = keybag.slots.filter { $0.kind == .enclave }
      for slot in slots { try keybag.removeSlot(slot.id, keys: keys) }
      return slots.count
    }
    try Device.forget(keychain, in: machine)
    var counterRemains = false
    if let mark = try counter.mark() {
      try file.write { try binding.setCounter(nil, $0) }
      counterRemains = !RollbackCounter.delete(handle: mark.handle, machine: machine)
    }
    audit(.deviceForgotten)
    return ForgottenDevice(slotCount: removed, counterRemains: counterRemains)
  }

  /// Removes a slot, but never the last passphrase or recovery phrase.
  public func removeSlot(_ id: UUID) throws {
    try changeKeybag { try $0.removeSlot(id, keys: keys) }
    audit(.slotRemoved)
  }

  /// Records that the recovery phrase has just opened this coffer.
  public func noteRecoveryDrill() throws {
    // With the writer's lock, nobody changes the settings between reading and writing.
    try file.claimWriting()
    var settings = try Settings.load(keychain)
    settings.lastRecoveryDrill = clock.now()
    try settings.save(keychain)
    audit(.recoveryDrill)
  }

  /// The coffer's settings, such as its rules for passphrases.
  public func settings() throws -> Settings { try Settings.load(keychain) }

  static let log = Logger(label: "app.rial.coffer")

  // MARK: -

  private func check(_ passphrase: borrowing Passphrase) throws {
    let assessment = try settings().policy.check(passphrase)
    guard assessment.isAccepted else { throw CofferError.weakPassphrase(assessment.problems) }
  }

  /// Changes the slots as one transaction, and leaves no old wrapped key in the write-ahead log.
  /// - Throws: `CofferError.slotRequired` when an agent's keys opened this coffer.
  @discardableResult
  func changeKeybag<R>(_ change: (inout Keybag) throws -> R) throws -> R {
    guard slot != nil else { throw CofferError.slotRequired }
    try file.claimWriting()
    // Asked before the transaction, because a chip is slow.
    let mark = try counter.next()
    let result = try file.write(.slots) { transaction in
      var keybag = try Keybag.load(transaction)
      let result = try change(&keybag)
      try keybag.save(transaction)
      if let mark { try binding.setCounter(mark, transaction) }
      return result
    }
    if let mark, !counter.countUp(mark) { counterIsBehind.store(true, ordering: .relaxed) }
    // The change is made, whether or not the log can be emptied now.
    _ = try? file.truncateLog()
    return result
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// A coffer before it is opened: what is known without a key, and the ways to unlock it.

internal import Captures
public import Foundation
internal import KeyCustody
public import Keychains
public import Secrets
public import SecurityKeys
internal import Storage
public import Vaults

/// A coffer that is not open.
///
/// A digest protects the slots against accidents. The counts of rows are what the file says; only opening the coffer
/// verifies them.
public final class LockedCoffer: Sendable {
  /// The directory that holds it; nil for one in memory.
  public var home: String? { file.home }
  /// The machine to open it on.
  public let machine: Machine
  private let file: DatabaseFile
  private let keybag: Keybag
  private let clock: VaultClock
  private let acceptsEarlierState: Bool
  /// Whoever keeps the keys between commands.
  let agents: AgentSession

  /// - Parameter acceptsEarlierState: whether to open a coffer that is older than the chip's counter.
  /// - Throws: `StorageError`, also `.outdated(.slots)`; `KeybagError.corrupt`.
  public init(
    home: String, machine: Machine = Machine(), clock: VaultClock = .system, acceptsEarlierState: Bool = false
  ) throws {
    self.machine = machine
    self.clock = clock
    self.acceptsEarlierState = acceptsEarlierState
    file = try DatabaseFile.open(home: home)
    keybag = try Self.keybag(file)
    agents = AgentSession(home: home, coffer: keybag.coffer, machine.agentVariables)
  }

  /// A coffer in memory, as a command finds it.
  init(inMemory file: DatabaseFile, machine: Machine, clock: VaultClock, session: InMemorySession) throws {
    self.machine = machine
    self.clock = clock
    acceptsEarlierState = false
    self.file = file
    keybag = try Self.keybag(file)
    agents = AgentSession(session)
  }

  /// The slots, after checking without a key that they are those that were stored last.
  private static func keybag(_ file: DatabaseFile) throws -> Keybag {
    try file.read { transaction in
      let keybag = try Keybag.load(transaction)
      try FileBinding.checkSlots(transaction)
      return keybag
    }
  }

  /// Where its small secrets are.
  public var keychainPlace: KeychainPlace { keybag.keychain }

  /// The ways to open it.
  public var slots: [KeySlot] { keybag.slots }

  /// Whether a new slot can have this label, before the owner is asked for a secret.
  /// - Throws: `KeybagError.invalidLabel`, `.labelTaken`.
  public func checkLabel(_ label: String) throws(KeybagError) { try keybag.checkLabel(label) }

  /// Whether it has an account of several devices, as the file says.
  public func hasAccount() throws -> Bool {
    try file.read { try $0.firstRow("SELECT 1 FROM syncState") { _ in true } ?? false }
  }

  /// Names the coffer for its whole life; an agent hands its keys to no other coffer.
  public var id: UUID { keybag.coffer }

  /// Opens the coffer; may be tried again when it was the wrong passphrase.
  ///
  /// - Throws: `KeybagError.wrongSecret`, `.noSuchSlot`, `.corrupt`, `.derivation`; `VaultError.corrupt`;
  ///   `StorageError.outdated`, `.earlierState`.
  public func unlock(_ credential: borrowing SlotCredential) throws -> Coffer {
    let keybag = try currentKeybag()
    return try opened(keybag, keybag.unlock(credential))
  }

  /// Opens the coffer with a device, such as the machine's chip (``Machine/chipSlot()``).
  ///
  /// - Throws: `KeybagError` with the device's answer, such as `.enclave`; `.noSuchSlot`, `.corrupt`;
  ///   `VaultError.corrupt`; `StorageError.outdated`, `.earlierState`.
  public func unlock(_ device: some DeviceSlotMethod, pin: SharedSecretBytes) throws -> Coffer {
    let keybag = try currentKeybag()
    return try opened(keybag, keybag.unlock(device, pin: pin))
  }

  /// What to ask a security key for; without credentials if no slot is for one.
  public var securityKeyQuestion: SecurityKeyQuestion { keybag.securityKeyQuestion }

  /// Opens the coffer with the answer of a security key to ``securityKeyQuestion``.
  ///
  /// - Throws: `KeybagError.noSuchSlot`, `.corrupt`; `VaultError.corrupt`; `StorageError.outdated`, `.earlierState`.
  public func unlock(_ answer: SecurityKeyAnswer) throws -> Coffer {
    let keybag = try currentKeybag()
    return try opened(keybag, keybag.unlock(answer))
  }

  /// Opens the coffer with keys that an agent kept.
  ///
  /// - Throws: `KeybagError.wrongSecret` without the when-unlocked key; `.corrupt` when these are not the
  ///   keys of the slots; `VaultError.lockedAfterFailures`, which requires fresh authentication.
  public func unlock(_ keys: ClassKeys) throws -> Coffer {
    let keybag = try currentKeybag()
    try keybag.validate(keys)
    return try Coffer(
      file: file, keybag: keybag, keys: keys.withoutOwner(), slot: nil, machine: machine, clock: clock,
      agents: agents)
  }

  /// Only the captures, with keys that an agent kept: the after-first-unlock key is enough.
  public func captures(_ keys: ClassKeys) throws -> CaptureAccess {
    let binding = try Coffer.bind(file, coffer: id, keys: keys)
    let keychain = KeychainService(keychain: try currentKeybag().openKeychain(file), keys: keys)
    return CaptureAccess(
      store: CaptureStore(file: file, keychain: keychain), keychain: keychain, machine: machine,
      counter: RollbackCounter(file: file, binding: binding, machine: machine, clock: clock), coffer: nil)
  }

  /// The slots as they are now: they may have changed while a prompt was waiting.
  private func currentKeybag() throws -> Keybag { try Self.keybag(file) }

  private func opened(_ keybag: Keybag, _ unlocked: Keybag.Unlocked) throws -> Coffer {
    let coffer = try Coffer(
      file: file, keybag: keybag, keys: unlocked.keys, slot: unlocked.slot, machine: machine, clock: clock,
      agents: agents)
    if !acceptsEarlierState { try coffer.counter.check() }
    // The passphrase or PIN was right, so fingers count again.
    coffer.fingerCount.reset()
    return coffer
  }

  /// How many messages the file has besides those in the trash, not verified.
  public func messageRowCount() throws -> Int {
    let count: StaticString = """
      SELECT (SELECT count(id) FROM messages)
        - (SELECT count(*) FROM messages WHERE message <> x'' AND standing <> 0)
      """
    return Int(try file.read { try $0.firstRow(count) { try $0.integer(0) } } ?? 0)
  }

  /// How many captures the file has, not verified.
  public func captureRowCount() throws -> Int {
    Int(try file.read { try $0.firstRow("SELECT count(*) FROM captures") { try $0.integer(0) } } ?? 0)
  }

  /// How many private keys there are, not verified.
  /// - Throws: `KeychainError` when the keychain does not answer.
  public func privateKeyCount() throws -> Int {
    try PrivateKeyCustody.storedCount(in: currentKeybag().openKeychain(file))
  }

  /// Bytes of the database file.
  public var fileByteCount: Int {
    guard let home else { return 0 }
    let attributes = try? FileManager.default.attributesOfItem(atPath: home + "/" + DatabaseFile.name)
    return (attributes?[.size] as? Int) ?? 0
  }
}

extension LockedCoffer {
  /// The reason why a device cannot open a slot now, as far as known without a PIN; nil when it may.
  public func obstacle(_ device: some DeviceSlotMethod) -> KeybagError? { keybag.obstacle(device) }

  /// Whether the device itself made a slot, as far as it says that without a PIN.
  public func hasSlot(of device: some DeviceSlotMethod) -> Bool { keybag.hasSlot(of: device) }
}

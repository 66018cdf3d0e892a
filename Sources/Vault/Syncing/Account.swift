// SPDX-License-Identifier: Apache-2.0
//
// The account of a coffer: made at a place, opened with each command, or joined by whoever has its address and opens one
// of its slots.

public import Captures
public import Enclaves
public import Histories
public import Keychains
public import Primitives
public import Remotes
public import Secrets
public import Storage
public import Vaults

/// A coffer's account.
public struct AccountLink {
  let file: DatabaseFile
  private let vault: Vault
  private let captures: CaptureStore
  private let items: AccountItems
  private let enclaveOfKind: (EnclaveKind) -> (any Enclave)?
  private let clock: VaultClock

  /// - Parameters:
  ///   - file: the coffer's.
  ///   - vault: whose messages are sent.
  ///   - captures: those that are sent.
  ///   - keychain: keeps the device's keys.
  ///   - enclaveOfKind: this machine's enclaves.
  ///   - clock: tells the time.
  public init(
    file: DatabaseFile, vault: Vault, captures: CaptureStore, keychain: KeychainService,
    enclaveOfKind: @escaping (EnclaveKind) -> (any Enclave)?, clock: VaultClock
  ) {
    self.file = file
    self.vault = vault
    self.captures = captures
    items = AccountItems(keychain: keychain)
    self.enclaveOfKind = enclaveOfKind
    self.clock = clock
  }

  /// The names of the items in the keychain: none of them may come to another machine.
  public static let itemNames = AccountItems.names

  /// The kind of enclave that this device's keys are in; nil without an account.
  public func enclaveKind() throws(KeychainError) -> EnclaveKind? { try items.enclaveKind() }

  // MARK: Opening

  /// Whether this coffer has an account.
  public func exists() throws -> Bool {
    try file.read(.account) { try $0.firstRow("SELECT 1 FROM syncState") { _ in true } ?? false }
  }

  /// Where the account is, with the credentials.
  /// - Throws: `SyncError.noAccount`; `KeychainError`.
  public func place() throws -> RemotePlace {
    guard try exists() else { throw SyncError.noAccount }
    return try items.place()
  }

  /// How many changes wait to be sent, new titles of captures left out, and when all was sent last, in seconds since 1970.
  /// Opens no history.
  /// - Returns: nil without an account; no time for never.
  public func glance() throws -> (waitingCount: Int, lastComplete: Int64?)? {
    guard try exists() else { return nil }
    let store = SyncStore(key: try items.stateKey())
    let contents = VaultContents(vault, captures)
    guard let state = try file.read(.account, store.state),
      let waiting = History.waitingCount(ofState: state.local)
    else {
      throw SyncError.corrupt
    }
    let last = state.lastComplete == 0 ? nil : state.lastComplete
    guard try vault.rowsDigest() + contents.captures.digest() != state.vaultDigest else {
      return (waiting, last)
    }
    guard try file.read(.account, { try store.loadRows($0, into: contents) }) != nil else {
      throw SyncError.corrupt
    }
    let fresh = try LocalChanges(vault, contents).count(contents)
    return (waiting + fresh + (try LocalCaptureChanges(nil, contents.captures).count), last)
  }

  /// Opens the account of this coffer.
  /// - Throws: `SyncError.noAccount`, `.corrupt`; `StorageError`; `KeychainError`.
  public func open() throws -> Synchronizer {
    guard try exists() else { throw SyncError.noAccount }
    let store = SyncStore(key: try items.stateKey())
    let contents = VaultContents(vault, captures)
    let loaded = try file.read(.account) { try store.load($0, into: contents) }
    guard let loaded else { throw SyncError.noAccount }
    let deviceKeys = try items.keys(enclaveOfKind) { History.device(ofState: loaded.state.local)?.signingKey }
    let machine = DeviceMachine(keys: deviceKeys, contents: contents)
    let keys = try items.epochKeys()
    let history: History
    do throws(HistoryDamage) {
      history = try History(
        restoring: loaded.state.local, objects: loaded.objects, keys: keys, on: machine)
    } catch { throw SyncError.corrupt }
    try machine.checkStep()
    return Synchronizer(
      file: file, vault: vault, items: items, store: store, clock: clock, machine: machine, history: history,
      state: loaded.state, storedEpochs: keys.count)
  }

  /// Forgets the account. What is at the place stays there, and so does every message here.
  public func forget() throws {
    try file.withWriting {
      try file.write(.account) { try SyncStore.erase($0) }
      try items.removeAll(enclaveOfKind)
    }
  }

  // MARK: Making an account

  /// Makes an account at a place, with two slots, and reads both back. The first run sends the messages.
  ///
  /// - Parameters:
  ///   - remote: the place.
  ///   - place: its address.
  ///   - passphrase: of the first slot, and of this coffer.
  ///   - words: of the second.
  ///   - costs: of the passphrase.
  ///   - enclave: makes this device's keys.
  ///   - name: of this device, for lists.
  ///   - isAnother: whether another account may be at the place.
  /// - Throws: `SyncError.hasAccount`, `.accountThere`, `.accountBegun`, `.slotNotReadBack`, `.remote`; `Argon2idError`;
  ///   `EnclaveError`; `StorageError.inUse` while another process writes.
  public func make(
    at remote: any Remote, _ place: RemotePlace, passphrase: borrowing Passphrase,
    words: borrowing RecoveryPhrase, costs: Argon2idParameters, enclave: any Enclave, name: String,
    isAnother: Bool = false
  ) throws -> Synchronizer {
    let secrets = [AccountSecret(passphrase), AccountSecret(words)]
    // Held over the requests, unlike in a run: of two who make an account in one coffer, one would have the keys and the
    // other the rows.
    return try file.withWriting {
      guard try !exists() else { throw SyncError.hasAccount }
      let there = try Self.asking { () throws(RemoteError) in try AccountsThere(at: remote) }
      guard there.made.isEmpty || isAnother else { throw SyncError.accountThere(there.made.count) }
      guard there.begun.isEmpty || isAnother else { throw SyncError.accountBegun }
      // Items without a state are of an attempt that ended early.
      try items.removeAll(enclaveOfKind)
      var machine = DeviceMachine(
        keys: try items.makeKeys(in: enclave), contents: VaultContents(vault, captures))
      let secret = machine.randomSecret(AccountAddress.secretByteCount)
      let (owner, now) = (machine.makeKeyPair(), UInt64(clamping: clock.now()))
      let slots = try secrets.map { try NewSlot($0, urlSecret: secret, costs: costs, machine: machine) }
      var made: [(slot: NewSlot, record: AccountSlotRecord)] = []
      let history = History.found(
        entry: entry(machine.keys, name: name), owner: owner, urlSecret: secret,
        slots: { account, genesis, machine in
          slots.map { slot in
            let (record, entry) = slot.make(
              owner: owner, account: account, anchor: genesis, at: now, machine: &machine)
            made.append((slot, record))
            return (entry, record.bytes())
          }
        }, on: &machine)
      try machine.checkStep()
      do {
        for (slot, record) in made { try slot.writeAndReadBack(record, history.account, remote) }
        if !isAnother { try checkIsAlone(history.account, remote) }
      } catch {
        // What cannot be deleted is the beginning of an account.
        for (_, record) in made { try? remote.delete(NewSlot.name(of: record, in: history.account)) }
        throw error
      }
      try items.save(PassphraseEquality(slot: made[0].record.id, file))
      return try keep(history, machine, place, secret)
    }
  }

  /// Another coffer may make an account at the same moment. Each shows itself by its slots before it looks for others, so
  /// that of two at least one sees the other.
  private func checkIsAlone(_ account: AccountID, _ remote: any Remote) throws {
    let now = try Self.asking { () throws(RemoteError) in try AccountsThere(at: remote) }
    guard now.begun.isSubset(of: [account]) else { throw SyncError.accountBegun }
  }

  /// Stores a new account: first what its rows need, then the rows. The caller has the writer's lock.
  private func keep(
    _ history: History, _ machine: DeviceMachine, _ place: RemotePlace, _ secret: SharedSecretBytes
  ) throws -> Synchronizer {
    var history = history
    let store = SyncStore(key: try items.makeStateKey())
    try items.save(place)
    try items.saveSecret(secret)
    try items.save(history.epochKeys)
    var state = SyncState()
    state.local = history.localState()
    let objects = history.takeNewObjects()
    try file.write(.account) { try store.save(&state, objects: objects, contents: machine.contents, $0) }
    return Synchronizer(
      file: file, vault: vault, items: items, store: store, clock: clock, machine: machine, history: history,
      state: state, storedEpochs: history.epochKeys.count)
  }

  private func entry(_ keys: DeviceKeys, name: String) -> DeviceEntry {
    DeviceEntry(
      id: DeviceID(beginningOf: SystemRandom.publicBytes(count: DeviceID.byteCount)),
      signingKey: keys.signing.publicKey, agreementKey: keys.agreement.publicKey, level: keys.level,
      name: DeviceEntry.isName(name) ? name : "device", replaces: nil)
  }

  // MARK: Joining an account

  /// Joins an account with one of its slots: this coffer becomes one of its devices, and has its messages afterwards.
  ///
  /// - Parameters:
  ///   - remote: the place of `address`.
  ///   - address: of the account.
  ///   - secret: opens a slot.
  ///   - opened: the slot that `secret` opens, if the caller has opened it: a passphrase takes long to derive.
  ///   - enclave: makes this device's keys.
  ///   - name: of this device, for lists; with a number behind it if it is taken.
  ///   - isOwn: whether this coffer's passphrase opens the account; nil if nobody knows.
  ///   - choice: says which continuation of the account is right, if it has several; nil for none of them. It may be asked
  ///     again.
  ///   - progress: as of ``Synchronizer/run(_:at:progress:)``.
  /// - Throws: `SyncError.hasAccount`, `.notThere`, `.wrongSecret`, `.refused`, `.remote`; else as a run.
  public func join(
    at remote: any Remote, _ address: AccountAddress, with secret: AccountSecret,
    slot opened: OpenedSlot? = nil, enclave: any Enclave, name: String, isOwn: Bool? = nil,
    choice: (OwnerForkView) throws -> ControlID? = { _ in nil },
    progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> (synchronizer: Synchronizer, report: SyncReport) {
    try checkMayJoin()
    let slot = try opened ?? Self.openSlot(at: remote, address, with: secret)
    let synchronizer = try begin(address, enclave: enclave, name: name)
    do {
      let report = try Self.inForce(slot, at: remote, address, with: secret) { slot in
        if isOwn == true { try synchronizer.noteEqualPassphrase(of: slot.id) }
        return try synchronizer.join(with: slot, at: remote, choice: choice, progress: progress)
      }
      if isOwn == false { try synchronizer.noteOtherPassphrase() }
      return (synchronizer, report)
    } catch {
      // A coffer that did not get in has no account; what it took stays. If another process has begun to join meanwhile,
      // the account is that one's.
      if !synchronizer.history.isMember { try? synchronizer.alone { try forget() } }
      throw error
    }
  }

  /// A join that was killed before this device was added left an account that it has no part in.
  private func checkMayJoin() throws {
    if try exists(), try !open().mayAsk { throw SyncError.hasAccount }
  }

  /// A device with new keys that knows of its account only the card. Of two who begin at once, the later one goes on; the
  /// other one's next step is `SyncError.busy`.
  /// - Throws: `SyncError.hasAccount` when this coffer belongs to an account meanwhile.
  func begin(_ address: AccountAddress, enclave: any Enclave, name: String) throws -> Synchronizer {
    try file.withWriting {
      try checkMayJoin()
      try forget()
      let machine = DeviceMachine(
        keys: try items.makeKeys(in: enclave), contents: VaultContents(vault, captures))
      let entry = entry(machine.keys, name: name)
      return try keep(
        History(joining: address.account, entry: entry), machine, address.place, address.secret)
    }
  }

  /// Opens the account without joining it and without writing anything, here or there. Between continuations of the account
  /// it chooses as this coffer did.
  /// - Returns: the digest of all records that the remote has, whether every content was got and is right, and how many
  ///   records are shown.
  public func drill(
    at remote: any Remote, _ address: AccountAddress, with secret: AccountSecret,
    enclave: any Enclave, progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> AccountDrill {
    let slot = try Self.openSlot(at: remote, address, with: secret)
    let choices = try exists() ? open().history.ownerChoices : []
    return try Self.inForce(slot, at: remote, address, with: secret) { slot in
      try AccountDrill(
        remote, address, slot: slot, choices: choices, now: UInt64(clamping: clock.now()), progress: progress)
    }
  }

  private static func asking<R>(_ body: () throws(RemoteError) -> R) throws -> R {
    do throws(RemoteError) { return try body() } catch { throw SyncError.remote(error) }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// What the owner of an account does with an open slot: members and slots come and go, each by one signed operation of
// the control log. The next run sends it.

internal import Primitives

extension History {
  /// A device that knows of its account only the name, until it is approved or a slot is opened on it.
  public init(joining account: AccountID, entry: DeviceEntry) {
    self.account = account
    device = entry.id
    self.entry = entry
    log = ControlLog(account: account)
    membership = Membership(log, settled: [:])
  }

  /// The first device of a new account.
  public static func found(
    entry: DeviceEntry, owner: KeyPair, slots: [(entry: SlotEntry, object: [UInt8])], at now: UInt64,
    on machine: inout some Machine
  ) -> History {
    let keys = EpochKeys(number: 1, key: machine.randomSecret(32))
    let genesis = ControlOperation(
      account: nil, random: machine.random(16), generation: 1, number: 0, parents: [], frontier: [],
      envelopesHash: ControlSeal.hash(ofEnvelopes: []), handsOut: [],
      kind: .genesis(Genesis(ownerKey: owner.publicKey, device: entry, epochCommitment: keys.commitment)))
    let signed = SignedControlOperation(
      genesis, signature: machine.signature(of: genesis.signedBytes(), by: .memory(owner)),
      newOwnerSignature: nil)
    var history = History(joining: AccountID(beginningOf: signed.id.bytes), entry: entry)
    history.keys[keys.name] = keys
    let object = ControlSeal.seal(signed, envelopes: [], account: history.account, keys: keys)
    history.insertOwn(signed, object: object, epoch: keys.name, tags: [], on: machine)
    for (slot, object) in slots {
      history.slotObjects[slot.object] = object
      do {
        try history.write(.addSlot(slot), to: [.slot(slot)], owner: owner, on: &machine)
      } catch {
        preconditionFailure("the maker of an account has the key of its first epoch: \(error)")
      }
    }
    return history
  }

  /// Carries out a change of the account. If it is refused, nothing of the slot stays here but what its keys opened of
  /// the control log.
  mutating func changeAccount(
    _ change: AccountChange, with slot: OpenedSlot, on machine: inout some Machine
  ) -> [Effect] {
    let keysBefore = keys
    openWithSlot(slot, on: machine)
    if case .settle(let at, let branch) = change, membership.fork?.at == at,
      membership.fork?.branches.contains(branch) == true
    {
      settled[at] = branch
      membershipChanged(on: machine)
    }
    var effects: [Effect] = []
    do throws(Outcome) {
      try checkMay(change)
      guard let owner = ownerKeys(of: slot, on: machine) else { throw .notOwner }
      effects = try carryOut(change, owner: owner, on: &machine)
      if somebodyLacksKeys { try rekey(revoking: [], owner: owner, on: &machine) }
      // What waits for a parent may revoke this device: keys of it are not for this device to keep.
      let begun = Set(log.entries.values.compactMap(\.begins))
      keys = keys.filter { begun.contains($0.key) || keysBefore[$0.key] != nil }
      return effects + [.ended(.complete)]
    } catch {
      keys = keysBefore
      openOwnEnvelopes(on: machine)
      return effects + [.ended(error)]
    }
  }

  /// Whether this device may carry out a change: whoever begins an epoch holds its key, so that only members do.
  private func checkMay(_ change: AccountChange) throws(Outcome) {
    if case .rejoin = change {
      if membership.fork != nil { throw .ownerForked }
      return
    }
    if let stop { throw stop }
    if membership.fork != nil { throw .ownerForked }
    if case .approve(let new) = change, new.id == device { return }
    guard membership.isMember(device) else { throw .notMember }
  }

  private mutating func carryOut(
    _ change: AccountChange, owner: KeyPair, on machine: inout some Machine
  ) throws(Outcome) -> [Effect] {
    switch change {
    case .settle: break
    case .approve(let device):
      guard membership.devices[device.id] == nil, membership.revocations[device.id] == nil else {
        throw .notMember
      }
      try write(.addDevice(device), to: [.device(device)], owner: owner, on: &machine)
    case .addSlot(let slot):
      try write(.addSlot(slot), to: [.slot(slot)], owner: owner, on: &machine)
    case .revoke(let devices, let heads):
      try rekey(revoking: devices, heads: heads, owner: owner, on: &machine)
    case .replaceSlots(let removing, let adding):
      // A slot that this device does not know may have keys that it does not know of either.
      guard removing.allSatisfy({ membership.slots[$0] != nil }) else { throw .notOwner }
      let newOwner = machine.makeKeyPair()
      try rekey(
        revoking: [], removing: removing, adding: adding, owner: owner, newOwner: newOwner, on: &machine)
    case .rejoin(let entry):
      return try rejoin(entry, owner: owner, on: &machine)
    case .handOutKeys:
      try rekey(revoking: [], owner: owner, on: &machine)
    }
    return []
  }

  /// Which owner key a slot brings now; nil if it was removed, or never belonged here.
  private func ownerKeys(of slot: OpenedSlot, on machine: some Machine) -> KeyPair? {
    guard membership.slots[slot.id]?.agreementKey == slot.agreement.publicKey, let owner = membership.owner,
      let publicKey = log.entries[owner]?.newOwnerKey
    else { return nil }
    if slot.owner.publicKey == publicKey { return slot.owner }
    for entry in log.ordered {
      for contents in openedEnvelopes(of: entry.object, epoch: entry.epoch, slot: slot, on: machine) {
        if let keys = contents.owner, keys.publicKey == publicKey { return keys }
      }
    }
    return nil
  }

  private func openedEnvelopes(
    of object: [UInt8], epoch: EpochName, slot: OpenedSlot, on machine: some Machine
  ) -> [EnvelopeContents] {
    let tag = Envelope.tag(publicKey: slot.agreement.publicKey, epoch: epoch)
    return ((try? ControlSeal.envelopes(of: object)) ?? []).compactMap { envelope in
      guard (try? Envelope.tag(of: envelope)) == tag else { return nil }
      return try? Envelope.open(
        envelope, recipient: .slot(slot.id), publicKey: slot.agreement.publicKey,
        key: .memory(slot.agreement),
        epoch: epoch, account: account, machine: machine)
    }
  }

  /// Opens the control operations that waited for a key which this slot has.
  private mutating func openWithSlot(_ slot: OpenedSlot, on machine: some Machine) {
    for entry in log.ordered {
      for contents in openedEnvelopes(of: entry.object, epoch: entry.epoch, slot: slot, on: machine) {
        for keys in contents.epochKeys where self.keys[keys.name] == nil { self.keys[keys.name] = keys }
      }
    }
    openControl(slot: slot, on: machine)
    membershipChanged(on: machine)
  }
}

// MARK: Writing control operations

/// Who gets an envelope.
enum Recipient {
  case device(DeviceEntry)
  case slot(SlotEntry)

  var publicKey: [UInt8] {
    switch self {
    case .device(let device): device.agreementKey
    case .slot(let slot): slot.agreementKey
    }
  }

  var name: EnvelopeRecipient {
    switch self {
    case .device(let device): .device(device.id)
    case .slot(let slot): .slot(slot.id)
    }
  }
}

extension History {
  /// A new epoch for everybody who stays.
  mutating func rekey(
    revoking devices: [DeviceID], heads: [SegmentName]? = nil, removing slots: [SlotID] = [],
    adding newSlots: [SlotEntry] = [], owner: KeyPair, newOwner: KeyPair? = nil,
    on machine: inout some Machine
  ) throws(Outcome) {
    let number = (log.highestEpoch(of: headsThatCount())?.number ?? 0) + 1
    let epoch = EpochKeys(number: number, key: machine.randomSecret(32))
    let revocations = devices.sorted().map { device in
      let counted = heads?.filter { $0.device == device } ?? (chains.heads[device] ?? [])
      return Rekey.Revocation(device: device, heads: counted.sorted())
    }
    let leaving = Set(devices)
    let staying =
      membership.members.filter { !leaving.contains($0) }.compactMap { membership.devices[$0] }
      .map(Recipient.device)
      + membership.slots.values.filter { !slots.contains($0.id) }.sorted { $0.id < $1.id }.map(Recipient.slot)
      + newSlots.map(Recipient.slot)
    try write(
      .rekey(
        Rekey(
          revocations: revocations, removedSlots: slots.sorted(),
          addedSlots: newSlots.sorted { $0.id < $1.id },
          newOwnerKey: newOwner?.publicKey, epochCommitment: epoch.commitment)),
      to: staying, owner: owner, newOwner: newOwner, epoch: epoch, on: &machine)
  }

  /// This device leaves its identifier to the copy that writes under it, and goes on under a new one.
  private mutating func rejoin(
    _ new: DeviceEntry, owner: KeyPair, on machine: inout some Machine
  ) throws(Outcome) -> [Effect] {
    let old = device
    try write(.addDevice(new), to: [.device(new)], owner: owner, on: &machine)
    if membership.isMember(old) { try rekey(revoking: [old], owner: owner, on: &machine) }
    let lost = chains.ordered.filter { $0.name.device == old && !counting.contains($0.name) }
    let changes = lost.flatMap { $0.segment.operations.compactMap(LocalChange.init) } + pendingChanges
    for pack in staged?.packs ?? [] { givenUp.insert(pack.hash) }
    staged = nil
    outbox = []
    device = new.id
    entry = new
    isCloned = false
    let effects = repeatChanges(changes, on: machine)
    membershipChanged(on: machine)
    return effects
  }

  /// Says changes again in the name of the device's new identifier. Their versions change with it.
  private mutating func repeatChanges(_ changes: [LocalChange], on machine: some Machine) -> [Effect] {
    var effects: [Effect] = []
    var renamed: [RecordVersion: Version] = [:]
    for change in changes {
      switch change {
      case .add(let record, let storedAt, let old, let replaces, let hash):
        // A device that was put back to an earlier state has sent this before.
        if let known = records.versions[record]?[old], counts(known) { continue }
        guard let frame = machine.frame(of: record, version: old) else { continue }
        let replaces = replaces.map { renamed[RecordVersion(record: record, version: $0)] ?? $0 }.sorted()
        let version = Addition.version(
          lamport: chains.lamport + 1, device: device, record: record, storedAt: storedAt, replaces: replaces,
          frameHash: hash)
        renamed[RecordVersion(record: record, version: old)] = version
        outbox.append(
          .add(record: record, storedAt: storedAt, version: version, replaces: replaces, frameHash: hash))
        effects += [
          .keep(record: record, version: version, frame: frame), .drop(record: record, version: old),
        ]
      case .remove(let record, let versions):
        let versions = versions.map { renamed[RecordVersion(record: record, version: $0)] ?? $0 }
        outbox.append(.remove(record: record, versions: versions.sorted()))
      case .place:
        outbox.append(change)
      }
    }
    return effects
  }

  /// Signs, seals and takes in a control operation, with an envelope of all keys for each recipient.
  private mutating func write(
    _ kind: ControlOperation.Kind, to recipients: [Recipient], owner: KeyPair, newOwner: KeyPair? = nil,
    epoch: EpochKeys? = nil, on machine: inout some Machine
  ) throws(Outcome) {
    let parents = headsThatCount()
    guard let sealing = log.highestEpoch(of: parents), let sealingKeys = keys[sealing] else {
      throw .noSafeEpoch
    }
    if let epoch { keys[epoch.name] = epoch }
    // Keys that the slot opened and whose operation waits for a parent stay here: that operation may revoke somebody.
    let begun = Set(log.entries.values.compactMap(\.begins))
    let known =
      ([epoch].compactMap { $0 }
        + keys.values.sorted { $1.name < $0.name }.filter { begun.contains($0.name) && $0.name != epoch?.name })
    let envelopes = recipients.map { recipient in
      var contents = EnvelopeContents(epochKeys: known, urlSecret: nil, owner: nil)
      if case .slot = recipient { contents.owner = newOwner ?? owner }
      return Envelope.seal(
        contents, to: recipient.name, publicKey: recipient.publicKey, epoch: sealing, account: account,
        machine: &machine)
    }
    let operation = ControlOperation(
      account: account, random: machine.random(16),
      generation: UInt32(
        log.entries.values.filter { $0.newOwnerKey != nil && isBefore($0.id, parents) }.count),
      number: (parents.compactMap { log.entries[$0]?.operation.number }.max() ?? 0) + 1, parents: parents,
      frontier: chains.frontier, envelopesHash: ControlSeal.hash(ofEnvelopes: envelopes),
      handsOut: known.map(\.name).sorted(), kind: kind)
    let bytes = operation.signedBytes()
    let signed = SignedControlOperation(
      operation, signature: machine.signature(of: bytes, by: .memory(owner)),
      newOwnerSignature: newOwner.map { machine.signature(of: bytes, by: .memory($0)) })
    let object = ControlSeal.seal(signed, envelopes: envelopes, account: account, keys: sealingKeys)
    insertOwn(
      signed, object: object, epoch: sealing, tags: Set(envelopes.compactMap { try? Envelope.tag(of: $0) }),
      on: machine)
  }

  private mutating func insertOwn(
    _ signed: SignedControlOperation, object: [UInt8], epoch: EpochName, tags: Set<[UInt8]>,
    on machine: some Machine
  ) {
    do {
      _ = try log.insert(signed, object: object, epoch: epoch, tags: tags, machine: machine)
    } catch {
      preconditionFailure("an operation of our own fits the log: \(error)")
    }
    membershipChanged(on: machine)
  }

  /// The last operations that count: the parents of the next one.
  private func headsThatCount() -> [ControlID] {
    let counting = membership.counting
    let followed = counting.reduce(into: Set<ControlID>()) { $0.formUnion(log.entries[$1]?.ancestors ?? []) }
    return counting.subtracting(followed).sorted()
  }

  private func isBefore(_ id: ControlID, _ heads: [ControlID]) -> Bool {
    heads.contains { $0 == id || log.entries[$0]?.ancestors.contains(id) == true }
  }
}

extension LocalChange {
  /// The change that an operation of our own was made of.
  init?(_ operation: Operation) {
    switch operation {
    case .add(let addition):
      self = .add(
        record: addition.record, storedAt: addition.storedAt, version: addition.version,
        replaces: addition.replaces, frameHash: addition.frameHash)
    case .remove(let removal): self = .remove(record: removal.record, versions: removal.versions)
    case .place(let new): self = .place(record: new.record, version: new.version, frameHash: new.frameHash)
    case .unknown: return nil
    }
  }
}

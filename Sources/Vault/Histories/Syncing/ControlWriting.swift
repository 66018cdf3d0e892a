// SPDX-License-Identifier: Apache-2.0
//
// Writing control operations: signed by the owner, sealed under the highest epoch before them, with an envelope of all
// keys for each recipient.

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
  mutating func rejoin(
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
  mutating func write(
    _ kind: ControlOperation.Kind, to recipients: [Recipient], owner: KeyPair, newOwner: KeyPair? = nil,
    epoch: EpochKeys? = nil, on machine: inout some Machine
  ) throws(Outcome) {
    let parents = headsThatCount()
    guard let sealing = log.highestEpoch(of: parents), let sealingKeys = keys[sealing] else {
      throw .noSafeEpoch
    }
    if let epoch { keys[epoch.name] = epoch }
    // Keys that the slot opened and whose operation waits for a parent stay here: that operation may revoke somebody.
    let begun = log.begunEpochs
    let known =
      ([epoch].compactMap { $0 }
        + keys.values.sorted { $1.name < $0.name }.filter {
          begun.contains($0.name) && $0.name != epoch?.name
        })
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
        log.upTo(parents).filter { log.entries[$0]?.newOwnerKey != nil }.count),
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

  mutating func insertOwn(
    _ signed: SignedControlOperation, object: [UInt8], epoch: EpochName, tags: Set<[UInt8]>,
    on machine: some Machine
  ) {
    do {
      try log.insert(signed, object: object, epoch: epoch, tags: tags, machine: machine)
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
}

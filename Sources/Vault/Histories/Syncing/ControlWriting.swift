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
    try checkRoomForEpoch()
    let parents = headsThatCount().prefix(ControlOperation.parentLimit)
    let number = (log.highestEpoch(of: Array(parents))?.number ?? 0) + 1
    var revocations = Set(devices).map { device in
      let counted = heads.map { Set($0.filter { $0.device == device }) } ?? Set(chains.heads[device] ?? [])
      return Rekey.Revocation(device: device, heads: counted.sorted().suffix(Rekey.headLimit).map(\.self))
    }
    // What a branch that does not count took away is said again: the new epoch cannot come after that branch.
    let known = log.gone(before: parents)
    for (device, others) in membership.revocations
    where !known.devices.contains(device) && !devices.contains(device) {
      revocations += others.prefix(1).map { Rekey.Revocation(device: device, heads: $0.heads) }
    }
    revocations.sort { $0.device < $1.device }
    let gone = membership.removedSlots.subtracting(known.slots).union(slots)
    let context =
      parents.flatMap(\.bytes) + revocations.flatMap(\.device.bytes) + gone.sorted().flatMap(\.bytes)
    let epoch = EpochKeys(
      number: number,
      key: EpochKeys.newKey(machine.randomSecret(32), for: context + (newOwner?.publicKey ?? [])))
    let leaving = Set(devices)
    let staying =
      membership.members.filter { !leaving.contains($0) }.compactMap { membership.devices[$0] }
      .map(Recipient.device)
      + membership.slots.values.filter { !slots.contains($0.id) }.sorted { $0.id < $1.id }.map(Recipient.slot)
      + newSlots.map(Recipient.slot)
    try write(
      .rekey(
        Rekey(
          revocations: revocations, removedSlots: gone.sorted().prefix(Int(UInt8.max)).map(\.self),
          addedSlots: newSlots.sorted { $0.id < $1.id },
          newOwnerKey: newOwner?.publicKey, epochCommitment: epoch.commitment)),
      to: staying, owner: owner, newOwner: newOwner, epoch: epoch, on: &machine)
  }

  /// Refuses another epoch if an envelope has no room for its key.
  private func checkRoomForEpoch() throws(Outcome) {
    guard keys.keys.count(where: { log.begins($0) }) < limits.epochCount else { throw .tooManyEpochs }
  }

  /// This device leaves its identifier to the copy that writes under it, and goes on under a new one.
  mutating func rejoin(
    _ new: DeviceEntry, owner: KeyPair, on machine: inout some Machine
  ) throws(Outcome) -> [Effect] {
    let old = device
    if membership.isMember(old) { try checkRoomForEpoch() }
    try write(.addDevice(new), to: [.device(new)], owner: owner, on: &machine)
    if membership.isMember(old) { try rekey(revoking: [old], owner: owner, on: &machine) }
    let pending = pendingChanges
    for pack in staged?.packs ?? [] { givenUp.insert(pack.hash) }
    staged = nil
    outbox = []
    former.insert(old)
    notReadBack = [:]
    device = new.id
    entry = new
    isCloned = false
    return sayAgain(whatIsCutOff(of: [old]) + pending, on: machine)
  }

  /// Signs, seals and takes in a control operation, with an envelope of all keys for each recipient.
  mutating func write(
    _ kind: ControlOperation.Kind, to recipients: [Recipient], owner: KeyPair, newOwner: KeyPair? = nil,
    epoch: EpochKeys? = nil, on machine: inout some Machine
  ) throws(Outcome) {
    let parents = Array(headsThatCount().prefix(ControlOperation.parentLimit))
    guard let sealing = log.highestEpoch(of: parents), let sealingKeys = keys[sealing] else {
      throw .noSafeEpoch
    }
    // Keys that the slot opened and whose operation waits for a parent stay here: that operation may revoke somebody.
    let known =
      ([epoch].compactMap { $0 }
        + keys.values.sorted { $1.name < $0.name }.filter {
          log.begins($0.name) && $0.name != epoch?.name
        })
    guard known.count <= limits.epochCount else { throw .tooManyEpochs }
    let envelopes = recipients.map { recipient in
      var contents = EnvelopeContents(epochKeys: known, urlSecret: urlSecret, owner: nil)
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
      frontier: chains.namedFrontier, envelopesHash: ControlSeal.hash(ofEnvelopes: envelopes),
      handsOut: known.map(\.name).sorted(), kind: kind)
    let bytes = operation.signedBytes()
    let signed = SignedControlOperation(
      operation, signature: machine.signature(of: bytes, by: .memory(owner)),
      newOwnerSignature: newOwner.map { machine.signature(of: bytes, by: .memory($0)) })
    guard ControlSeal.byteCount(of: signed, envelopes: envelopes) <= ControlSeal.byteCountLimit else {
      throw .tooManyEpochs
    }
    let object = ControlSeal.seal(signed, envelopes: envelopes, account: account, keys: sealingKeys)
    if let epoch { keys[epoch.name] = epoch }
    try insertOwn(
      signed, object: object, epoch: sealing, tags: Set(envelopes.compactMap { try? Envelope.tag(of: $0) }),
      on: machine)
  }

  mutating func insertOwn(
    _ signed: SignedControlOperation, object: [UInt8], epoch: EpochName, tags: Set<[UInt8]>,
    on machine: some Machine
  ) throws(Outcome) {
    do {
      try log.insert(signed, object: object, epoch: epoch, tags: tags, machine: machine)
    } catch {
      // The private key of the slot that was opened is another one than its public key says.
      throw .notOwner
    }
    if let entry = log.entries[signed.id] {
      newObjects.append(StoredObject(name: entry.name, object: object))
    }
    membershipChanged(on: machine)
  }

  /// The last operations that count: the parents of the next one.
  func headsThatCount() -> [ControlID] {
    let counting = membership.counting
    let followed = counting.reduce(into: Set<ControlID>()) { $0.formUnion(log.entries[$1]?.ancestors ?? []) }
    return counting.subtracting(followed).sorted()
  }
}

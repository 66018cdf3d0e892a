// SPDX-License-Identifier: Apache-2.0
//
// What the owner of an account does with an open slot: members and slots come and go, each by one signed operation of
// the control log. The next run sends it.

internal import Primitives
public import Secrets

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
  /// - Parameters:
  ///   - urlSecret: of the account's URL, 16 bytes.
  ///   - slots: makes the account's slots, once its name and its first operation are known.
  public static func found<M: Machine>(
    entry: DeviceEntry, owner: KeyPair, urlSecret: SharedSecretBytes,
    slots: (AccountID, ControlID, inout M) -> [(entry: SlotEntry, object: [UInt8])],
    on machine: inout M
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
    history.urlSecret = urlSecret
    defer { history.urlSecret = nil }
    let object = ControlSeal.seal(signed, envelopes: [], account: history.account, keys: keys)
    do {
      try history.insertOwn(signed, object: object, epoch: keys.name, tags: [], on: machine)
      for (slot, object) in slots(history.account, signed.id, &machine) {
        history.keepSlot(object, hash: slot.object)
        try history.write(.addSlot(slot), to: [.slot(slot)], owner: owner, on: &machine)
      }
    } catch {
      preconditionFailure("the maker of an account has all of its keys: \(error)")
    }
    return history
  }

  /// Carries out a change of the account. If it is refused, nothing of the slot stays here but what its keys opened of
  /// the control log.
  mutating func changeAccount(
    _ change: AccountChange, with slot: OpenedSlot, at now: UInt64, on machine: inout some Machine
  ) -> [Effect] {
    noteLateRemovals(at: now)
    let keysBefore = keys
    var known: Set<ControlID> = []
    if case .settle(let at, _) = change { known = successors(of: at) }
    openWithSlot(slot, on: machine)
    if case .settle(let at, let branch) = change { settle(at, on: branch, among: known, machine) }
    var effects: [Effect] = []
    do throws(Outcome) {
      if let anchor = slot.anchor, log.entries[anchor] == nil { throw .older }
      try checkMay(change)
      guard let owner = ownerKeys(of: slot, on: machine) else { throw .notOwner }
      urlSecret = urlSecret(of: slot, on: machine)
      // So that the operation can name all that was done before.
      while headsThatCount().count > ControlOperation.parentLimit {
        try rekey(revoking: [], owner: owner, on: &machine)
      }
      effects = try carryOut(change, owner: owner, on: &machine)
      if somebodyLacksKeys || writingKeys() == nil { try rekey(revoking: [], owner: owner, on: &machine) }
      // What waits for a parent may revoke this device: keys of it are not for this device to keep.
      keys = keys.filter { log.begins($0.key) || keysBefore[$0.key] != nil }
      return effects + [.ended(.complete)]
    } catch {
      keys = keysBefore
      openOwnEnvelopes(on: machine)
      return effects + [.ended(error)]
    }
  }

  /// The user chooses a branch of an owner key that forked, or another one than before: when the choice was made here, a
  /// branch that was chosen elsewhere may not have been here yet.
  /// - Parameter known: the successors that the user was shown: a slot may have opened others since.
  private mutating func settle(
    _ at: ControlID, on branch: ControlID, among known: Set<ControlID>, _ machine: some Machine
  ) {
    guard membership.fork?.at == at || settled[at] != nil, branch == at || known.contains(branch) else {
      return
    }
    settled[at] = branch == at ? .former(rejecting: known) : .successor(branch)
    membershipChanged(on: machine)
    // The user has seen what the continuations did.
    if alarms.isEmpty { releaseAfterAlarm(on: machine) }
  }

  /// The operations that brought another owner key after this one's.
  private func successors(of owner: ControlID) -> Set<ControlID> {
    Set(log.entries.values.filter { $0.owner == owner && $0.id != owner && $0.newOwnerKey != nil }.map(\.id))
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
      try checkKeys(.addDevice(device), on: machine)
      try write(.addDevice(device), to: [.device(device)], owner: owner, on: &machine)
      // A device that joins learns from the log which names are taken.
      if device.id == self.device { entry = device }
    case .addSlot(let slot):
      try checkKeys(.addSlot(slot), on: machine)
      try write(.addSlot(slot), to: [.slot(slot)], owner: owner, on: &machine)
    case .revoke(let devices, let heads):
      try rekey(revoking: devices, heads: heads, owner: owner, on: &machine)
    case .replaceSlots(let removing, let adding, let newSecret):
      // A slot that this device does not know may have keys that it does not know of either.
      guard removing.allSatisfy({ membership.slots[$0] != nil }) else { throw .notOwner }
      guard !adding.isEmpty || !Set(membership.slots.keys).isSubset(of: removing) else { throw .lastSlot }
      for slot in adding { try checkKeys(.addSlot(slot), on: machine) }
      guard Set(adding.map(\.id)).count == adding.count else { throw .keyInUse }
      let newOwner = try newOwner(on: &machine)
      urlSecret = newSecret ?? urlSecret
      try rekey(
        revoking: [], removing: removing, adding: adding, owner: owner, newOwner: newOwner, on: &machine)
    case .rejoin(let entry):
      try checkKeys(.addDevice(entry), on: machine)
      return try rejoin(entry, owner: owner, on: &machine)
    case .handOutKeys:
      try rekey(revoking: [], owner: owner, on: &machine)
    }
    return []
  }

  /// An owner key that this account never had: another copy of this device may have drawn the same.
  private func newOwner(on machine: inout some Machine) throws(Outcome) -> KeyPair {
    let used = Set(
      log.entries.values.flatMap { $0.operation.kind.memberKeys + [$0.newOwnerKey].compactMap(\.self) })
    for _ in 0..<16 {
      let keys = machine.makeKeyPair()
      if !used.contains(keys.publicKey) { return keys }
    }
    throw .keyInUse
  }

  /// Refuses a device or a slot that no log would take.
  private func checkKeys(_ kind: ControlOperation.Kind, on machine: some Machine) throws(Outcome) {
    guard kind.memberKeys.allSatisfy({ machine.isPublicKey($0) }), kind.newDevice?.isInForm != false else {
      throw .keyInvalid
    }
    guard log.keysHaveOneUse(kind, after: Set(log.entries.keys)) else { throw .keyInUse }
  }

  /// Which owner key a slot brings now; nil if it was removed, or never belonged here.
  private func ownerKeys(of slot: OpenedSlot, on machine: some Machine) -> KeyPair? {
    guard membership.slots[slot.id]?.agreementKey == slot.agreement.publicKey, let owner = membership.owner,
      let publicKey = log.entries[owner]?.newOwnerKey
    else { return nil }
    if slot.owner.publicKey == publicKey { return slot.owner }
    for entry in log.ordered {
      for contents in openedEnvelopes(of: entry.object, epoch: entry.epoch, for: slot, on: machine) {
        if let keys = contents.owner, keys.publicKey == publicKey { return keys }
      }
    }
    return nil
  }

  /// Opens the control operations that waited for a key which this slot has.
  private mutating func openWithSlot(_ slot: OpenedSlot, on machine: some Machine) {
    for entry in log.ordered { openEnvelopes(of: entry.object, epoch: entry.epoch, slot: slot, on: machine) }
    openControl(slot: slot, on: machine)
    membershipChanged(on: machine)
  }
}

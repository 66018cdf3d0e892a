// SPDX-License-Identifier: Apache-2.0
//
// The control log: a graph of what owners signed, merged by union. An operation enters it only if its place in the
// graph and its signatures are right. Which of them count is another question; Membership answers it.

/// An operation of the log with what its object says in the clear. It never changes, and many look at it: a reference is
/// not copied.
final class LogEntry: Sendable {
  let id: ControlID
  let operation: ControlOperation
  /// The sealed bytes, kept so that a remote that lost them gets them back.
  let object: [UInt8]
  let name: ObjectName
  /// The epoch that the object is sealed under.
  let epoch: EpochName
  /// The tags of its envelopes: who got keys with it.
  let tags: Set<[UInt8]>
  /// All operations before it.
  let ancestors: Set<ControlID>
  /// The operation that brought the owner key which signed it: `genesis`, or a `rekey` with a new owner key.
  let owner: ControlID
  /// The epoch that it begins, if it begins one.
  let begins: EpochName?

  init(
    id: ControlID, operation: ControlOperation, object: [UInt8], epoch: EpochName, tags: Set<[UInt8]>,
    ancestors: Set<ControlID>, owner: ControlID, begins: EpochName?
  ) {
    self.id = id
    self.operation = operation
    self.object = object
    name = .control(number: operation.number, ObjectHash(hashing: object))
    self.epoch = epoch
    self.tags = tags
    self.ancestors = ancestors
    self.owner = owner
    self.begins = begins
  }

  /// The owner key that it brings, if any.
  var newOwnerKey: [UInt8]? { operation.kind.newOwnerKey }

  /// What the operation does, if it is a `rekey`.
  var rekey: Rekey? {
    if case .rekey(let rekey) = operation.kind { rekey } else { nil }
  }
}

/// Why an operation does not enter the log.
enum LogRefusal: Error, Equatable, Sendable {
  /// A parent is not here yet.
  case parentMissing
  /// Signature, generation, parents, number or account do not fit: not from an owner of this account.
  case notOfThisAccount
}

/// All operations of an account that this device knows.
struct ControlLog: Sendable {
  let account: AccountID
  private(set) var entries: [ControlID: LogEntry] = [:]
  /// Operations that no other names as parent, in rising order.
  private(set) var heads: [ControlID] = []
  /// The names of all objects.
  private(set) var names: Set<ObjectName> = []
  /// The objects of all slots that were ever added, in whatever branch.
  private(set) var slotObjects: Set<ObjectHash> = []
  private var devices: [DeviceID: (entry: DeviceEntry, number: UInt64, id: ControlID)] = [:]
  private var commitments: [EpochName: Set<[UInt8]>] = [:]

  init(account: AccountID) { self.account = account }

  /// All operations, each after its parents; the same order on every device.
  var ordered: [LogEntry] {
    entries.values.sorted { ($0.operation.number, $0.id) < ($1.operation.number, $1.id) }
  }

  /// The first operation; nil before it is known.
  var genesis: LogEntry? { entries.values.first { $0.operation.number == 0 } }

  /// Takes an operation in; does nothing if it is here.
  mutating func insert(
    _ signed: SignedControlOperation, object: [UInt8], epoch: EpochName, tags: Set<[UInt8]>,
    machine: some Machine
  ) throws(LogRefusal) {
    let operation = signed.operation
    guard entries[signed.id] == nil else { return }
    let ancestors = try ancestors(of: operation, id: signed.id)
    guard keysHaveOneUse(operation.kind, after: ancestors),
      // Nobody could seal to what is not a point, and the next operation has an envelope for everybody.
      operation.kind.memberKeys.allSatisfy({ machine.isPublicKey($0) })
    else { throw .notOfThisAccount }
    let owner = try owner(of: signed, ancestors: ancestors, machine: machine)
    if let newOwnerKey = operation.newOwnerKeyOfRekey {
      guard let signature = signed.newOwnerSignature,
        machine.isSignature(signature, of: signed.signedBytes, by: newOwnerKey)
      else { throw .notOfThisAccount }
    }
    let entry = LogEntry(
      id: signed.id, operation: operation, object: object, epoch: epoch, tags: tags, ancestors: ancestors,
      owner: owner, begins: epochBegun(by: operation, ancestors: ancestors))
    entries[entry.id] = entry
    names.insert(entry.name)
    if let begun = entry.begins, let commitment = operation.epochCommitment {
      commitments[begun, default: []].insert(commitment)
    }
    slotObjects.formUnion(operation.kind.newSlots.map(\.object))
    if let device = operation.kind.newDevice {
      let known = devices[device.id]
      if known.map({ (operation.number, entry.id) < ($0.number, $0.id) }) ?? true {
        devices[device.id] = (device, operation.number, entry.id)
      }
    }
    heads = (heads.filter { !operation.parents.contains($0) } + [entry.id]).sorted()
  }

  /// These operations and all before them.
  func upTo(_ heads: [ControlID]) -> Set<ControlID> {
    heads.reduce(into: Set(heads)) { $0.formUnion(entries[$1]?.ancestors ?? []) }
  }

  /// Whether an operation here begins an epoch.
  func begins(_ epoch: EpochName) -> Bool { commitments[epoch] != nil }

  /// Whether a key is the one that an owner signed the commitment of, as far as operations here begin the epoch. A name
  /// has only four bytes of it, which a member could find another key for.
  func fits(_ keys: EpochKeys) -> Bool { commitments[keys.name].map { $0 == [keys.commitment] } ?? true }

  /// The highest epoch that these operations or those before them began: the one that their child is sealed under.
  func highestEpoch(of parents: [ControlID]) -> EpochName? {
    upTo(parents).compactMap { entries[$0] }.filter { $0.begins != nil }
      .min { ($1.begins?.number ?? 0, $0.id) < ($0.begins?.number ?? 0, $1.id) }?.begins
  }

  /// The oldest entry of a device, in whatever branch: a segment is verified with its key.
  func device(_ id: DeviceID) -> DeviceEntry? { devices[id]?.entry }

  /// Every device that was ever added, in whatever branch.
  var allDevices: some Collection<DeviceID> { devices.keys }

  // MARK: Checks

  /// Whether the keys that an operation brings have one use each: what signs for a device must not sign for the owner,
  /// nor what opens envelopes sign at all.
  func keysHaveOneUse(_ kind: ControlOperation.Kind, after ancestors: Set<ControlID>) -> Bool {
    let before = ancestors.compactMap { entries[$0] }
    var owners = Set(before.compactMap(\.newOwnerKey))
    let members = Set(before.flatMap { $0.operation.kind.memberKeys })
    if let owner = kind.newOwnerKey, !owners.insert(owner).inserted || members.contains(owner) {
      return false
    }
    if let device = kind.newDevice, device.signingKey == device.agreementKey { return false }
    return owners.isDisjoint(with: kind.memberKeys)
  }

  private func ancestors(of operation: ControlOperation, id: ControlID) throws(LogRefusal) -> Set<ControlID> {
    if case .genesis = operation.kind {
      guard operation.number == 0, operation.parents.isEmpty, operation.account == nil,
        AccountID(beginningOf: id.bytes) == account
      else { throw .notOfThisAccount }
      return []
    }
    guard operation.account == account, !operation.parents.isEmpty else { throw .notOfThisAccount }
    var ancestors = Set(operation.parents)
    var highest: UInt64 = 0
    for parent in operation.parents {
      guard let entry = entries[parent] else { throw .parentMissing }
      // A parent that is before another parent was no head.
      guard entry.ancestors.isDisjoint(with: operation.parents) else { throw .notOfThisAccount }
      ancestors.formUnion(entry.ancestors)
      highest = max(highest, entry.operation.number)
    }
    guard operation.number == highest + 1 else { throw .notOfThisAccount }
    return ancestors
  }

  /// The operation whose owner key signed this one. The generations before an operation are one line: whoever knows of
  /// two successors of a key has chosen one, and names only its branch as parents.
  private func owner(
    of signed: SignedControlOperation, ancestors: Set<ControlID>, machine: some Machine
  ) throws(LogRefusal) -> ControlID {
    if case .genesis(let genesis) = signed.operation.kind {
      guard signed.operation.generation == 1,
        machine.isSignature(signed.signature, of: signed.signedBytes, by: genesis.ownerKey)
      else { throw .notOfThisAccount }
      return signed.id
    }
    let owners = ancestors.compactMap { entries[$0] }.filter { $0.newOwnerKey != nil }
    guard owners.count == Int(signed.operation.generation),
      let last = owners.max(by: { $0.ancestors.count < $1.ancestors.count }),
      owners.allSatisfy({ $0.id == last.id || last.ancestors.contains($0.id) }),
      let key = last.newOwnerKey, machine.isSignature(signed.signature, of: signed.signedBytes, by: key)
    else { throw .notOfThisAccount }
    return last.id
  }

  /// One more than the highest number before it: readers count themselves and believe no number.
  private func epochBegun(by operation: ControlOperation, ancestors: Set<ControlID>) -> EpochName? {
    guard let commitment = operation.epochCommitment else { return nil }
    let highest = ancestors.compactMap { entries[$0]?.begins?.number }.max() ?? 0
    return EpochName(number: highest + 1, commitment: commitment)
  }
}

extension EpochName {
  /// The name of an epoch by its number and its commitment.
  init(number: UInt32, commitment: [UInt8]) {
    self.init(number: number, check: commitment[..<4].reduce(0) { $0 << 8 | UInt32($1) })
  }
}

extension ControlOperation.Kind {
  /// The owner key that this brings, if it brings one.
  var newOwnerKey: [UInt8]? {
    switch self {
    case .genesis(let genesis): genesis.ownerKey
    case .rekey(let rekey): rekey.newOwnerKey
    case .addDevice, .addSlot: nil
    }
  }

  /// The device that this adds, if it adds one.
  var newDevice: DeviceEntry? {
    switch self {
    case .genesis(let genesis): genesis.device
    case .addDevice(let device): device
    case .addSlot, .rekey: nil
    }
  }

  /// The slots that this adds.
  var newSlots: [SlotEntry] {
    switch self {
    case .addSlot(let slot): [slot]
    case .rekey(let rekey): rekey.addedSlots
    case .genesis, .addDevice: []
    }
  }

  /// The keys of the devices and slots that this adds.
  var memberKeys: [[UInt8]] {
    [newDevice?.signingKey, newDevice?.agreementKey].compactMap(\.self) + newSlots.map(\.agreementKey)
  }
}

extension ControlOperation {
  /// The commitment of the epoch that this begins, if it begins one.
  var epochCommitment: [UInt8]? {
    switch kind {
    case .genesis(let genesis): genesis.epochCommitment
    case .rekey(let rekey): rekey.epochCommitment
    case .addDevice, .addSlot: nil
    }
  }

  /// The key of the next generation, if this is a `rekey` that begins one.
  var newOwnerKeyOfRekey: [UInt8]? {
    if case .rekey(let rekey) = kind { rekey.newOwnerKey } else { nil }
  }
}

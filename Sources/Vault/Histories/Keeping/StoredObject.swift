// SPDX-License-Identifier: Apache-2.0
//
// What a device keeps of its history on its own disk: the sealed objects that it has verified, in the order in which it
// took them, and beside them what no object says (LocalState). A history is restored by taking the objects again.

internal import Primitives
public import Secrets

/// A control operation, a slot or a segment as it is kept.
public struct StoredObject: Equatable, Sendable {
  public let name: ObjectName
  /// The sealed bytes, as they are at the remote.
  public let object: [UInt8]
  /// When this device took it, in seconds since 1970 by its own clock; 0 for what has no time.
  public let appliedAt: UInt64
  /// When the server says that it was written; nil where there is no server's clock.
  public let writtenAt: UInt64?

  public init(name: ObjectName, object: [UInt8], appliedAt: UInt64 = 0, writtenAt: UInt64? = nil) {
    self.name = name
    self.object = object
    self.appliedAt = appliedAt
    self.writtenAt = writtenAt
  }
}

/// Why a history cannot be restored.
public enum HistoryDamage: Error, Equatable, Sendable {
  /// The local state is not one, or not of this version.
  case state
  /// A kept object does not open, or does not fit those before it.
  case object(ObjectName)
}

extension History {
  /// The objects that came since the last call, in the order in which they must be taken again.
  public mutating func takeNewObjects() -> [StoredObject] {
    defer { newObjects = [] }
    return newObjects
  }

  /// The keys of all epochs that are here. They are kept apart from everything else, where keys are kept.
  public var epochKeys: [(number: UInt32, key: SharedSecretBytes)] {
    keys.values.sorted { $0.name < $1.name }.map { ($0.name.number, $0.key) }
  }

  /// Restores a history.
  /// - Parameters:
  ///   - state: of ``localState()``.
  ///   - objects: all that ``takeNewObjects()`` gave, in that order.
  ///   - keys: of ``epochKeys``. Those that are missing are taken out of envelopes again.
  ///   - machine: the machine that it runs on.
  /// - Throws: ``HistoryDamage``.
  public init(
    restoring state: [UInt8], objects: some Sequence<StoredObject>,
    keys: [(number: UInt32, key: SharedSecretBytes)], on machine: some Machine
  ) throws(HistoryDamage) {
    try self.init(
      restoring: state, objects: objects, keys: keys, rules: Rules(), limits: Limits(), on: machine)
  }

  init(
    restoring state: [UInt8], objects: some Sequence<StoredObject>,
    keys: [(number: UInt32, key: SharedSecretBytes)], rules: Rules, limits: Limits, on machine: some Machine
  ) throws(HistoryDamage) {
    let local: LocalState
    do { local = try LocalState(state) } catch { throw .state }
    self.init(joining: local.account, entry: local.entry)
    self.rules = rules
    self.limits = limits
    former = local.former
    unrepeatable = local.unrepeatable
    unsaid = local.unsaid
    settled = local.settled
    holds.confirmed = local.confirmed
    for (number, key) in keys {
      guard key.count == EpochKeys.keyByteCount else { throw .state }
      let keys = EpochKeys(number: number, key: key)
      self.keys[keys.name] = keys
    }
    var waiting: [StoredObject] = []
    for stored in objects where try !takeAgain(stored, on: machine) { waiting.append(stored) }
    openOwnEnvelopes(on: machine)
    openControl(slot: nil, on: machine)
    for stored in waiting { _ = try takeAgain(stored, on: machine) }
    countAgain(on: machine)
    newObjects = []
    settle(on: local, on: machine)
  }

  /// - Returns: false for an object that waits: a slot had opened it, or its cause, with a key that did not stay here.
  ///   The next run gets it from the remote again.
  private mutating func takeAgain(
    _ stored: StoredObject, on machine: some Machine
  ) throws(HistoryDamage) -> Bool {
    guard let hash = stored.name.hash, ObjectHash(hashing: stored.object) == hash else {
      throw .object(stored.name)
    }
    switch stored.name {
    case .slot: slotObjects[hash] = stored.object
    case .control:
      switch takeControl(stored.object, name: stored.name, slot: nil, on: machine) {
      case .taken: membershipChanged(on: machine)
      case .waiting: closedControl[stored.name] = stored.object
      case .refused: throw .object(stored.name)
      }
    case .segment(let name):
      // It was verified when it came, by what was known then; its bytes are the same.
      guard let epoch = try? SegmentSeal.epoch(of: stored.object) else { throw .object(stored.name) }
      guard let keys = keys[epoch] else { return false }
      guard
        let signed = try? SegmentSeal.open(
          stored.object, account: account, device: name.device, number: name.number, keys: keys)
      else { throw .object(stored.name) }
      insert(
        signed.segment, object: stored.object, name: name, writtenAt: stored.writtenAt, at: stored.appliedAt,
        on: machine)
    case .format, .pack, .request: throw .object(stored.name)
    }
    return true
  }

  /// What the objects do not say; and what they say otherwise, since it depends on when they came.
  private mutating func settle(on local: LocalState, on machine: some Machine) {
    isCloned = local.isCloned
    alarms = local.alarms
    givenUp = local.givenUp
    outbox = Outbox(local.outbox)
    readBack = local.readBack
    for place in readBack.keys { notReadBack[place] = nil }
    remote = local.remote
    let before = holds.segments
    holds.segments = local.held
    late = LateRemovals(local.late)
    latestRun = local.latestRun
    let changed = Set(before.keys).union(local.held.keys).filter { before[$0] != local.held[$0] }
    refresh(Set(changed.flatMap { recordsNamed(by: $0) }), on: machine)
    touched = []
    // The process that stored this may have stopped before it said something again.
    counting.mayHaveToSayAgain = !former.isEmpty
  }
}

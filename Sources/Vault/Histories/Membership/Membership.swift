// SPDX-License-Identifier: Apache-2.0
//
// Who belongs to the account: a function of the whole control log, and of the branch that the user chose if an owner
// key has two successors. The order in which operations came does not matter.

/// What the user decided about an owner key with several successors.
enum OwnerChoice: Hashable, Sendable {
  /// This successor; whatever else the former key signs does not count.
  case successor(ControlID)
  /// The former key goes on, without these successors. The next that it makes is followed.
  case former(rejecting: Set<ControlID>)

  var rejected: Set<ControlID> {
    switch self {
    case .successor: []
    case .former(let rejected): rejected
    }
  }
}

/// What the control log says.
struct Membership: Sendable {
  /// The operations that count in full.
  private(set) var counting: Set<ControlID> = []
  /// Devices that were added by an operation that counts; revoked ones too.
  private(set) var devices: [DeviceID: DeviceEntry] = [:]
  /// For each revoked device, its revocations: what all leave counts.
  private(set) var revocations: [DeviceID: [Revocation]] = [:]
  /// Slots in force.
  private(set) var slots: [SlotID: SlotEntry] = [:]
  private(set) var removedSlots: Set<SlotID> = []
  /// The operation that brought the owner key in force; nil without `genesis`.
  private(set) var owner: ControlID?
  /// The owner key has two successors, and nobody has chosen here: where it happened, and the branches.
  private(set) var fork: OwnerFork?

  /// One revocation of a device.
  struct Revocation: Hashable, Sendable {
    /// The last segments of the device that it leaves.
    let heads: [SegmentName]
    /// What its author had of all devices.
    let frontier: [SegmentName]
  }

  /// What the log says, with the branch chosen for each operation at which owner keys fork.
  init(_ log: ControlLog, settled: [ControlID: OwnerChoice]) {
    var onlyRevoking: Set<ControlID> = []
    if let genesis = log.genesis {
      walk(from: genesis, in: log, settled: settled, onlyRevoking: &onlyRevoking)
    }
    var slotRemovals = SlotRemovals()
    for entry in log.ordered {
      let counts = counting.contains(entry.id)
      if counts, let device = entry.operation.kind.newDevice, devices[device.id] == nil {
        devices[device.id] = device
      }
      guard counts || onlyRevoking.contains(entry.id) else { continue }
      slotRemovals.take(entry, counts: counts)
      for revocation in entry.rekey?.revocations ?? [] {
        revocations[revocation.device, default: []].append(
          Revocation(heads: revocation.heads, frontier: entry.operation.frontier))
      }
    }
    (slots, removedSlots) = slotRemovals.result()
  }

  /// Devices that belong to the account now.
  var members: [DeviceID] { devices.keys.filter { revocations[$0] == nil }.sorted() }

  /// Whether a device was added and not revoked.
  func isMember(_ device: DeviceID) -> Bool { devices[device] != nil && revocations[device] == nil }

  /// Whether a device has another standing than before.
  func differs(from before: Membership, of device: DeviceID) -> Bool {
    (devices[device] == nil) != (before.devices[device] == nil)
      || revocations[device] != before.revocations[device]
  }

  // MARK: Owner keys

  /// Goes through the operations that one owner key signed, then on to its successor.
  private mutating func walk(
    from first: LogEntry, in log: ControlLog, settled: [ControlID: OwnerChoice],
    onlyRevoking: inout Set<ControlID>
  ) {
    owner = first.id
    counting.insert(first.id)
    let signed = log.ordered.filter { $0.owner == first.id && $0.id != first.id }
    let choice = settled[first.id]
    var successors = signed.filter { $0.newOwnerKey != nil && choice?.rejected.contains($0.id) != true }
    // A revocation that no successor knows of: the former owner goes on.
    var late = signed.filter { entry in
      entry.rekey != nil && entry.newOwnerKey == nil
        && !successors.contains { $0.ancestors.contains(entry.id) }
    }
    if case .successor(let id) = choice, let chosen = successors.first(where: { $0.id == id }) {
      (successors, late) = ([chosen], [])
    }
    if successors.isEmpty {
      counting.formUnion(signed.filter { $0.newOwnerKey == nil }.map(\.id))
    } else if successors.count == 1, late.isEmpty {
      take(successors[0], signed: signed)
      walk(from: successors[0], in: log, settled: settled, onlyRevoking: &onlyRevoking)
    } else {
      let tips = successors + late
      counting.formUnion(
        signed.filter { entry in tips.allSatisfy { $0.ancestors.contains(entry.id) } }.map(\.id))
      fork = OwnerFork(at: first.id, branches: successors.map(\.id) + (late.isEmpty ? [] : [first.id]))
    }
    // Of the other branches, only what takes rights away.
    onlyRevoking.formUnion(
      log.ordered.filter { entry in
        !counting.contains(entry.id) && entry.ancestors.contains(first.id) && entry.rekey != nil
      }.map(\.id))
  }

  /// The operations of one owner key that its successor knows, and the successor. What the former key signed besides is
  /// refused.
  private mutating func take(_ successor: LogEntry, signed: [LogEntry]) {
    counting.formUnion(signed.filter { successor.ancestors.contains($0.id) }.map(\.id))
    counting.insert(successor.id)
  }
}

/// An owner key with two successors.
public struct OwnerFork: Hashable, Sendable {
  /// The operation that brought the key.
  public let at: ControlID
  /// The `rekey` of each branch; `at` itself if the former key also went on without a successor.
  public let branches: [ControlID]
}

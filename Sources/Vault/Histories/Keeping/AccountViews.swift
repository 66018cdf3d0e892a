// SPDX-License-Identifier: Apache-2.0
//
// The account as its owner looks at it: slots in force, and the continuations of an owner key that forked.

internal import Primitives

/// A slot of the account that is in force.
public struct SlotView: Sendable {
  public let id: SlotID
  public let kind: SlotEntry.Kind
  /// Nil while its object is not here.
  public let record: AccountSlotRecord?
}

/// An owner key with several continuations, of which the user chooses one.
public struct OwnerForkView: Sendable {
  /// One continuation.
  public struct Branch: Sendable {
    /// What to give to `AccountChange.settle(at:on:)`.
    public let id: ControlID
    /// Whether the key itself went on, and no other one follows it.
    public let isFormerKey: Bool
    /// When its last operation was made at the earliest, by clocks of devices, in seconds since 1970; nil when nothing says.
    public let lastKnown: UInt64?
    /// What it did, in the order of its operations.
    public let deeds: [Deed]
    /// The slots that are in force if it is right.
    public let slots: Set<SlotID>
    /// The devices that belong to the account if it is right.
    public let members: Set<DeviceID>
  }

  /// What a branch did.
  public enum Deed: Hashable, Sendable {
    case addedDevice(DeviceID, name: String)
    case revokedDevice(DeviceID, name: String)
    case addedSlot(SlotEntry.Kind)
    case removedSlot(SlotID, SlotEntry.Kind?)
  }

  /// The operation that brought the key.
  public let at: ControlID
  public let branches: [Branch]
}

extension History {
  /// The device of a local state; nil for bytes that are not a local state.
  public static func device(ofState state: [UInt8]) -> DeviceEntry? { (try? LocalState(state))?.entry }

  /// How many changes wait in a local state; nil for bytes that are not a local state.
  public static func waitingCount(ofState state: [UInt8]) -> Int? { (try? LocalState(state))?.outbox.count }

  /// Slots in force, the first made first.
  public var slots: [SlotView] {
    let slots = membership.slots.values.map { SlotView(id: $0.id, kind: $0.kind, record: record(of: $0)) }
    func order(_ slot: SlotView) -> (UInt64, UInt8, SlotID) {
      (slot.record?.createdAt ?? .max, slot.kind.rawValue, slot.id)
    }
    return slots.sorted { order($0) < order($1) }
  }

  private func record(of slot: SlotEntry) -> AccountSlotRecord? {
    slotObjects[slot.object].flatMap { try? AccountSlotRecord.parse($0) }
  }

  /// The last control operation that counts: what a new slot names as its anchor.
  public var lastOperation: ControlID? {
    membership.counting.compactMap { log.entries[$0] }
      .max { ($0.operation.number, $0.id) < ($1.operation.number, $1.id) }?.id
  }

  /// The continuations that this device's user chose: after which operation, and which; the same operation twice for the
  /// former key.
  public var ownerChoices: [(at: ControlID, on: ControlID)] {
    settled.sorted { $0.key < $1.key }.map { at, choice in
      switch choice {
      case .successor(let id): (at, id)
      case .former: (at, at)
      }
    }
  }

  /// The continuations of an owner key that forked, while the user has chosen none.
  public var ownerFork: OwnerForkView? {
    membership.fork.map { fork in
      OwnerForkView(at: fork.at, branches: fork.branches.map { branch($0, of: fork) })
    }
  }

  private func branch(_ id: ControlID, of fork: OwnerFork) -> OwnerForkView.Branch {
    let isFormer = id == fork.at
    var choices = settled
    choices[fork.at] =
      isFormer
      ? .former(rejecting: Set(fork.branches.filter { $0 != id }).union(choices[fork.at]?.rejected ?? []))
      : .successor(id)
    let chosen = Membership(log, settled: choices)
    let before = log.entries[id]?.ancestors ?? []
    let entries = log.ordered.filter { entry in
      guard !membership.counting.contains(entry.id) else { return false }
      if isFormer { return entry.owner == fork.at && entry.newOwnerKey == nil }
      return entry.id == id || before.contains(entry.id) || entry.ancestors.contains(id)
    }
    var deeds: [OwnerForkView.Deed] = []
    for deed in entries.flatMap(deeds(of:)) where !deeds.contains(deed) { deeds.append(deed) }
    let times = entries.flatMap { entry in
      entry.operation.frontier.compactMap { chains.entries[$0]?.segment.time }
        + entry.operation.kind.newSlots.compactMap { record(of: $0)?.createdAt }
    }
    return OwnerForkView.Branch(
      id: id, isFormerKey: isFormer, lastKnown: times.max(), deeds: deeds, slots: Set(chosen.slots.keys),
      members: Set(chosen.members))
  }

  private func deeds(of entry: LogEntry) -> [OwnerForkView.Deed] {
    var deeds: [OwnerForkView.Deed] = []
    if let device = entry.operation.kind.newDevice {
      deeds.append(.addedDevice(device.id, name: device.name))
    }
    deeds += (entry.rekey?.revocations ?? []).map {
      .revokedDevice($0.device, name: log.device($0.device)?.name ?? "")
    }
    deeds += (entry.rekey?.removedSlots ?? []).map { .removedSlot($0, kind(ofSlot: $0)) }
    deeds += entry.operation.kind.newSlots.map { .addedSlot($0.kind) }
    return deeds
  }

  private func kind(ofSlot id: SlotID) -> SlotEntry.Kind? {
    log.entries.values.lazy.flatMap(\.operation.kind.newSlots).first { $0.id == id }?.kind
  }
}

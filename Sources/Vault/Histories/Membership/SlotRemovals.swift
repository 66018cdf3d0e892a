// SPDX-License-Identifier: Apache-2.0
//
// Which slots are in force. A removal takes rights away, so it holds also where its operation does not count; but two
// members who each remove a slot, and do not know of each other, must not leave the account without any: nobody could
// open it again. Which removal has no effect is a function of the log and of the user's choices, as membership is.

/// The slots that operations add and remove, in the order of the log.
struct SlotRemovals {
  /// Slots that operations that count add, with the operation whose owner key signed that.
  private var added: [SlotID: (slot: SlotEntry, owner: ControlID)] = [:]
  /// Removals by operations that count.
  private var counting: [(owner: ControlID, slots: [SlotID])] = []
  /// Those by others.
  private var others: [(ancestors: Set<ControlID>, slots: [SlotID])] = []
  private var removed: Set<SlotID> = []

  /// Takes the next operation of the log's order.
  /// - Parameter counts: whether it counts; else it only takes rights away.
  mutating func take(_ entry: LogEntry, counts: Bool) {
    if counts {
      for slot in entry.operation.kind.newSlots where added[slot.id] == nil {
        added[slot.id] = (slot, entry.owner)
      }
    }
    guard let slots = entry.rekey?.removedSlots, !slots.isEmpty else { return }
    if !counts {
      others.append((entry.ancestors, slots))
    } else if leavesSome(of: added.keys, without: removed.union(slots)) {
      counting.append((entry.owner, slots))
      removed.formUnion(slots)
    }
  }

  /// The slots in force, and those that were taken out.
  func result() -> (inForce: [SlotID: SlotEntry], removed: Set<SlotID>) {
    var (removed, held) = (removed, Set<SlotID>())
    for (ancestors, slots) in others {
      // What a later owner key adds or removes decides nothing: a slot that was left to the account stays, and one that
      // was taken out does not come back.
      let there = added.filter { ancestors.contains($0.value.owner) }.keys
      let gone = counting.filter { ancestors.contains($0.owner) }.flatMap(\.slots)
      guard leavesSome(of: there, without: held.union(gone).union(slots)),
        leavesSome(of: added.keys, without: removed.union(slots))
      else { continue }
      held.formUnion(slots)
      removed.formUnion(slots)
    }
    return (added.filter { !removed.contains($0.key) }.mapValues(\.slot), removed)
  }

  private func leavesSome(of slots: some Collection<SlotID>, without removed: Set<SlotID>) -> Bool {
    slots.contains { !removed.contains($0) }
  }
}

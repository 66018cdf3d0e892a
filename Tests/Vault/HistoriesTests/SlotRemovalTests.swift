// SPDX-License-Identifier: Apache-2.0
//
// Members who remove slots at the same time.

import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("Slots that are removed at the same time")
struct SlotRemovalTests {
  /// Two members that know each other and so many slots.
  private func pair(slots: Int) -> Simulation {
    var simulation = RuleTests.pair()
    while simulation.slots.count < slots { simulation.perform(.addSlot(by: 0)) }
    share(&simulation)
    return simulation
  }

  private func share(_ simulation: inout Simulation) {
    for _ in 0..<2 { for device in 0..<2 { simulation.perform(.run(device: device, .sync, seed: 0)) } }
  }

  private func inForce(_ simulation: Simulation, _ device: Int) -> Set<SlotID> {
    Set(simulation.computers[device].history.membership.slots.keys)
  }

  /// Each member removes a slot, and hears of the other.
  private func cross(_ simulation: inout Simulation) throws -> OwnerFork {
    simulation.perform(.removeSlot(slot: 0, by: 0))
    simulation.perform(.removeSlot(slot: 1, by: 1))
    share(&simulation)
    return try #require(simulation.computers[0].history.membership.fork)
  }

  /// The user chooses a branch on both devices.
  private func settle(_ fork: OwnerFork, on branch: ControlID, _ simulation: inout Simulation) {
    simulation.chosenBranches[fork.at] = branch
    for device in 0..<2 {
      simulation.change(.settle(at: fork.at, on: branch), by: device)
      simulation.perform(.run(device: device, .sync, seed: 0))
    }
    share(&simulation)
  }

  @Test(
    "Of two removals that would leave no slot the chosen one holds, or the first while nobody has chosen",
    arguments: [0, 1])
  func lastTwo(_ chosen: Int) throws {
    var simulation = pair(slots: 2)
    let slots = simulation.slots
    let fork = try cross(&simulation)
    for device in 0..<2 {
      let history = simulation.computers[device].history
      let first = try #require(history.log.ordered.first { $0.rekey?.removedSlots.isEmpty == false })
      #expect(
        inForce(simulation, device) == Set(slots.map(\.id)).subtracting(first.rekey?.removedSlots ?? []))
    }
    let branch = fork.branches.sorted()[chosen]
    let removed = try #require(simulation.computers[0].history.log.entries[branch]?.rekey?.removedSlots.first)
    let left = try #require(slots.first { $0.id != removed })
    settle(fork, on: branch, &simulation)
    for device in 0..<2 {
      #expect(inForce(simulation, device) == [left.id])
      #expect(simulation.computers[device].history.membership.removedSlots == [removed])
    }
    // It opens everything, and lets a device in.
    #expect(simulation.restore(left) != nil)
    // A slot that is added later does not bring the other removal to life, nor does a new epoch.
    simulation.perform(.addSlot(by: 1))
    simulation.perform(.handOutKeys(by: 0))
    share(&simulation)
    let added = try #require(simulation.slots.last?.id)
    for device in 0..<2 { #expect(inForce(simulation, device) == [left.id, added]) }
    try simulation.comeToRest(isThorough: true)
  }

  @Test("Where a third slot is, both removals hold, also after that slot was replaced", arguments: [0, 1])
  func third(_ chosen: Int) throws {
    var simulation = pair(slots: 3)
    let slots = simulation.slots
    let fork = try cross(&simulation)
    settle(fork, on: fork.branches.sorted()[chosen], &simulation)
    for device in 0..<2 { #expect(inForce(simulation, device) == [slots[2].id]) }
    simulation.perform(.replaceSlot(by: 1))
    share(&simulation)
    let new = try #require(simulation.slots.last?.id)
    #expect(new != slots[2].id)
    for device in 0..<2 { #expect(inForce(simulation, device) == [new]) }
    try simulation.comeToRest(isThorough: true)
  }
}

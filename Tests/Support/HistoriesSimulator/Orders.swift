// SPDX-License-Identifier: Apache-2.0
//
// A few events in every order: what seeds meet by chance, orders meet for certain. After each order everything is brought
// to rest, and all invariants are asked.

@testable import Histories

/// Events of three devices that know each other.
struct Orders: Sendable, CustomStringConvertible {
  let name: String
  /// Happens before them, always in this order.
  let before: [Deed]
  /// Seven of them: 5,040 orders.
  let events: [Deed]

  var description: String { name }

  /// What came of it.
  struct Result: Sendable {
    var orders = 0
    /// The first order in which an invariant did not hold.
    var failure: (order: [Deed], breach: Breach)?
  }

  /// Plays every order that begins with one of the events.
  /// - Parameter first: the index of that event; every first event has as many orders.
  func play(first: Int) -> Result {
    var simulation = Simulation(Simulation.Setting(seed: 1))
    for deed in before { simulation.perform(deed) }
    var result = Result()
    var rest = events
    go(on: simulation, [rest.remove(at: first)], rest: rest, &result)
    return result
  }

  /// Performs the last event of an order, then every order of the rest.
  private func go(on simulation: Simulation, _ order: [Deed], rest: [Deed], _ result: inout Result) {
    var simulation = simulation
    if let last = order.last { simulation.perform(last) }
    do throws(Breach) {
      try simulation.checkAlways()
      if rest.isEmpty {
        result.orders += 1
        try simulation.comeToRest(isThorough: false)
      }
    } catch {
      if result.failure == nil { result.failure = (order, error) }
      return
    }
    for index in rest.indices where result.failure == nil {
      var rest = rest
      let next = rest.remove(at: index)
      go(on: simulation, order + [next], rest: rest, &result)
    }
  }
}

extension Orders {
  private static let threeDevices: [Deed] = [
    .run(device: 0, .sync, seed: 0), .enrol(by: 0), .enrol(by: 0), .run(device: 0, .sync, seed: 0),
    .add(device: 0, content: 1), .add(device: 0, content: 2), .run(device: 0, .sync, seed: 0),
    .run(device: 1, .sync, seed: 0), .run(device: 2, .sync, seed: 0),
  ]

  static let all: [Orders] = [
    // The second event of a device comes before or after its run, and before or after it hears of the others.
    Orders(
      name: "membership",
      before: threeDevices + [.add(device: 2, content: 3), .run(device: 2, .sync, seed: 0)],
      events: [
        .revoke(device: 2, by: 0, without: 0), .addSlot(by: 1), .add(device: 2, content: 4),
        .run(device: 0, .sync, seed: 0), .run(device: 1, .sync, seed: 0), .run(device: 2, .sync, seed: 0),
        .enrol(by: 1),
      ]),
    Orders(
      name: "epochs", before: threeDevices,
      events: [
        .revoke(device: 1, by: 0, without: 0), .revoke(device: 2, by: 1, without: 0), .replaceSlot(by: 0),
        .add(device: 1, content: 4), .run(device: 0, .sync, seed: 0), .run(device: 1, .sync, seed: 0),
        .run(device: 2, .sync, seed: 0),
      ]),
    // Two members replace the slots, and neither knows of the other.
    Orders(
      name: "owners", before: threeDevices,
      events: [
        .replaceSlot(by: 0), .replaceSlot(by: 1), .add(device: 2, content: 4), .attend(device: 2),
        .run(device: 0, .sync, seed: 0), .run(device: 1, .sync, seed: 0), .run(device: 2, .sync, seed: 0),
      ]),
    // Two members remove the two slots that there are, and neither knows of the other.
    Orders(
      name: "slots",
      before: threeDevices + [
        .addSlot(by: 0), .run(device: 0, .sync, seed: 0), .run(device: 1, .sync, seed: 0),
        .run(device: 2, .sync, seed: 0),
      ],
      events: [
        .removeSlot(slot: 0, by: 0), .removeSlot(slot: 1, by: 1), .attend(device: 2), .addSlot(by: 2),
        .run(device: 0, .sync, seed: 0), .run(device: 1, .sync, seed: 0), .run(device: 2, .sync, seed: 0),
      ]),
    // The fourth computer is a copy of the second.
    Orders(
      name: "forks",
      before: threeDevices + [.copy(device: 1, sameRandomness: true)],
      events: [
        .add(device: 1, content: 4), .edit(device: 3, record: 0, content: 5),
        .run(device: 1, .sync, seed: 0), .run(device: 3, .sync, seed: 0), .run(device: 0, .sync, seed: 0),
        .attend(device: 1), .remove(device: 2, record: 0),
      ]),
    Orders(
      name: "sweep",
      before: threeDevices + [.remove(device: 0, record: 0), .run(device: 0, .sync, seed: 0)],
      events: [
        .pass(seconds: 40 * 86_400), .run(device: 0, .sweep, seed: 0), .run(device: 1, .sweep, seed: 0),
        .edit(device: 2, record: 0, content: 6), .run(device: 2, .sync, seed: 0),
        .run(device: 0, .sync, seed: 0), .revoke(device: 1, by: 0, without: 0),
      ]),
  ]
}

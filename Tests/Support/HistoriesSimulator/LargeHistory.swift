// SPDX-License-Identifier: Apache-2.0
//
// How long a step takes on a large history: what a user waits for must not grow with what is there.

import Primitives

@testable import Histories

/// Times of one device that writes very many messages, and of another one that gets them.
struct LargeHistory: Sendable {
  var count: Int
  /// To write and to send all messages.
  private(set) var writing = Duration.zero
  /// Of another device, to get and to apply them.
  private(set) var receiving = Duration.zero
  /// One more message, stored and sent, while all are there: the fastest of some.
  private(set) var oneMore = Duration.seconds(1_000)
  /// The run of the other device that gets it.
  private(set) var oneMoreReceived = Duration.seconds(1_000)
  /// An operation of the control log: another device is approved.
  private(set) var approving = Duration.zero

  init(count: Int) {
    self.count = count
    var simulation = Simulation(Simulation.Setting(seed: 1, limits: Limits(), notesShown: false))
    let clock = ContinuousClock()
    simulation.perform(.run(device: 0, .sync, seed: 0))
    simulation.perform(.enrol(by: 0))
    writing = clock.measure {
      for number in 0..<count { simulation.perform(.add(device: 0, content: Self.content(number))) }
      simulation.perform(.run(device: 0, .sync, seed: 0))
    }
    receiving = clock.measure {
      for _ in 0..<2 { simulation.perform(.run(device: 1, .sync, seed: 0)) }
    }
    for number in 0..<5 {
      let one = clock.measure {
        simulation.perform(.add(device: 0, content: Self.content(number)))
        simulation.perform(.run(device: 0, .sync, seed: 0))
      }
      let received = clock.measure { simulation.perform(.run(device: 1, .sync, seed: 0)) }
      oneMore = min(oneMore, one)
      oneMoreReceived = min(oneMoreReceived, received)
    }
    let entry = simulation.entry(simulation.newMachine(), replaces: nil)
    guard let slot = simulation.slots.first else { return }
    approving = clock.measure {
      simulation.step(0, .account(.approve(entry), slot, at: simulation.clock(0)))
    }
    let shown = simulation.computers[1].history.records.identifiers.count
    precondition(shown == count + 5, "the other device has \(shown) of \(count + 5) messages")
  }

  /// A content in one part.
  private static func content(_ number: Int) -> Int { number % Simulation.firstInParts }
}

extension LargeHistory: CustomStringConvertible {
  var description: String {
    func milliseconds(_ duration: Duration) -> String {
      let tenths = Int((duration / .milliseconds(1) * 10).rounded())
      return "\(tenths / 10).\(tenths % 10) ms"
    }
    return """
      \(count) messages: written and sent in \(milliseconds(writing)), got and applied in \(milliseconds(receiving))
        one more, stored and sent: \(milliseconds(oneMore)); got by another device: \(milliseconds(oneMoreReceived))
        a device approved: \(milliseconds(approving))
      """
  }
}

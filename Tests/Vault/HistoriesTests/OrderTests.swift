// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HistoriesSimulator

@Suite("Histories in every order")
struct OrderTests {
  /// So many of the seven events, in 24 orders; `scripts/simulate --orders` plays all 5,040.
  static let eventCount = 4

  @Test("A few events in every order lose nothing", arguments: Orders.all)
  func few(_ orders: Orders) {
    let few = Orders(
      name: orders.name, before: orders.before, events: Array(orders.events.suffix(Self.eventCount)))
    var count = 0
    for first in few.events.indices {
      let result = few.play(first: first)
      count += result.orders
      if let failure = result.failure { Issue.record("\(failure.order): \(failure.breach)") }
    }
    #expect(count == 24)
  }
}

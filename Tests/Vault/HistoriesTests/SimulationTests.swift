// SPDX-License-Identifier: Apache-2.0
//
// The invariants of histories in simulations from seeds (design/remote.md, 14), a few of each climate. `scripts/simulate`
// plays thousands.

import Extents
import Testing

@testable import HistoriesSimulator

/// Seeds that a test plays.
enum Seeds {
  static let core: Range<UInt64> = 1..<26
  static let whole: Range<UInt64> = 1..<2

  /// Plays scenarios until one fails, and reports it shortened.
  static func play(_ name: String, _ seeds: Range<UInt64>, _ climate: Climate, isReal: Bool = false) {
    for seed in Shares("histories: " + name, count: 8).seeds(seeds) {
      let scenario = Scenario(seed: seed, climate, isReal: isReal)
      guard let breach = scenario.play().breach else { continue }
      Issue.record("seed \(seed): \(breach)\n\(scenario.shortened().script)")
      return
    }
  }
}

@Suite("Histories in simulations")
struct SimulationTests {
  @Test("Without faults everything arrives") func calm() { Seeds.play("calm", Seeds.core, .calm) }

  @Test("Lost, late, repeated and torn requests and crashes lose nothing")
  func faults() { Seeds.play("faults", Seeds.core, Climate(accounts: false)) }

  @Test("Members, slots and epochs come and go, also crossed") func accounts() {
    Seeds.play("accounts", Seeds.core, Climate())
  }

  @Test("Copied devices, and those put back to an older state, lose nothing")
  func copies() { Seeds.play("copies", Seeds.core, Climate(copies: true)) }

  @Test("Clocks jump, and the remote comes back from a backup")
  func clocks() { Seeds.play("clocks", Seeds.core, Climate(clocks: true, backups: true)) }

  @Test("A bad member destroys nothing of others") func badMember() {
    Seeds.play("bad member", Seeds.core, Climate(badMember: true))
  }

  @Test("Packs that nobody has any more stop nothing for ever") func losses() {
    Seeds.play("losses", Seeds.core, Climate(faults: false, badMember: true, losses: true))
  }

  @Test("Contents in several parts, captures among them, arrive whole or not at all")
  func parts() {
    Seeds.play(
      "parts", Seeds.core, Climate(copies: true, clocks: true, backups: true, parts: true, captures: true))
  }

  @Test("All of it together") func everything() { Seeds.play("everything", Seeds.core, .everything) }

  @Test("Real signatures and agreements make no difference")
  func whole() { Seeds.play("real", Seeds.whole, Climate(copies: true), isReal: true) }
}

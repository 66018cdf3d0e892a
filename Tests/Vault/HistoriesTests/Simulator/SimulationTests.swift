// SPDX-License-Identifier: Apache-2.0
//
// The invariants of histories in simulations from seeds (design/remote.md, 14). HISTORIES_SEEDS says how many seeds each
// test plays, HISTORIES_FIRST_SEED which is the first.

import Foundation
import Testing

@testable import Histories

/// Seeds of a test.
enum Seeds {
  /// Some seconds for each test in a debug build.
  static let core = 25
  static let whole = 1

  static func range(_ count: Int) -> Range<UInt64> {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["HISTORIES_FIRST_SEED"].flatMap { UInt64($0) } ?? 1
    return first..<first + UInt64(environment["HISTORIES_SEEDS"].flatMap { Int($0) } ?? count)
  }

  /// Plays scenarios until one fails, and reports it shortened.
  static func play(_ count: Int, _ climate: Climate, isReal: Bool = false) {
    for seed in range(count) {
      let scenario = Scenario(seed: seed, climate, isReal: isReal)
      guard scenario.play().breach != nil else { continue }
      let short = isReal ? scenario : scenario.shortened()
      guard let breach = short.play().breach ?? scenario.play().breach else { return }
      Issue.record("seed \(seed): \(breach)\n\(short.deeds.map { "  .\($0)" }.joined(separator: "\n"))")
      return
    }
  }
}

@Suite("Histories in simulations")
struct SimulationTests {
  @Test("Without faults everything arrives") func calm() { Seeds.play(Seeds.core, .calm) }

  @Test("Lost, late, repeated and torn requests and crashes lose nothing")
  func faults() { Seeds.play(Seeds.core, Climate(accounts: false)) }

  @Test("Members, slots and epochs come and go, also crossed") func accounts() {
    Seeds.play(Seeds.core, Climate())
  }

  @Test("Copied devices, and those put back to an older state, lose nothing")
  func copies() { Seeds.play(Seeds.core, Climate(copies: true)) }

  @Test("Clocks jump, and the remote comes back from a backup")
  func clocks() { Seeds.play(Seeds.core, Climate(clocks: true, backups: true)) }

  @Test("A bad member destroys nothing of others") func badMember() {
    Seeds.play(Seeds.core, Climate(badMember: true))
  }

  @Test("All of it together") func everything() { Seeds.play(Seeds.core, .everything) }

  @Test("Real signatures and agreements make no difference")
  func whole() { Seeds.play(Seeds.whole, Climate(copies: true), isReal: true) }
}

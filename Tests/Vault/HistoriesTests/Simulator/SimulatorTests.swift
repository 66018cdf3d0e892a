// SPDX-License-Identifier: Apache-2.0
//
// The rules of histories in simulated worlds, from seeds.

import Foundation
import Testing

@testable import Histories

@Suite("Histories in simulated worlds")
struct SimulatorTests {
  static func seeds(_ count: Int) -> Range<UInt64> {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["HISTORIES_FIRST_SEED"].flatMap { UInt64($0) } ?? 1
    return first..<first + UInt64(environment["HISTORIES_SEEDS"].flatMap { Int($0) } ?? count)
  }

  func run(_ count: Int, _ weather: Script.Weather) {
    for seed in Self.seeds(count) {
      let script = Script(seed: seed, length: 1_000, weather: weather)
      guard case .failure = script.run() else { continue }
      let short = script.shortened()
      if case .failure(let violation) = short.run() {
        let lines = short.actions.map { "  \($0)" }.joined(separator: "\n")
        Issue.record("seed \(seed): \(violation)\n\(lines)")
      }
      return
    }
  }

  @Test("Without faults everything arrives")
  func calm() { run(40, Script.Weather(faults: false, accounts: false)) }

  @Test("Lost, late and torn requests and crashes lose nothing")
  func faults() { run(40, Script.Weather(accounts: false)) }

  @Test("Members and slots come and go")
  func accounts() { run(40, Script.Weather()) }

  @Test("Copied and restored devices lose nothing")
  func copies() { run(40, Script.Weather(copies: true)) }

  @Test("Sweeps delete nothing that is needed")
  func sweeps() { run(40, Script.Weather(copies: true, sweeps: true)) }
}

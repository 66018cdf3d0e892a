// SPDX-License-Identifier: Apache-2.0
//
// The rules of histories in simulated worlds, from seeds. HISTORIES_SEEDS in the environment is how many seeds each test
// runs, and HISTORIES_FIRST_SEED the first of them.

import Foundation
import Testing

@testable import Histories

@Suite("Histories in simulated worlds")
struct SimulatorTests {
  private static let seedCount = 20

  private func run(_ weather: Script.Weather) {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["HISTORIES_FIRST_SEED"].flatMap { UInt64($0) } ?? 1
    let count = environment["HISTORIES_SEEDS"].flatMap { UInt64($0) } ?? UInt64(Self.seedCount)
    var acknowledged = 0
    for seed in first..<first + count {
      let script = Script(seed: seed, length: 1_000, weather: weather)
      switch script.run() {
      case .success(let world):
        acknowledged += world.stored.values.count { $0.isAcknowledged }
      case .failure:
        let short = script.shortened()
        guard case .failure(let violation) = short.run() else { continue }
        let actions = short.actions.map { "  \($0)" }.joined(separator: "\n")
        Issue.record("seed \(seed): \(violation)\n\(actions)\n\(violation.world)")
        return
      }
    }
    // A world in which nothing happens keeps every invariant.
    #expect(acknowledged > 5 * Int(count))
  }

  @Test("Without faults everything arrives")
  func calm() { run(Script.Weather(faults: false, accounts: false)) }

  @Test("Lost, late and torn requests, crashes, and members and slots that come and go lose nothing")
  func accounts() { run(Script.Weather()) }

  @Test("Copied devices, and devices that were put back, lose nothing")
  func copies() { run(Script.Weather(copies: true)) }

  @Test("Sweeps delete nothing that is needed")
  func sweeps() { run(Script.Weather(copies: true, sweeps: true)) }

  @Test("Removals of much, and a member that names wrong places, hide and lose nothing")
  func badMember() { run(Script.Weather(accounts: false, sweeps: true, removals: true, badPlaces: true)) }
}

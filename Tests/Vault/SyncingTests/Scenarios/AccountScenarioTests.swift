// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Scenarios of whole coffers")
struct AccountScenarioTests {
  /// Seeds to play: `COFFER_SCENARIOS=FIRST:COUNT` plays others (`scripts/simulate --whole`).
  static let seeds: [UInt64] = {
    let given = ProcessInfo.processInfo.environment["COFFER_SCENARIOS"]?.split(separator: ":").compactMap {
      UInt64($0)
    }
    guard let given, given.count == 2 else { return Array(1...4) }
    return Array(given[0]..<given[0] + given[1])
  }()

  @Test(
    "Whatever happens to the devices of an account, all show the same in the end, and nothing that was acknowledged is missing",
    arguments: seeds)
  func scenario(_ seed: UInt64) throws {
    var scenario = try AccountScenario(seed: seed)
    do {
      try scenario.play(deedCount: 60)
      try scenario.comeToRest()
      try scenario.check()
    } catch {
      scenario.expect(false, "ended with \(error)")
    }
    guard !scenario.breaches.isEmpty else { return }
    Issue.record(
      "seed \(seed): \(scenario.breaches.joined(separator: "\n"))\n\(scenario.script.joined(separator: "\n"))"
    )
  }
}

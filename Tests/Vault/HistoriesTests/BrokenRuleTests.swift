// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HistoriesSimulator

@Suite("Broken rules of histories")
struct BrokenRuleTests {
  @Test("Every broken rule is noticed within 300 seeds", arguments: BrokenRule.all)
  func isCaught(_ rule: BrokenRule) {
    let caught = rule.caught(from: rule.firstSeed, within: 300)
    #expect(caught != nil, "\(rule.name): no invariant failed in 300 seeds")
  }
}

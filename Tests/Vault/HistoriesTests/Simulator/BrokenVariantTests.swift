// SPDX-License-Identifier: Apache-2.0
//
// A simulator that cannot fail proves nothing. Each test breaks one rule and expects that some world notices.

import Testing

@testable import Histories

@Suite("Broken rules are noticed")
struct BrokenVariantTests {
  /// Breaks a rule and looks for the first of 300 worlds that notices.
  private func expectViolation(
    of invariants: Set<String>, in weather: Script.Weather = Script.Weather(), breaking: (inout Rules) -> Void
  ) {
    var rules = Rules()
    breaking(&rules)
    for seed in UInt64(1)...300 {
      let script = Script(seed: seed, length: 1_000, weather: weather, rules: rules)
      if case .failure(let violation) = script.run() {
        #expect(invariants.contains(violation.invariant), "seed \(seed): \(violation)")
        return
      }
    }
    Issue.record("no world noticed")
  }

  @Test("Packs that several segments name")
  func sharedPacks() {
    let weather = Script.Weather(accounts: false, sweeps: true, removals: true)
    expectViolation(of: ["S4", "S12"], in: weather) { $0.packsHaveOneSegment = false }
  }

  @Test("Places that are believed without reading them")
  func placesUnread() {
    let weather = Script.Weather(accounts: false, sweeps: true, badPlaces: true)
    expectViolation(of: ["S1", "S4"], in: weather) { $0.placesAreReadBack = false }
  }

  @Test("An epoch that is chosen by number and hash alone")
  func unsafeEpochs() {
    expectViolation(of: ["S13"]) { $0.epochsAreSafe = false }
  }

  @Test("Forks that stop instead of merging")
  func forksStop() {
    expectViolation(of: ["S1", "S11"], in: Script.Weather(copies: true)) { $0.forksMerge = false }
  }

  @Test("Readers that list only what comes after their last number")
  func listsOfNews() {
    expectViolation(of: ["S1", "S11"], in: Script.Weather(copies: true)) { $0.blocksAreListedWhole = false }
  }

  @Test("Membership that is taken from a segment")
  func membershipOfSegments() {
    expectViolation(of: ["S5"]) { $0.membershipIsTheLog = false }
  }

  @Test("A brake that stops segments")
  func brakeOfSegments() {
    let weather = Script.Weather(accounts: false, removals: true)
    expectViolation(of: ["S11"], in: weather) { $0.brakeHoldsMarksAlone = false }
  }
}

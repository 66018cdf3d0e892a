// SPDX-License-Identifier: Apache-2.0
//
// Rules that were broken on purpose. The simulator must notice each of them within 300 seeds: a check that cannot fail
// is no check.

@testable import Histories

/// A rule, how it is broken, and the climate in which that hurts.
struct BrokenRule: Sendable, CustomStringConvertible {
  let name: String
  let climate: Climate
  /// The seed that noticed it when this was written; others follow.
  let firstSeed: UInt64
  let breakRule: @Sendable (inout Rules) -> Void

  var description: String { name }

  static let all: [BrokenRule] = [
    BrokenRule(
      name: "packs are shared between segments",
      climate: Climate(faults: false, accounts: false, repeats: true),
      firstSeed: 284
    ) { $0.packsHaveOneSegment = false },
    BrokenRule(name: "places are believed without reading", climate: Climate(badMember: true), firstSeed: 139)
    {
      $0.placesAreReadBack = false
    },
    // Until somebody who has the content verifies: a device that comes before that has no other place.
    BrokenRule(
      name: "places are set aside with their author", climate: Climate(faults: false, moves: true),
      firstSeed: 52
    ) {
      $0.placesOutliveTheirAuthors = false
    },
    BrokenRule(name: "an epoch is chosen by number and hash alone", climate: Climate(), firstSeed: 39) {
      $0.epochsAreSafe = false
    },
    BrokenRule(name: "forks stop instead of merging", climate: Climate(copies: true), firstSeed: 57) {
      $0.forksMerge = false
    },
    BrokenRule(
      name: "readers list only after their last number", climate: Climate(copies: true), firstSeed: 57
    ) {
      $0.blocksAreListedWhole = false
    },
    BrokenRule(name: "membership is taken from a segment", climate: Climate(), firstSeed: 1) {
      $0.membershipIsTheLog = false
    },
    BrokenRule(name: "the brake stops segments", climate: Climate(), firstSeed: 8) {
      $0.brakeHoldsMarksAlone = false
    },
  ]

  /// The first seed from `start` that fails, and in what; with all rules it holds.
  func caught(from start: UInt64, within count: UInt64) -> (seed: UInt64, breach: Breach)? {
    var rules = Rules()
    breakRule(&rules)
    for seed in (start...count).map({ $0 }) + (1..<start).map({ $0 }) {
      guard let breach = Scenario(seed: seed, climate, rules: rules).play().breach,
        Scenario(seed: seed, climate).play().breach == nil
      else { continue }
      return (seed, breach)
    }
    return nil
  }
}

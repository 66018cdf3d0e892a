// SPDX-License-Identifier: Apache-2.0
//
// What a hostile server can do, one row of design/remote.md, 9, after the other: nothing is lost or believed, and what
// can be seen is said.

import Extents
import Testing

@testable import HistoriesSimulator

@Suite("A hostile server")
struct HostileServerTests {
  static let seeds: Range<UInt64> = 1..<7

  @Test(
    "Nothing is lost or believed, whatever a server does",
    arguments: Shares("hostile servers", count: 4).of(Hostility.allCases))
  func row(_ row: Hostility) {
    var raised: Set<String> = []
    for seed in Self.seeds {
      let scenario = Scenario(seed: seed, Climate(faults: false, hostility: [row]))
      let (end, breach) = scenario.play()
      raised.formUnion(end.alarmsRaised)
      guard let breach else { continue }
      Issue.record("\(row), seed \(seed): \(breach)\n\(scenario.shortened().script)")
      return
    }
    #expect(raised.isSuperset(of: row.alarms), "of \(row.alarms), \(raised) were said")
  }
}

extension Hostility {
  /// What some device says of it, in some of the seeds.
  fileprivate var alarms: Set<String> {
    switch self {
    case .ownAccount, .lateLists, .split, .replay, .withheldControl, .withheldSegments, .truncated: []
    // Whoever has the contents puts them back when verifying.
    case .swapped, .deletedPacks: []
    case .junk: ["missing"]
    case .deletedControl, .deletedSegments, .olderState: ["rolledBack"]
    case .nothing: ["empty"]
    }
  }
}

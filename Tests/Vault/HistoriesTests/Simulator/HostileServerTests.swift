// SPDX-License-Identifier: Apache-2.0
//
// What a hostile server can do, one row of design/remote.md, 9, after the other: nothing is lost or believed, and what
// can be seen is said.

import Testing

@testable import Histories

@Suite("A hostile server")
struct HostileServerTests {
  static let seeds = 6

  @Test("Nothing is lost or believed, whatever a server does", arguments: Hostility.allCases)
  func row(_ row: Hostility) {
    var raised: Set<String> = []
    for seed in Seeds.range(Self.seeds) {
      let scenario = Scenario(seed: seed, Climate(faults: false, hostility: [row]))
      let (end, breach) = scenario.play()
      raised.formUnion(end.alarmsRaised)
      guard breach != nil else { continue }
      let short = scenario.shortened()
      guard let breach = short.play().breach else { return }
      Issue.record(
        "\(row), seed \(seed): \(breach)\n\(short.deeds.map { "  .\($0)" }.joined(separator: "\n"))")
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

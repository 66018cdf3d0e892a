// SPDX-License-Identifier: Apache-2.0
//
// How many seeds hold, and how fast they are; only with HISTORIES_MEASURE in the environment, which names climates.

import Foundation
import Testing

@testable import Histories

@Suite(
  "Measures of simulations", .enabled(if: ProcessInfo.processInfo.environment["HISTORIES_MEASURE"] != nil))
struct MeasureTests {
  static let climates: [(String, Climate)] =
    [
      ("calm", .calm), ("faults", Climate(accounts: false)), ("accounts", Climate()),
      ("copies", Climate(copies: true)),
      ("clocks", Climate(clocks: true, backups: true)), ("bad", Climate(badMember: true)),
      ("everything", .everything),
    ] + Hostility.allCases.map { ("\($0)", Climate(faults: false, hostility: [$0])) }

  @Test func holds() {
    let wanted = Set(
      (ProcessInfo.processInfo.environment["HISTORIES_MEASURE"] ?? "").split(separator: ",").map(String.init))
    for (name, climate) in Self.climates where wanted.contains(name) || wanted.contains("all") {
      var breaches: [String: [UInt64]] = [:]
      var outcomes: [Outcome: Int] = [:]
      var (acknowledged, written, members, alarms) = (0, 0, 0, Set<String>())
      let seeds = Seeds.range(100)
      let started = Date()
      for seed in seeds {
        let (end, breach) = Scenario(seed: seed, climate).play()
        if let breach { breaches[String(breach.description.prefix(60)), default: []].append(seed) }
        outcomes.merge(end.outcomes, uniquingKeysWith: +)
        acknowledged += end.written.values.filter(\.isAcknowledged).count
        written += end.written.count
        members += end.goodMembers.count
        alarms.formUnion(end.alarmsRaised)
      }
      let seconds = Date().timeIntervalSince(started)
      let count = Double(seeds.count)
      print(
        "\(name): \(Int(seconds * 1_000 / count)) ms a seed, written \(written / seeds.count), acknowledged "
          + "\(acknowledged / seeds.count), members \(Double(members) / count), alarms \(alarms.sorted()), "
          + outcomes.map { "\($0.key) \($0.value)" }.sorted().joined(separator: " "))
      for (breach, seeds) in breaches.sorted(by: { $0.key < $1.key }) {
        print("  \(seeds.count) x \(breach) seeds \(seeds.prefix(6))")
      }
    }
  }

  /// One seed, shortened: HISTORIES_MEASURE=CLIMATE HISTORIES_FIRST_SEED=N.
  @Test func shortened() {
    let environment = ProcessInfo.processInfo.environment
    guard environment["HISTORIES_SHORTEN"] != nil else { return }
    for (name, climate) in Self.climates where name == environment["HISTORIES_MEASURE"] {
      let seed = Seeds.range(1).lowerBound
      let short = Scenario(seed: seed, climate).shortened()
      let (end, breach) = short.play()
      print("\(name) seed \(seed): \(breach.map { "\($0)" } ?? "holds")")
      for deed in short.deeds { print("  .\(deed)") }
      print(end.summary)
    }
  }

  @Test func brokenRules() {
    guard ProcessInfo.processInfo.environment["HISTORIES_BROKEN"] != nil else { return }
    for rule in BrokenRule.all {
      let caught = rule.caught(from: 1, within: 300)
      print("\(rule.name): \(caught.map { "seed \($0.seed), \($0.breach)" } ?? "NOT CAUGHT")")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Plays many scenarios of histories, and prints how many held. A breach is printed with its seed and a shortened script.

import Foundation
import Synchronization

@testable import HistoriesSimulator

/// What one climate came to.
struct Tally: Sendable {
  var seeds = 0
  var steps = 0
  var acknowledged = 0
  var outcomes: [String: Int] = [:]
  var alarms: Set<String> = []
  var breaches: [UInt64] = []

  mutating func add(_ seed: UInt64, _ end: Simulation, _ breach: Breach?) {
    seeds += 1
    steps += end.stepCount
    acknowledged += end.written.values.filter(\.isAcknowledged).count
    for (outcome, count) in end.outcomes { outcomes["\(outcome)", default: 0] += count }
    alarms.formUnion(end.alarmsRaised)
    if breach != nil { breaches.append(seed) }
  }
}

/// Plays the seeds on all processors.
func play(_ options: SimulationOptions, _ climate: Climate) -> Tally {
  let tally = Mutex(Tally())
  DispatchQueue.concurrentPerform(iterations: options.seeds.count) { index in
    let seed = options.seeds[options.seeds.startIndex + UInt64(index)]
    let (end, breach) = Scenario(seed: seed, climate, isReal: options.isReal).play()
    tally.withLock { $0.add(seed, end, breach) }
  }
  return tally.withLock { $0 }
}

/// - Returns: the number of breaches.
func playClimates(_ options: SimulationOptions) -> Int {
  var breaches = 0
  for (name, climate) in options.climates {
    let started = ContinuousClock.now
    let tally = play(options, climate)
    let seconds = (ContinuousClock.now - started) / .seconds(1)
    let outcomes = tally.outcomes.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }
    print(
      "\(name): \(tally.seeds) seeds in \(Int(seconds.rounded())) s, \(tally.breaches.count) breaches; "
        + "\(tally.steps) steps, \(tally.acknowledged) changes acknowledged; runs: \(outcomes.joined(separator: ", ")); "
        + "alarms: \(tally.alarms.sorted().joined(separator: ", "))")
    for seed in tally.breaches.sorted().prefix(options.isShortened ? 1 : 20) {
      let scenario = Scenario(seed: seed, climate, isReal: options.isReal)
      guard let breach = scenario.play().breach else { continue }
      print("  seed \(seed): \(breach)")
      guard options.isShortened else { continue }
      let short = scenario.shortened()
      print(short.script)
      print(short.play().end.summary)
    }
    breaches += tally.breaches.count
  }
  return breaches
}

/// - Returns: the number of broken rules that nothing noticed.
func playBrokenRules() -> Int {
  var unnoticed = 0
  for rule in BrokenRule.all {
    let caught = rule.caught(from: 1, within: 300)
    if caught == nil { unnoticed += 1 }
    print("\(rule.name): \(caught.map { "seed \($0.seed), \($0.breach)" } ?? "not noticed in 300 seeds")")
  }
  return unnoticed
}

/// - Returns: the number of orders in which something did not hold; one for each first event at most.
func playOrders() -> Int {
  var failures = 0
  for orders in Orders.all {
    let started = ContinuousClock.now
    let results = Mutex<[Orders.Result]>([])
    DispatchQueue.concurrentPerform(iterations: orders.events.count) { first in
      let result = orders.play(first: first)
      results.withLock { $0.append(result) }
    }
    let all = results.withLock { $0 }
    let seconds = (ContinuousClock.now - started) / .seconds(1)
    let failed = all.compactMap(\.failure)
    print(
      "\(orders.name): \(all.map(\.orders).reduce(0, +)) orders of \(orders.events.count) events in "
        + "\(Int(seconds.rounded())) s, \(failed.count) breaches")
    for (order, breach) in failed {
      print("  \(breach)")
      for deed in order { print("    .\(deed)") }
    }
    failures += failed.count
  }
  return failures
}

/// Prints how long a message takes on a history of a tenth of so many messages, and of so many.
func measure(_ count: Int) -> Int {
  for count in [count / 10, count] { print(LargeHistory(count: count)) }
  return 0
}

guard let options = SimulationOptions(CommandLine.arguments.dropFirst()) else {
  FileHandle.standardError.write(Data((SimulationOptions.usage + "\n").utf8))
  exit(2)
}
let failures =
  switch options.purpose {
  case .climates: playClimates(options)
  case .brokenRules: playBrokenRules()
  case .orders: playOrders()
  case .large(let count): measure(count)
  }
exit(failures == 0 ? 0 : 1)

// SPDX-License-Identifier: Apache-2.0
//
// The harness: warm-up, several rounds, median and minimum. Ours and the peers take turns, so that other
// work on the machine falls on all of them alike. Every figure is seconds for one operation.

/// What the rounds of one contender gave.
struct Series {
  private(set) var seconds: [Double] = []

  mutating func append(_ value: Double) { seconds.append(value) }

  var median: Double { seconds.sorted()[seconds.count / 2] }
  var minimum: Double { seconds.min() ?? .infinity }
}

/// Somebody else's way of doing the same thing: one round gives seconds for one operation.
struct Peer {
  let name: String
  let round: () throws -> Double
}

enum Harness {
  static let rounds = 5

  /// Does `body` for about `duration` and gives the mean time of one operation. The first is not counted.
  static func round(for duration: Duration = .seconds(1), _ body: () throws -> Void) rethrows
    -> Double
  {
    try body()
    let clock = ContinuousClock()
    let start = clock.now
    var (count, step) = (0, 1)
    while true {
      for _ in 0..<step { try body() }
      count += step
      let elapsed = clock.now - start
      if elapsed >= duration { return elapsed / .seconds(count) }
      // Reading the clock costs as much as a short operation.
      if elapsed < duration / 20 { step *= 2 }
    }
  }

  /// Ours, first peer, second peer, ours, …
  static func compare(
    rounds: Int = rounds, ours: () throws -> Double, peers: [Peer] = []
  ) throws -> (ours: Series, peers: [(name: String, series: Series)]) {
    var mine = Series()
    var theirs = peers.map { (name: $0.name, series: Series()) }
    for _ in 0..<rounds {
      mine.append(try ours())
      for index in peers.indices { theirs[index].series.append(try peers[index].round()) }
    }
    return (mine, theirs)
  }

  /// Uses a value in a way that the optimiser cannot see through.
  @inline(never)
  @_optimize(none)
  static func keep<Value>(_ value: Value) {}
}

// SPDX-License-Identifier: Apache-2.0

/// What the enumeration of one operation counted.
public struct CrashTally: Sendable, Equatable {
  public var store: String
  public var operation: String
  /// Changes of the disk that the operation makes.
  public var calls = 0
  /// Crashes: at each call, every different state that may be left then.
  public var points = 0
  /// Crashes during the recovery from a crash.
  public var doublePoints = 0
  /// The different states that these leave, each of which was opened and judged.
  public var states = 0
  /// Runs in which calls failed.
  public var failedWrites = 0
  /// How often the state before the operation was found, and that after it.
  public var before = 0
  public var after = 0
  public var losses = 0
  public var mixed = 0

  public init(store: String, operation: String) {
    self.store = store
    self.operation = operation
  }

  /// Adds what another part of the same enumeration counted; all of them make the same calls.
  public mutating func add(_ other: CrashTally) {
    calls = max(calls, other.calls)
    points += other.points
    doublePoints += other.doublePoints
    states += other.states
    failedWrites += other.failedWrites
    before += other.before
    after += other.after
    losses += other.losses
    mixed += other.mixed
  }

  /// As a line for another process.
  public var line: String {
    ([store, operation] + numbers.map(String.init)).joined(separator: "\t")
  }

  private var numbers: [Int] {
    [calls, points, doublePoints, states, failedWrites, before, after, losses, mixed]
  }

  /// Reads a line that another process wrote; nil when it is something else.
  public init?(line: Substring) {
    let fields = line.split(separator: "\t")
    let numbers = fields.dropFirst(2).compactMap { Int($0) }
    guard fields.count == 11, numbers.count == 9 else { return nil }
    self.init(store: String(fields[0]), operation: String(fields[1]))
    (calls, points, doublePoints, states) = (numbers[0], numbers[1], numbers[2], numbers[3])
    (failedWrites, before, after, losses, mixed) = (
      numbers[4], numbers[5], numbers[6], numbers[7], numbers[8]
    )
  }
}

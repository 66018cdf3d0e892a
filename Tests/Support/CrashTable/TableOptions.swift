// SPDX-License-Identifier: Apache-2.0

import CrashDisk
import Glibc

/// What the command line asks for.
struct TableOptions {
  static let usage = """
    Usage: crash-table [--full | --short] [--share K/N] [--only WORDS]… [--jobs N]
           crash-table --calls WORDS
           crash-table --guilty

    Stops every operation at every call that changes the disk, and every recovery from
    that again, and prints what was lost. The exit status is 1 if anything was.

      --full         every crash during recovery, every failing call; else a sample
      --short        a third of that sample
      --share K/N    one of N shares of it; 1/N to N/N together are the whole, and each has something of
                     every operation
      --places       prints each place that is played
      --only WORDS   operations with these words in 'store, operation'; may be repeated
      --jobs N       processes that share the work; as many as there are processors
      --calls WORDS  prints the calls of one operation instead
      --guilty       runs stores with known mistakes; all of them must be found

    Example: crash-table --only "journal, key wrap" --jobs 2
    """

  /// Crashes of each recovery, and one of so many runs with failing calls: enough for 10,000 and over within
  /// minutes. The second is a prime, so that no period of a store's own hides calls from it.
  private static let doublesPerRecovery = 2
  private static let failureStride = 5
  /// Where a third of the sample is enough, of the states and runs of each operation one of so many at least.
  private static let shortStride = 3

  var isFull = false
  var isShort = false
  var only: [String] = []
  var jobs: Int
  var calls: String?
  var isGuilty = false
  var listsPlaces = false
  var share = (index: 0, of: 1)
  /// Whether this process is one of several, which take pieces of the work from standard input.
  var isPart = false

  struct Misuse: Error {}

  init(_ arguments: [String]) throws {
    jobs = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    var left = arguments[...]
    while let word = left.popFirst() {
      switch word {
      case "--full": isFull = true
      case "--short": isShort = true
      case "--guilty": isGuilty = true
      case "--only": only.append(try Self.value(&left))
      case "--calls": calls = try Self.value(&left)
      case "--jobs":
        guard let count = Int(try Self.value(&left)), count > 0 else { throw Misuse() }
        jobs = count
      case "--share":
        let numbers = try Self.value(&left).split(separator: "/").compactMap { Int($0) }
        guard numbers.count == 2, numbers[1] > 0, (1...numbers[1]).contains(numbers[0]) else {
          throw Misuse()
        }
        share = (numbers[0] - 1, numbers[1])
      case "--places": listsPlaces = true
      case "--part": isPart = true
      default: throw Misuse()
      }
    }
    if isFull && isShort { throw Misuse() }
  }

  private static func value(_ left: inout ArraySlice<String>) throws -> String {
    guard let value = left.popFirst() else { throw Misuse() }
    return value
  }

  /// The words for another process that does a part of the same.
  var wordsOfPart: [String] {
    var words = ["--share", "\(share.index + 1)/\(share.of)", "--jobs", "\(jobs)", "--part"]
    for (isGiven, word) in [
      (isFull, "--full"), (isShort, "--short"), (isGuilty, "--guilty"), (listsPlaces, "--places"),
    ] where isGiven { words.append(word) }
    for name in only { words += ["--only", name] }
    return words
  }

  var extent: CrashEnumeration.Extent {
    var extent = CrashEnumeration.Extent()
    if !isFull && !isGuilty {
      extent.doublesPerRecovery = Self.doublesPerRecovery
      extent.failureStride = Self.failureStride
      extent.isSample = true
      if isShort { extent.leastStride = Self.shortStride }
    }
    (extent.share, extent.shares) = share
    extent.listsPlaces = listsPlaces
    return extent
  }

  /// The operations that are asked for.
  var scenarios: [any CrashScenario] {
    let all = isGuilty ? AllScenarios.guilty : AllScenarios.sound
    let words = calls.map { [$0] } ?? only
    if words.isEmpty { return all }
    return all.filter { scenario in
      words.contains { "\(scenario.store), \(scenario.operation)".contains($0) }
    }
  }
}

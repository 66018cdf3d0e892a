// SPDX-License-Identifier: Apache-2.0

@testable import HistoriesSimulator

/// What the command line asks for.
struct SimulationOptions: Sendable {
  static let usage = """
    Usage: scripts/simulate [CLIMATE]… [--seeds N] [--first N] [--real] [--shorten]
           scripts/simulate --broken-rules | --orders | --large N

    Plays scenarios of several devices with faults, copies, bad members and hostile servers,
    and checks the invariants. The exit status is 1 if one of them did not hold.

      CLIMATE         \(Climate.named.map(\.name).joined(separator: ", ")
        .wrapped(at: 64, indent: 20)); all of them unless named
      --seeds N       how many scenarios of each climate; 100 unless said
      --first N       the first seed; 1 unless said
      --real          real signatures and agreements, twice as slow
      --shorten       prints the deeds that the first breach needs, and how it ends
      --broken-rules  plays rules that are broken on purpose: each must be noticed within 300 seeds
      --orders        plays seven events of three devices in all orders, for each of a few sets
      --large N       measures how long a message takes on a history of a tenth of N, and of N messages

    Example: scripts/simulate everything --first 4711 --seeds 1 --shorten
    """

  var climates = Climate.named
  var seeds: Range<UInt64> = 1..<101
  var isReal = false
  var isShortened = false
  var purpose = Purpose.climates

  enum Purpose: Sendable { case climates, brokenRules, orders, large(Int) }

  init?(_ arguments: some Sequence<String>) {
    var left = Array(arguments)[...]
    var names: Set<String> = []
    var (first, count): (UInt64, UInt64) = (1, 100)
    func number() -> UInt64? { left.popFirst().flatMap { UInt64($0) }.flatMap { $0 < 1 << 40 ? $0 : nil } }
    while let word = left.popFirst() {
      switch word {
      case "--seeds":
        guard let value = number() else { return nil }
        count = value
      case "--first":
        guard let value = number() else { return nil }
        first = value
      case "--real": isReal = true
      case "--shorten": isShortened = true
      case "--broken-rules": purpose = .brokenRules
      case "--orders": purpose = .orders
      case "--large":
        guard let value = number(), value >= 10, value < 1 << 24 else { return nil }
        purpose = .large(Int(value))
      default:
        guard climates.contains(where: { $0.name == word }) else { return nil }
        names.insert(word)
      }
    }
    if !names.isEmpty { climates.removeAll { !names.contains($0.name) } }
    seeds = first..<first + count
  }
}

extension String {
  /// Broken between words, with blanks before each line but the first.
  fileprivate func wrapped(at width: Int, indent: Int) -> String {
    var lines = [""]
    for word in split(separator: " ") {
      if lines[lines.count - 1].count + word.count >= width { lines.append("") }
      lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
    }
    return lines.joined(separator: "\n" + String(repeating: " ", count: indent))
  }
}

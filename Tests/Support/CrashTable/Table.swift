// SPDX-License-Identifier: Apache-2.0

import CrashDisk

/// The table that is printed.
struct Table: CustomStringConvertible {
  let tallies: [CrashTally]
  let seconds: Double

  /// All operations together.
  var total: CrashTally {
    tallies.reduce(into: CrashTally(store: "", operation: "total")) { total, tally in
      let calls = total.calls + tally.calls
      total.add(tally)
      total.calls = calls
    }
  }

  /// Whether every operation was seen both undone and done, and nothing was lost or mixed.
  var isGood: Bool {
    !tallies.isEmpty
      && tallies.allSatisfy {
        $0.points > 0 && $0.before > 0 && $0.after > 0 && $0.losses == 0 && $0.mixed == 0
      }
  }

  /// Whether something was found in each.
  var isGuilty: Bool { !tallies.isEmpty && tallies.allSatisfy { $0.losses + $0.mixed > 0 } }

  private static let heads = [
    "store", "operation", "calls", "points", "double points", "states", "failed writes", "before", "after",
    "losses", "mixed",
  ]

  var description: String {
    let rows = [Self.heads] + (tallies + [total]).map(Self.cells)
    let widths = Self.heads.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      row.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return column < 2 ? cell + space : space + cell
      }.joined(separator: "  ")
    }
    let tenths = Int(seconds * 10)
    return lines.joined(separator: "\n") + "\n\(tenths / 10).\(tenths % 10) seconds"
  }

  private static func cells(_ tally: CrashTally) -> [String] {
    [
      tally.store, tally.operation, "\(tally.calls)", "\(tally.points)", "\(tally.doublePoints)",
      "\(tally.states)",
      "\(tally.failedWrites)", "\(tally.before)", "\(tally.after)", "\(tally.losses)", "\(tally.mixed)",
    ]
  }
}

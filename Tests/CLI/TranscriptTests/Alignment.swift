// SPDX-License-Identifier: Apache-2.0
//
// Expected lines laid beside the lines that came, with the fewest differences. No difference: they
// match. Otherwise the same alignment is the report, and the text for a rewritten transcript.

struct Alignment {
  enum Row: Equatable {
    case same(expected: String, actual: String)
    /// A line that `...` stands for.
    case skipped(String)
    case anyLines
    case missing(String)
    case unexpected(String)
  }

  private(set) var rows: [Row] = []

  init(expected: [String], actual: [String]) throws {
    let patterns = try expected.map { try $0 == LinePattern.anyLines ? nil : LinePattern($0) }
    // cost[i][j]: the fewest differences between expected[i...] and actual[j...].
    var cost = Array(repeating: Array(repeating: 0, count: actual.count + 1), count: expected.count + 1)
    var matches = cost.map { $0.map { _ in false } }
    for i in stride(from: expected.count, through: 0, by: -1) {
      for j in stride(from: actual.count, through: 0, by: -1) {
        if i == expected.count {
          cost[i][j] = actual.count - j
        } else if let pattern = patterns[i] {
          matches[i][j] = j < actual.count && pattern.matches(actual[j])
          let differing = min(cost[i + 1][j], j < actual.count ? cost[i][j + 1] : .max) + 1
          cost[i][j] = matches[i][j] ? min(cost[i + 1][j + 1], differing) : differing
        } else {
          cost[i][j] = min(cost[i + 1][j], j < actual.count ? cost[i][j + 1] : .max)
        }
      }
    }
    var (i, j) = (0, 0)
    while i < expected.count || j < actual.count {
      if i == expected.count {
        rows.append(.unexpected(actual[j]))
        j += 1
      } else if patterns[i] == nil {
        if cost[i][j] == cost[i + 1][j] {
          rows.append(.anyLines)
          i += 1
        } else {
          rows.append(.skipped(actual[j]))
          j += 1
        }
      } else if matches[i][j], cost[i][j] == cost[i + 1][j + 1] {
        rows.append(.same(expected: expected[i], actual: actual[j]))
        i += 1
        j += 1
      } else if cost[i][j] == cost[i + 1][j] + 1 {
        rows.append(.missing(expected[i]))
        i += 1
      } else {
        rows.append(.unexpected(actual[j]))
        j += 1
      }
    }
  }

  var isMatch: Bool {
    rows.allSatisfy {
      switch $0 {
      case .missing, .unexpected: false
      case .same, .skipped, .anyLines: true
      }
    }
  }

  /// The lines side by side: `-` expected and missing, `+` came and was not expected.
  var report: [String] {
    rows.map {
      switch $0 {
      case .same(_, let actual): "    \(actual)"
      case .skipped(let line): "    \(line)"
      case .anyLines: "    \(LinePattern.anyLines)"
      case .missing(let line): "  - \(line)"
      case .unexpected(let line): "  + \(line)"
      }
    }
  }

  /// The expected lines, corrected to what came. Ids and dates in new lines become placeholders.
  var corrected: [String] {
    rows.compactMap {
      switch $0 {
      case .same(let expected, _): expected
      case .anyLines: LinePattern.anyLines
      case .unexpected(let line): LinePattern.generalising(line)
      case .missing, .skipped: nil
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// A command-line session as a text file, and how it is read:
//
//     # prose for the reader, never compared
//     $ coffer status
//     the expected lines, standard output and standard error as they come
//     [exit 6]
//
// A line `> more` after a command continues it. `[exit N]` is left out for 0. Blank lines around a
// command separate; they are not compared. What expected lines may hold: `LinePattern`.

struct Transcript {
  struct Step: Equatable {
    /// What bash runs; more than one line when continued.
    var command: String
    /// The output lines, as patterns.
    var expected: [String] = []
    var exitStatus: Int32 = 0
    /// Prose between the step before and this one.
    var prose: [String] = []
  }

  var steps: [Step] = []

  init(text: String) {
    var prose: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.hasPrefix("$ ") {
        steps.append(Step(command: String(line.dropFirst(2)), prose: prose))
        prose = []
      } else if line.hasPrefix("#") {
        prose.append(line)
      } else if let last = steps.indices.last {
        if line.hasPrefix("> "), steps[last].expected.isEmpty {
          steps[last].command += "\n" + line.dropFirst(2)
        } else if line.hasPrefix("[exit "), let status = Int32(line.dropFirst(6).dropLast()) {
          steps[last].exitStatus = status
        } else {
          steps[last].expected.append(line)
        }
      }
    }
    for index in steps.indices {
      steps[index].expected = steps[index].expected.withoutBlankEnds
    }
  }

  /// The session as a file would hold it.
  static func text(of steps: [Step]) -> String {
    steps.map { step in
      var lines = step.prose
      lines.append("$ " + step.command.split(separator: "\n").joined(separator: "\n> "))
      lines += step.expected
      if step.exitStatus != 0 { lines.append("[exit \(step.exitStatus)]") }
      return lines.joined(separator: "\n") + "\n"
    }.joined(separator: "\n")
  }
}

extension [String] {
  /// Without empty lines at the beginning and the end.
  var withoutBlankEnds: [String] {
    let isBlank = { (line: String) in line.allSatisfy(\.isWhitespace) }
    return Array(Array(drop(while: isBlank).reversed()).drop(while: isBlank).reversed())
  }
}

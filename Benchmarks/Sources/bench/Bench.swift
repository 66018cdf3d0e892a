// SPDX-License-Identifier: Apache-2.0
//
// The command: `bench GROUP…`. Each group is a function that prints its own table.

import Foundation

@main
struct Bench {
  private static let groups: [(name: String, run: @Sendable () throws -> Void)] = [
    ("primitives", { try PrimitivesGroup.run() }),
    ("vault", { try VaultGroup.run() }),
    ("command", { try CommandGroup.run() }),
    ("session", { try SessionGroup.run() }),
    ("letters", { try LettersGroup.run() }),
    ("captures", { try CapturesGroup.run() }),
    ("custody", { try CustodyGroup.run() }),
    ("people", { try PeopleGroup.run() }),
  ]

  static func main() throws {
    var names = Array(CommandLine.arguments.dropFirst())
    if names == ["all"] { names = groups.map(\.name) }
    guard !names.isEmpty, names.allSatisfy({ name in groups.contains { $0.name == name } }) else {
      print("usage: bench GROUP...\ngroups: \(groups.map(\.name).joined(separator: " "))")
      return
    }
    if names.count == 1, let group = groups.first(where: { $0.name == names[0] }) { return try group.run() }
    // A process each: a command's peak memory is counted from its parent's.
    for name in names {
      let group = Process()
      group.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      group.arguments = [name]
      try group.run()
      group.waitUntilExit()
      if group.terminationStatus != 0 { exit(group.terminationStatus) }
    }
  }
}

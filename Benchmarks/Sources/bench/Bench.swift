// SPDX-License-Identifier: Apache-2.0
//
// The command: `bench GROUP…`. Each group is a function that prints its own table.

@main
struct Bench {
  private static let groups: [(name: String, run: @Sendable () throws -> Void)] = [
    ("primitives", { try PrimitivesGroup.run() }),
    ("vault", { try VaultGroup.run() }),
    ("command", { try CommandGroup.run() }),
  ]

  static func main() throws {
    var names = Array(CommandLine.arguments.dropFirst())
    if names == ["all"] { names = groups.map(\.name) }
    guard !names.isEmpty, names.allSatisfy({ name in groups.contains { $0.name == name } }) else {
      print("usage: bench GROUP...\ngroups: \(groups.map(\.name).joined(separator: " "))")
      return
    }
    for group in groups where names.contains(group.name) { try group.run() }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// What is promised in writing: the help of every command, and Specs/cli.md, against the command itself.

import ArgumentParser
import Foundation
import Testing

@testable import CofferCommands

@Suite("Help and the specification of the command line")
struct HelpAndSpecTests {
  struct Command: CustomTestStringConvertible, Sendable {
    var words: [String]
    var page: String
    var isGroup: Bool
    var testDescription: String { words.joined(separator: " ") }
  }

  /// Every command of the parser, the groups included.
  static let commands: [Command] = walk(CofferRoot.self, ["coffer"])

  private static func walk(_ command: any HelpPage.Type, _ words: [String]) -> [Command] {
    let nested = command.configuration.subcommands.compactMap { $0 as? any HelpPage.Type }
    #expect(nested.count == command.configuration.subcommands.count, "a command without a help page")
    return [Command(words: words, page: command.page, isGroup: !nested.isEmpty)]
      + nested.flatMap { walk($0, words + [$0._commandName]) }
  }

  static let specification: String = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Specs/cli.md")
    return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
  }()

  @Test("Help names the command first and ends in an example of it", arguments: commands)
  func help(command: Command) throws {
    let run = try Place().run(Array(command.words.dropFirst()) + ["--help"])
    #expect(run.status == 0)
    #expect(run.error.isEmpty)
    #expect(run.output == command.page + "\n")
    let lines = run.output.split(separator: "\n")
    #expect(lines.first?.hasPrefix(command.testDescription + ": ") == true)
    let example = try #require(lines.last)
    #expect(example.hasPrefix("example: ") && example.contains(command.testDescription))
    for line in lines { #expect(line.count <= 105, "\(line)") }
    #expect(try Place().run(["help"] + command.words.dropFirst()).output == run.output)
  }

  @Test(
    "The specification has a section for every command, with every option of its help",
    arguments: commands.filter { !$0.isGroup })
  func sections(command: Command) throws {
    let heading = "### `\(command.testDescription)`\n"
    let start = try #require(Self.specification.range(of: heading), "no section \(heading)")
    let rest = Self.specification[start.upperBound...]
    let section = rest.range(of: "\n##").map { rest[..<$0.lowerBound] } ?? rest
    for option in command.page.matches(of: /--[a-z][a-z-]+/)
    where !Self.sharedOptions.contains(String(option.0)) {
      #expect(section.contains(option.0), "\(option.0) is not in the section of \(command.testDescription)")
    }
  }

  /// Told once, for all commands.
  private static let sharedOptions: Set = [
    "--passphrase-fd", "--passphrase-file", "--json", "--quiet", "--home",
  ]

  @Test("The specification has no section of a command that there is not")
  func noOtherSections() {
    let names = Set(Self.commands.map(\.testDescription))
    for heading in Self.specification.matches(of: /### `(coffer [a-z ]+)`/) {
      #expect(names.contains(String(heading.1)))
    }
  }

  @Test("The exit codes in the specification are those of the command")
  func exitCodes() {
    let codes = Self.specification.matches(of: /(?m)^\| ([0-9]+) \|/).compactMap { Int32($0.1) }
    #expect(codes == ExitCode.allCases.map(\.rawValue))
  }
}

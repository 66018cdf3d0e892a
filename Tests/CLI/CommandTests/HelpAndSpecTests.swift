// SPDX-License-Identifier: Apache-2.0
//
// What is promised in writing: the help of every command, and Specs/cli.md, against the command itself.

import ArgumentParser
import Foundation
import Repository
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
    let file = Repository.root.appending(path: "Specs/cli.md")
    return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
  }()

  @Test("Help names the command first and ends in an example of it", arguments: commands)
  func help(command: Command) throws {
    let run = try Place().run(Array(command.words.dropFirst()) + ["--help"])
    #expect(run.status == 0)
    #expect(run.error.isEmpty)
    // A command that does something also names the options that all have, and so does the page that has others' options.
    let common = "--home, --json, --quiet, and ways to give a passphrase or PIN: coffer --help\n\n"
    #expect(run.output.contains(common) == (!command.isGroup || command.words == ["coffer", "slot", "add"]))
    #expect(run.output.replacing(common, with: "") == command.page + "\n")
    let lines = run.output.split(separator: "\n")
    #expect(lines.first?.hasPrefix(command.testDescription + ": ") == true)
    let example = try #require(lines.last)
    #expect(example.hasPrefix("example: ") && example.contains(command.testDescription))
    for line in lines { #expect(line.count <= 105, "\(line)") }
    #expect(try Place().run(["help"] + command.words.dropFirst()).output == run.output)
  }

  @Test("A man page keeps the words of a row together, and what they do apart from them")
  func manPages() throws {
    let place = try Place()
    let sop = try place.write(
      "#!/bin/sh\nprintf 'coffer-sop: signs\\n\\nusage: coffer-sop\\n'\n", to: "coffer-sop", mode: 0o700)
    let script = Repository.root.appending(path: "scripts/man-pages")
    let made = try place.runProcess([Place.coffer.path, sop, place.folder.path()], program: script)
    #expect(made.status == 0, "\(made.error)")
    let page = try String(
      contentsOf: place.folder.appending(path: "coffer-message-search.1"), encoding: .utf8)
    for row in [
      #"""
      .TP
      .B "from:ann  to:ben"
      in the sender; in the recipients
      .TP
      """#,
      #"""
      .TP
      .B "date:2024  date:2024\-03..2024\-05  date:..2019"
      .TQ
      .B "after:2024\-03  before:2024\-03\-15"
      by local date, both ends included
      .TP
      .B "has:attachment  is:mail  type:text/markdown  type:image/*"
      .TP
      """#,
    ] { #expect(page.contains(row), "\(page)") }
  }

  @Test(
    "The specification has a section for every command, with every option of its help",
    arguments: commands.filter { !$0.isGroup })
  func sections(command: Command) throws {
    let heading = "### `\(command.testDescription)`\n"
    let start = try #require(Self.specification.range(of: heading), "no section \(heading)")
    let rest = Self.specification[start.upperBound...]
    let section = rest.range(of: "\n##").map { rest[..<$0.lowerBound] } ?? rest
    for option in command.page.matches(of: /--[a-z][a-z-]+/).map({ String($0.0) })
    where option != "--json" {
      let names = Self.abbreviations.first { option.hasPrefix($0.key) }?.value ?? [option]
      #expect(
        names.contains { section.contains($0) },
        "\(option) is not in the section of \(command.testDescription)")
    }
  }

  /// What the specification writes for options that many commands have.
  private static let abbreviations = [
    "--passphrase-": ["PASS", "OPEN"], "--new-passphrase-": ["NEW"], "--phrase-": ["PHRASE"],
    "--pin-": ["PIN", "OPEN"],
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

  private func text(ofFilesIn folder: String, suffix: String) throws -> String {
    let folder = Repository.root.appending(path: folder)
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
      $0.hasSuffix(suffix)
    }
    #expect(!names.isEmpty)
    return try names.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined()
  }

  @Test("Every member of the JSON in the transcripts is in the specification")
  func members() throws {
    let transcripts = try text(ofFilesIn: "Tests/CLI/TranscriptTests/Transcripts", suffix: ".transcript")
    // A manifest, which a transcript shows as a file, is the matter of captures.md; metadata is the user's own.
    let answers = transcripts.split(separator: "\n")
      .filter { $0.hasPrefix("{") && $0.hasSuffix("}") && !$0.hasPrefix("{\"capture\":") }
      .map { $0.replacing(/"metadata":{[^}]*}/, with: "") }
    let members = Set(answers.flatMap { $0.matches(of: /"([A-Za-z]+)":/).map { String($0.1) } })
    #expect(members.count > 40, "\(members.count)")
    for member in members.subtracting(["error", "code", "message", "hint"]) {
      #expect(Self.specification.contains("`\(member)`"), "\(member)")
    }
  }

  /// Codes that the commands' own sources write out.
  private func writtenCodes() throws -> Set<String> {
    let commands = try text(ofFilesIn: "Sources/CLI/CofferCommands", suffix: ".swift")
    return Set(commands.matches(of: /[.][a-zA-Z]+,\s+"([a-z]+(?:_[a-z]+)*)"/).map { String($0.1) })
  }

  /// Codes of the vault's errors, by whether anything in Vaults throws them.
  private func vaultCodes() throws -> (thrown: Set<String>, others: Set<String>) {
    let declaration = try text(ofFilesIn: "Sources/Vault/Vaults", suffix: "VaultError.swift")
    let all = try text(ofFilesIn: "Sources/Vault/Vaults", suffix: ".swift").replacing(declaration, with: "")
    var codes: (thrown: Set<String>, others: Set<String>) = ([], [])
    for found in declaration.matches(of: /case [.]([a-zA-Z]+): "([A-Z]+(?:_[A-Z]+)+)"/) {
      let isThrown = try all.contains(Regex("(?:throw |[?:] |VaultError)\\.\(found.1)\\b"))
      _ = isThrown ? codes.thrown.insert(found.2.lowercased()) : codes.others.insert(found.2.lowercased())
    }
    return codes
  }

  @Test("Every error code in the source is in the specification")
  func errorCodes() throws {
    let codes = try writtenCodes().union(vaultCodes().thrown)
    #expect(codes.count > 40)
    for code in codes { #expect(Self.specification.contains("`\(code)`"), "\(code)") }
  }

  @Test("Every error code in the specification's table can happen")
  func listedErrorCodes() throws {
    let start = try #require(Self.specification.range(of: "| error code | exit |"))
    let rest = Self.specification[start.upperBound...]
    let table = rest[..<(rest.range(of: "\n\n")?.lowerBound ?? rest.endIndex)]
    let listed = Set(table.matches(of: /`([a-z_]+)`/).map { String($0.1) })
    #expect(listed.count > 80)
    let vault = try vaultCodes()
    #expect(vault.thrown.contains("vault_corrupt") && !vault.thrown.contains("key_derivation_failed"))
    #expect(listed.subtracting(try writtenCodes()).subtracting(vault.thrown) == [])
  }
}

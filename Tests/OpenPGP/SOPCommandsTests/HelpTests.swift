// SPDX-License-Identifier: Apache-2.0

import Foundation
import Repository
import Testing

@testable import SOPCommands

struct HelpTests {
  private static let names = SOPMain.subcommands.map { $0.name }

  @Test("Every subcommand of the draft is here, once")
  func complete() {
    #expect(
      Self.names.sorted() == [
        "armor", "certify-userid", "change-key-password", "dearmor", "decrypt", "encrypt", "extract-cert",
        "generate-key", "inline-detach", "inline-sign", "inline-verify", "list-profiles", "merge-certs",
        "revoke-key", "sign", "update-key", "validate-userid", "verify", "version",
      ])
  }

  @Test("The page of the command names every subcommand", arguments: [["--help"], ["help"]])
  func overview(arguments: [String]) throws {
    let outcome = try SOPFixture().run(arguments)
    #expect(outcome.exit == 0)
    for name in Self.names { #expect(outcome.text.contains(name)) }
  }

  @Test("The page of a subcommand names its options and ends in an example", arguments: names)
  func pages(name: String) throws {
    let command = try #require(SOPMain.subcommands.first { $0.name == name })
    let fixture = try SOPFixture()
    let outcome = try fixture.run([name, "--help"])
    #expect(outcome.exit == 0)
    #expect(outcome.error.isEmpty)
    #expect(try fixture.run(["help", name]).text == outcome.text)
    // The old name of an option is read and not advertised.
    for rule in command.options where rule.name != "verify-out" {
      #expect(outcome.text.contains("--\(rule.name)"))
    }
    let last = try #require(outcome.text.split(separator: "\n").last)
    #expect(last.hasPrefix("example: coffer-sop \(name)"))
    #expect(outcome.text.split(separator: "\n").allSatisfy { $0.count <= 110 })
  }

  @Test("Each question about the version has its answer")
  func version() throws {
    let fixture = try SOPFixture()
    #expect(try fixture.run(["version"]).text == "coffer-sop 0.1.0\n")
    // What people type who know other commands.
    #expect(try fixture.run(["--version"]).text == "coffer-sop 0.1.0\n")
    #expect(try fixture.run(["version", "--sopv"]).text == "1.0\n")
    #expect(try fixture.run(["version", "--sop-spec"]).text.contains("draft-dkg-openpgp-stateless-cli-"))
    #expect(try fixture.run(["version", "--backend"]).text.split(separator: "\n").count == 1)
    #expect(try fixture.run(["version", "--extended"]).text.contains("OpenSSL"))
  }

  @Test("A list of profiles has at most four lines, and each name in it is accepted")
  func profiles() throws {
    let fixture = try SOPFixture()
    let lines = try fixture.run(["list-profiles", "generate-key"]).text.split(separator: "\n")
    #expect((1...4).contains(lines.count))
    for line in lines {
      let name = try #require(line.split(separator: ":").first)
      #expect(try fixture.run(["generate-key", "--profile=\(name)"]).exit == 0)
    }
    #expect(
      (1...4).contains(try fixture.run(["list-profiles", "encrypt"]).text.split(separator: "\n").count))
  }

  @Test("Specs/sop.md has a row for every subcommand with its options, and every exit code")
  func specification() throws {
    let page = Repository.root.appending(path: "Specs/sop.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let lines = text.split(separator: "\n")
    for command in SOPMain.subcommands {
      let row = try #require(lines.first { $0.hasPrefix("| `\(command.name)` |") })
      for rule in command.options where rule.name != "verify-out" {
        let name = "--\(rule.name)"
        #expect(row.contains(name), "\(command.name)")
        if case .values = rule { #expect(row.contains("`\(name)` …"), "\(command.name)") }
      }
    }
    let codes = lines.filter { $0.hasPrefix("| ") }
      .flatMap { $0.split(separator: "|").flatMap { $0.split(separator: ",") } }
      .compactMap { Int32($0.trimmingCharacters(in: .whitespaces)) }
    #expect(Set(ExitCode.allCases.map(\.rawValue)).isSubset(of: codes))
  }
}

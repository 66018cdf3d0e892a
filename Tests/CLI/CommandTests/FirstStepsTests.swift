// SPDX-License-Identifier: Apache-2.0
//
// From nothing to a decrypted reply: README.md's own lines, with the real gpg as Bob.

import Foundation
import Repository
import Testing

@testable import CofferCommands

@Suite("First steps")
struct FirstStepsTests {
  /// The lines of the block in README.md that begins with `coffer init` and has gpg in it, without their comments.
  private func lines() throws -> [String] {
    let page = try String(contentsOf: Repository.root.appending(path: "README.md"), encoding: .utf8)
    let block = try #require(
      page.components(separatedBy: "```").first { $0.hasPrefix("\n$ coffer init") && $0.contains("bob$ gpg") }
    )
    return block.split(separator: "\n").map { line in
      String(line).replacing(#/ +[#] .*/#, with: "")
    }
  }

  @Test(
    "README's way from nothing to a decrypted reply works, with gpg as Bob",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/gpg"), "no gpg"),
    .timeLimit(.minutes(60)))
  func readme() throws {
    let lines = try lines()
    #expect(lines.first == "$ coffer init")
    #expect(lines.last == "$ coffer decrypt r.asc")
    let place = try GitPlace()
    try place.must(
      """
      gpg --batch --quiet --passphrase '' --quick-gen-key 'Bob <bob@example.org>' ed25519 sign never
      fingerprint=$(gpg --list-keys --with-colons bob@example.org | awk -F: '$1 == "fpr" { print $10; exit }')
      gpg --batch --quiet --passphrase '' --quick-add-key "$fingerprint" cv25519 encr never
      """)
    // The coffer of a place is made already: its words would need a terminal.
    let steps = lines.dropFirst().map { $0.replacing(#/^(?:bob)?[$] /#, with: "") }
    let outcome = try place.shell(
      """
      set -e -o pipefail
      coffer() { command coffer $P "$@"; }
      gpg() { command gpg --batch --trust-model always "$@"; }
      \(steps.joined(separator: "\n"))
      """)
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.output.contains("Four?\n"))
    #expect(outcome.output.hasSuffix("Yes.\n"))
    #expect(outcome.error.contains("decrypted; signed with the key that you have for"))
    #expect(outcome.error.hasSuffix("coffer contact verify Bob\n"))
  }

  @Test("The first steps, the man page and README name the same commands in the same order")
  func sameSteps() throws {
    let page = try String(
      contentsOf: Repository.root.appending(path: "Docs/man/coffer-openpgp.7"), encoding: .utf8)
    let commands = try lines().compactMap { $0.firstMatch(of: /coffer (?:identity \w+|contact \w+|\w+)/) }
      .map { String($0.output) }
    for text in [FirstSteps.page, page] {
      var rest = text[...]
      for command in commands {
        let found = try #require(rest.range(of: command), "\(command)")
        rest = rest[found.upperBound...]
      }
    }
  }

  @Test("Without a coffer the first steps are shown, and with one the help")
  func shown() throws {
    let place = try Place()
    let first = try place.run([])
    #expect(first.status == 2 && first.output.isEmpty)
    #expect(first.error == FirstSteps.page + "\n")
    try place.makeCoffer()
    #expect(try place.run([]).error == CofferRoot.page + "\n")
  }
}

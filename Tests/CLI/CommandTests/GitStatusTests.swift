// SPDX-License-Identifier: Apache-2.0
//
// The status lines as git reads them: a stand-in prints lines, and git says what it makes of them. coffer-gpg prints
// what this table shows to be right.

import Foundation
import Repository
import Secrets
import Testing

@testable import CofferCommands

@Suite("git's reading of status lines")
struct GitStatusTests {
  struct Row: CustomTestStringConvertible, Sendable {
    let name: String
    /// Printed by the stand-in; KEY stands for 16 digits, FPR for 40.
    let lines: [String]
    let exit: Int32
    /// `%G?`
    let verdict: String
    /// The exit code of verify-commit; nil where it depends on git's version.
    let verified: Int32?
    var signer = "Ada <ada@example.org>"
    var trust: String?
    var testDescription: String { name }
  }

  private static let good = "GOODSIG KEY Ada <ada@example.org>"
  private static let valid = "VALIDSIG FPR 2026-11-22 1795323920 0 4 0 22 10 00 FPR"

  /// The table of Specs/git.md, then what must be avoided.
  static let rows = [
    Row(
      name: "an identity", lines: ["NEWSIG", good, valid, "TRUST_ULTIMATE 0 pgp"], exit: 0, verdict: "G",
      verified: 0, trust: "ultimate"),
    Row(
      name: "a verified contact", lines: ["NEWSIG", good, valid, "TRUST_FULLY 0 pgp"], exit: 0, verdict: "G",
      verified: 0, trust: "fully"),
    Row(
      name: "a contact", lines: ["NEWSIG", good, valid, "TRUST_UNDEFINED 0 pgp"], exit: 0, verdict: "U",
      verified: 0, trust: "undefined"),
    Row(
      name: "expired since",
      lines: ["NEWSIG", "EXPKEYSIG KEY Ada <ada@example.org>", valid, "TRUST_FULLY 0 pgp"],
      exit: 0, verdict: "Y", verified: nil, trust: "fully"),
    Row(
      name: "revoked",
      lines: ["NEWSIG", "REVKEYSIG KEY Ada <ada@example.org>", valid, "TRUST_UNDEFINED 0 pgp"],
      exit: 1, verdict: "R", verified: 1, trust: "undefined"),
    Row(
      name: "unknown",
      lines: ["NEWSIG", "ERRSIG KEY 22 10 00 1795323920 9 FPR", "NO_PUBKEY KEY", "TRUST_UNDEFINED 0 pgp"],
      exit: 2, verdict: "E", verified: 1, signer: "", trust: "undefined"),
    Row(
      name: "changed", lines: ["NEWSIG", "BADSIG KEY Ada <ada@example.org>", "TRUST_UNDEFINED 0 pgp"],
      exit: 1,
      verdict: "B", verified: 1, trust: "undefined"),
    Row(
      name: "refused", lines: ["NEWSIG", "ERRSIG KEY 22 2 00 1795323920 5 FPR", "TRUST_UNDEFINED 0 pgp"],
      exit: 2, verdict: "E", verified: 1, signer: "", trust: "undefined"),
    Row(
      name: "two signatures",
      lines: ["NEWSIG", good, valid, "TRUST_FULLY 0 pgp", "NEWSIG", good, valid, "TRUST_FULLY 0 pgp"],
      exit: 0,
      verdict: "E", verified: 1, signer: ""),
    Row(
      name: "GOODSIG in the first line fails", lines: [good, valid, "TRUST_FULLY 0 pgp"], exit: 0,
      verdict: "G", verified: 1, trust: "fully"),
    Row(
      name: "a good line and a bad exit code disagree",
      lines: ["NEWSIG", good, valid, "TRUST_FULLY 0 pgp"], exit: 1, verdict: "G", verified: 1, trust: "fully"),
    Row(
      name: "an unknown word of trust is an error", lines: ["NEWSIG", good, valid, "TRUST_NONE 0 pgp"],
      exit: 0,
      verdict: "E", verified: 1, signer: ""),
  ]

  @Test("Git reads the table as the specification says")
  func table() throws {
    let git = try GitPlace()
    let keyID = "DE65E5376CD1BBF1"
    let fingerprint = "49D9086C69E4229020F25D57\(keyID)"
    try git.must(
      """
      printf '#!/bin/bash\\ncat $PLACE/lines\\nexit $(cat $PLACE/exit)\\n' >$PLACE/standin.text
      install -m 700 $PLACE/standin.text $PLACE/standin
      coffer-gpg --version >/dev/null
      tree=$(git write-tree)
      printf 'tree %s\\nauthor A <a@b> 1 +0000\\ncommitter A <a@b> 1 +0000\\ngpgsig -----BEGIN PGP SIGNATURE-----\\n \\n x\\n -----END PGP SIGNATURE-----\\n\\nOne\\n' $tree |
        git hash-object -t commit -w --stdin >$PLACE/commit
      git config gpg.program $PLACE/standin
      """)
    for row in Self.rows {
      let lines = row.lines.map {
        "[GNUPG:] "
          + $0.replacing("KEY ", with: keyID + " ").replacing("FPR", with: fingerprint)
          .replacing(" KEY", with: " " + keyID)
      }
      try git.place.write(lines.joined(separator: "\n") + "\n", to: "lines")
      try git.place.write("\(row.exit)", to: "exit")
      // Without a word of trust, git 2.39 aborts when it is asked for one.
      let format = row.trust == nil ? "%G?|%GS" : "%G?|%GS|%GT"
      let log = try git.must("git log -1 --format='\(format)' $(cat $PLACE/commit)")
      let expected = [row.verdict, row.signer, row.trust].compactMap(\.self).joined(separator: "|")
      #expect(log == expected, "\(row.name)")
      if let verified = row.verified {
        #expect(try git.shell("git verify-commit $(cat $PLACE/commit)").status == verified, "\(row.name)")
      }
    }
  }

  @Test("The specification has a row for every grade, with the lines and the exit code that git was shown")
  func specification() throws {
    let page = try String(contentsOf: Repository.root.appending(path: "Specs/git.md"), encoding: .utf8)
    for row in Self.rows.prefix(8) {
      let words = row.lines.dropFirst().map { "`\($0.split(separator: " ")[0])" }
      let found = page.split(separator: "\n").contains { line in
        guard line.hasPrefix("|"), line.contains("| \(row.exit) | \(row.verdict) |") else { return false }
        let isAnyTrust = line.contains("`TRUST_…`")
        return words.allSatisfy { line.contains($0) || isAnyTrust && $0.hasPrefix("`TRUST_") }
      }
      #expect(found, "\(row.name)")
    }
  }
}

@Suite("What git asks of coffer-gpg")
struct GitRequestTests {
  @Test("Git's forms are understood, and nothing else")
  func forms() throws {
    let output = try #require(InheritedDescriptor(1, for: .writing))
    let errors = try #require(InheritedDescriptor(2, for: .writing))
    #expect(
      try GitRequest(["--status-fd=2", "-bsau", "Ada <a@b>"]) == .sign(key: "Ada <a@b>", status: errors))
    let verify = GitRequest.verify(signature: "/tmp/x", status: output)
    #expect(try GitRequest(["--keyid-format=long", "--status-fd=1", "--verify", "/tmp/x", "-"]) == verify)
    #expect(try GitRequest(["--status-fd", "1", "--verify", "/tmp/x", "-"]) == verify)
    #expect(try GitRequest(["--version"]) == .version)
    let others = [
      [], ["-bsau"], ["-bsau", ""], ["-bsau", "a", "b"], ["--verify", "x"], ["--verify", "x", "y"],
      ["--status-fd=x", "-bsau", "a"], ["--status-fd=0", "-bsau", "a"], ["--list-keys"], ["--decrypt"],
      ["--status-fd=-1", "-bsau", "a"], ["--status-fd=1000000", "-bsau", "a"], ["-bsa", "a"],
    ]
    for words in others { #expect(throws: Failure.self, "\(words)") { try GitRequest(words) } }
    let run = try Place().run(["--help"])
    #expect(run.status == 0)
  }

  private func object(_ text: String) -> GitObject {
    let bytes = Array(text.utf8)
    return GitObject(bytes.span.bytes)
  }

  @Test("What is signed is recognised by its headers, and its subject is safe to show")
  func objects() {
    let tree = "tree " + String(repeating: "a", count: 40) + "\n"
    let commit = object(tree + "author A <a@b> 1 +0000\n\n\nFix \u{1B}[2J\u{202E}pump\nbody\n")
    #expect(commit.kind == "a commit" && commit.subject == "Fix \u{FFFD}[2J\u{FFFD}pump")
    #expect(object(tree.replacing("aaaa", with: "a")).kind == "something that is not of git")
    let tag = object("object " + String(repeating: "b", count: 64) + "\ntype commit\ntag v1\n\nFirst\n")
    #expect(tag.kind == "a tag" && tag.subject == "v1: First")
    #expect(object("certificate version 0.1\npusher x\n\n").kind == "a push")
    #expect(object("Dear Bob").kind == "something that is not of git" && object("").subject == nil)
    #expect(object(tree + "\n" + String(repeating: "x", count: 500)).subject?.count == 72)
  }

  @Test("A text of others has no line end, percent sign or hidden character in a status line")
  func escaping() {
    #expect(StatusLine.escaped("Ada <ada@example.org>") == "Ada <ada@example.org>")
    let hostile = "Zoë 100 %\n[GNUPG:] \u{7F}\u{85}\u{202E}\u{2028}"
    #expect(StatusLine.escaped(hostile) == "Zoë 100 %25%0A[GNUPG:] %7F%C2%85%E2%80%AE%E2%80%A8")
    #expect(StatusLine.escaped(String(repeating: "a", count: 9_000)).count == 255)
    #expect(StatusLine("GOODSIG", "KEY", "").text == "[GNUPG:] GOODSIG KEY")
  }

  @Test("The committer's name and address mean the address")
  func words() {
    #expect(GitSigning.words("Ada <ada@example.org>") == "ada@example.org")
    #expect(GitSigning.words("0xABCD!") == "0xABCD")
    #expect(GitSigning.words("Ada") == "Ada")
  }
}

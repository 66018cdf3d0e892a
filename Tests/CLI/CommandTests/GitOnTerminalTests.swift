// SPDX-License-Identifier: Apache-2.0
//
// What git's user sees on the terminal: what is signed, before it is signed, and why something was not.

import Foundation
import PseudoTerminals
import Testing

@Suite("git signs on a terminal")
struct GitOnTerminalTests {
  private func commit(_ git: GitPlace, _ message: String) throws -> CommandOnTerminal {
    let file = try git.place.write(message, to: "message")
    let work = git.place.folder.path() + "/work"
    return try CommandOnTerminal(
      ["git", "-C", work, "commit", "-S", "--allow-empty", "-F", file], in: git.place,
      environment: git.environment, program: URL(filePath: "/usr/bin/env"))
  }

  @Test("The prompt says what is signed and as whom; without a session it says what, and asks once")
  func prompt() throws {
    let git = try GitPlace()
    _ = try git.identity("Ada <ada@example.org>")
    var command = try commit(git, "Fix \u{1B}[2J pump\n")
    var shown = try command.answer("passphrase, to sign a commit in 'work': ", Place.passphrase)
    #expect(shown.contains("Fix \u{FFFD}[2J pump\r\n"), "\(shown)")
    try command.terminal.expect(
      "coffer-gpg: signed a commit in 'work' as Ada <ada@example.org>: Fix \u{FFFD}[2J pump")
    #expect(command.end().status == 0)

    try git.must("coffer unlock $P --quiet; coffer settings grace-period 300 $P --quiet")
    command = try commit(git, "Second\n")
    shown = try command.answer(
      "passphrase, to sign a commit in 'work' as Ada <ada@example.org>: ", Place.passphrase)
    #expect(shown.contains("Second\r\n"))
    #expect(command.end().status == 0)
    // Within the grace period nothing is asked, and the use is shown.
    command = try commit(git, "Third\n")
    try command.terminal.expect("coffer-gpg: signed a commit in 'work' as Ada <ada@example.org>: Third")
    #expect(command.end().status == 0)
    #expect(try git.must("git log --format=%G?") == "G\nG\nG")
  }

  @Test("The reason of a failure is on the terminal, also under a git that drops it")
  func reason() throws {
    let git = try GitPlace()
    let command = try commit(git, "First\n")
    try command.answer("passphrase, to sign a commit in 'work': ", Place.passphrase)
    try command.terminal.expect("coffer-gpg: there is no identity 'ada@example.org'\r\n")
    try command.terminal.expect("hint: ")
    #expect(command.end().status != 0)
    let cancelled = try commit(git, "First\n")
    try cancelled.terminal.expect("passphrase, to sign a commit in 'work': ")
    cancelled.terminal.type([0x03])
    try cancelled.terminal.expect("coffer-gpg: cancelled")
    #expect(cancelled.end().status != 0)
  }

  @Test("What a signature of version 6 means to others is said once")
  func version6() throws {
    let git = try GitPlace()
    _ = try git.identity("Ada <ada@example.org>", profile: "advanced")
    try git.must("coffer unlock $P --quiet")
    // Nobody would have read it.
    try git.must("git commit -q -S --allow-empty -m Zeroth")
    var command = try commit(git, "First\n")
    try command.terminal.expect("coffer-gpg: this identity is of version 6")
    #expect(command.end().status == 0)
    command = try commit(git, "Second\n")
    let end = command.end()
    #expect(end.status == 0 && end.shown.contains("signed a commit") && !end.shown.contains("version 6"))
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Errors as a person reads them: which file it is, what is wrong with it, and what to do.

import OpenPGP
import Testing

@testable import SOPCommands

struct ErrorMessageTests {
  @Test(
    "Of several files, the error names the one that cannot be used, and what is in it",
    arguments: [
      (["encrypt", "alice.cert", "alice.key"], "'alice.key' holds a secret key"),
      (["encrypt", "alice.cert", "noise"], "'noise' is damaged, or holds no certificates"),
      (["encrypt", "alice.cert", "zeros"], "'zeros' is damaged, or holds no certificates"),
      (["sign", "alice.key", "alice.cert"], "'alice.cert' holds a certificate"),
      (["sign", "alice.key", "noise"], "'noise' is damaged, or holds no secret keys"),
      (["encrypt", "alice.cert", "."], "'.' (is a directory)"),
      (["sign", "--micalg-out=absent/name", "alice.key"], "'absent/name' (no such file or directory)"),
      (["extract-cert"], "standard input is damaged, or holds no secret keys"),
    ])
  func file(arguments: [String], words: String) throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    try fixture.write("noise", to: "noise")
    try fixture.write([UInt8](repeating: 0, count: 200_000), to: "zeros")
    let outcome = try fixture.run(arguments, input: "data")
    #expect(outcome.exit != 0)
    #expect(outcome.output.isEmpty)
    #expect(outcome.error.contains(words), "\(outcome.error)")
  }

  @Test("Of several secret keys, the error names the one that may not sign, and why that may be")
  func cannotSign() throws {
    let fixture = try SOPFixture()
    try fixture.write("word", to: "password")
    try fixture.makeKey("alice")
    try fixture.makeKey("locked", ["--with-key-password=password"])
    var generation = KeyGeneration(
      .universal, userIDs: [UserID("Bob")], creationTime: Timestamp(secondsSince1970: 1_500_000_000))
    generation.validitySeconds = 86_400
    let expired = ArraySink()
    try generation.generate().write(to: expired)
    try fixture.write(expired.bytes, to: "expired.key")
    for (name, exit, words) in [
      ("expired.key", ExitCode.keyCannotSign, "'expired.key' may sign now: expired"),
      ("locked.key", .keyIsProtected, "'locked.key' is protected"),
    ] {
      let outcome = try fixture.run(["sign", "alice.key", name], input: "data")
      #expect(outcome.exit == exit.rawValue)
      #expect(outcome.output.isEmpty)
      #expect(outcome.error.contains(words), "\(outcome.error)")
    }
  }

  @Test("The hint for a protected key names the option of its subcommand")
  func passwordOption() throws {
    let fixture = try SOPFixture()
    try fixture.write("word", to: "password")
    try fixture.makeKey("alice", ["--with-key-password=password"])
    let changing = try fixture.run(["change-key-password"], input: fixture.contents("alice.key"))
    #expect(changing.exit == ExitCode.keyIsProtected.rawValue)
    #expect(changing.error.contains("hint: --old-key-password=FILE"))
    let signing = try fixture.run(["sign", "alice.key"], input: "data")
    #expect(signing.error.contains("hint: --with-key-password=FILE"))
  }

  @Test("A folder for temporary files that is not there is named as what is wrong")
  func temporaryFolder() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    let outcome = try fixture.shell(
      """
      head -c 3000000 /dev/zero | $SOP encrypt alice.cert > message
      cat message | TMPDIR=/nonexistent $SOP decrypt alice.key
      """)
    #expect(outcome.exit == ExitCode.unspecifiedFailure.rawValue)
    #expect(outcome.output.isEmpty)
    #expect(outcome.error.contains("cannot make a temporary file"), "\(outcome.error)")
    #expect(outcome.error.contains("TMPDIR"))
  }

  @Test("An argument that is not UTF-8 is refused: it would become another user's name, or another file's")
  func notText() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    for line in [
      "$SOP generate-key \"$(printf 'Ren\\351')\"",
      "$SOP sign --micalg-out=\"$(printf 'caf\\351')\" alice.key",
    ] {
      let outcome = try fixture.shell(line)
      #expect(outcome.exit == ExitCode.expectedText.rawValue)
      #expect(outcome.output.isEmpty)
      #expect(outcome.error == "coffer-sop: an argument is not text in UTF-8\n")
    }
  }

  @Test(
    "What a terminal would obey is not repeated in an error",
    arguments: ["\u{1B}[31m", "\n", "\u{202E}", "\u{2028}"])
  func terminal(character: String) throws {
    let outcome = try SOPFixture().run(["sign", "a\(character)b"])
    #expect(outcome.exit == ExitCode.missingInput.rawValue)
    #expect(!outcome.error.dropLast().contains(character))
  }
}

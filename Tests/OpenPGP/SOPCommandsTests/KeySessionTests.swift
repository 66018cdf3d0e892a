// SPDX-License-Identifier: Apache-2.0
//
// Sessions with keys and certificates.

import Testing

@testable import SOPCommands

struct KeySessionTests {
  /// What `command` makes of standard input, which is a file of `place`.
  private func run(_ fixture: SOPFixture, _ arguments: [String], _ file: String) throws -> SOPFixture.Outcome
  {
    try fixture.run(arguments, input: fixture.contents(file))
  }

  private func keep(_ fixture: SOPFixture, _ outcome: SOPFixture.Outcome, as name: String) throws {
    #expect(outcome.exit == 0, "\(outcome.error)")
    try fixture.write(outcome.output, to: name)
  }

  @Test(
    "Each profile makes a key that signs, under all its names",
    arguments: [
      ("default", 40), ("compatibility", 40), ("rfc4880", 40), ("security", 64), ("performance", 64),
      ("rfc9580", 64),
    ])
  func profiles(name: String, digitCount: Int) throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice", ["--profile=\(name)"])
    try keep(fixture, fixture.run(["sign", "alice.key"], input: "data"), as: "sig")
    let verified = try fixture.run(["verify", "sig", "alice.cert"], input: "data")
    #expect(verified.exit == 0, "\(verified.error)")
    let words = verified.text.split(separator: " ")
    #expect(words[1].count == digitCount && words[2].count == digitCount)
    #expect(words[3] == "mode:binary")
    #expect(words.dropFirst(4).joined(separator: " ") == "{\"signers\": [\"alice.cert\"]}\n")
  }

  @Test("A protected key wants its password, with or without the line end behind it")
  func passwords() throws {
    let fixture = try SOPFixture()
    try fixture.write("correct horse\n", to: "typed")
    try fixture.write("correct horse", to: "exact")
    try fixture.write("wrong", to: "wrong")
    try fixture.makeKey("alice", ["--with-key-password=typed"])
    #expect(try fixture.run(["sign", "alice.key"]).exit == ExitCode.keyIsProtected.rawValue)
    let wrong = try fixture.run(["sign", "--with-key-password=wrong", "alice.key"])
    #expect(wrong.exit == ExitCode.keyIsProtected.rawValue)
    #expect(wrong.output.isEmpty)
    for name in ["typed", "exact"] {
      let signed = try fixture.run([
        "sign", "--with-key-password=wrong", "--with-key-password=\(name)", "alice.key",
      ])
      #expect(signed.exit == 0, "\(signed.error)")
    }
    let variable = try fixture.run(
      ["sign", "--with-key-password=@ENV:PW", "alice.key"], environment: ["PW": "correct horse "])
    #expect(variable.exit == 0, "\(variable.error)")
    let descriptor = try fixture.shell("$SOP sign --with-key-password=@FD:5 alice.key 5<exact")
    #expect(descriptor.exit == 0, "\(descriptor.error)")
  }

  @Test("A password is changed, and taken off")
  func changedPassword() throws {
    let fixture = try SOPFixture()
    try fixture.write("old", to: "old")
    try fixture.write("new", to: "new")
    try fixture.makeKey("alice", ["--with-key-password=old"])
    let refused = try run(fixture, ["change-key-password", "--new-key-password=new"], "alice.key")
    #expect(refused.exit == ExitCode.keyIsProtected.rawValue)
    #expect(refused.output.isEmpty)
    try keep(
      fixture,
      run(fixture, ["change-key-password", "--old-key-password=old", "--new-key-password=new"], "alice.key"),
      as: "changed.key")
    #expect(
      try fixture.run(["sign", "--with-key-password=old", "changed.key"]).exit
        == ExitCode.keyIsProtected.rawValue)
    #expect(try fixture.run(["sign", "--with-key-password=new", "changed.key"]).exit == 0)
    try keep(
      fixture, run(fixture, ["change-key-password", "--old-key-password=new"], "changed.key"), as: "open.key")
    #expect(try fixture.run(["sign", "open.key"]).exit == 0)
    #expect(try run(fixture, ["extract-cert"], "open.key").output == (try fixture.contents("alice.cert")))
  }

  @Test(
    "A new password that nobody could type is refused",
    arguments: ["", "\n", "a\u{7}b", "\u{1B}[0m", "\u{FEFF}a"])
  func unreadablePassword(text: String) throws {
    let fixture = try SOPFixture()
    try fixture.write(text, to: "password")
    for arguments in [
      ["generate-key", "--with-key-password=password"], ["encrypt", "--with-password=password"],
    ] {
      let outcome = try fixture.run(arguments)
      #expect(outcome.exit == ExitCode.passwordNotHumanReadable.rawValue)
      #expect(outcome.output.isEmpty)
    }
  }

  @Test("A revoked key's signatures count no more once the revocation is merged in")
  func revocation() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    try fixture.makeKey("bob", userID: "Bob")
    try keep(fixture, fixture.run(["sign", "alice.key"], input: "data"), as: "sig")
    try keep(fixture, run(fixture, ["revoke-key"], "alice.key"), as: "revoked")
    try keep(fixture, run(fixture, ["merge-certs", "revoked", "bob.cert"], "alice.cert"), as: "merged")
    #expect(try fixture.run(["verify", "sig", "alice.cert"], input: "data").exit == 0)
    let refused = try fixture.run(["verify", "sig", "merged"], input: "data")
    #expect(refused.exit == ExitCode.noSignature.rawValue)
    #expect(refused.output.isEmpty)
    // Only what came in through standard input comes out.
    #expect(try fixture.run(["encrypt", "merged"]).exit == ExitCode.certificateCannotEncrypt.rawValue)
  }

  @Test("Binary output is what armored output holds")
  func binary() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    let armored = try fixture.contents("alice.cert")
    let binary = try run(fixture, ["extract-cert", "--no-armor"], "alice.key").output
    #expect(try fixture.run(["dearmor"], input: armored).output == binary)
    #expect(try fixture.run(["armor"], input: binary).output == armored)
    #expect(try fixture.run(["armor"], input: armored).output == armored)
    #expect(try fixture.run(["dearmor"], input: binary).output == binary)
    for command in ["armor", "dearmor"] {
      #expect(try fixture.run([command]).exit == ExitCode.badData.rawValue, "of nothing")
    }
  }

  @Test("A certification by an authority is made and found")
  func certification() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("authority", userID: "Authority")
    try fixture.makeKey("bob", userID: "Bob <bob@example.org>")
    let userID = "Bob <bob@example.org>"
    let noMatch = ExitCode.certificateUserIDNoMatch.rawValue
    #expect(try run(fixture, ["validate-userid", userID, "authority.cert"], "bob.cert").exit == noMatch)
    try keep(
      fixture, run(fixture, ["certify-userid", "--userid=\(userID)", "authority.key"], "bob.cert"),
      as: "certified")
    let found = try run(fixture, ["validate-userid", userID, "authority.cert"], "certified")
    #expect(found.exit == 0, "\(found.error)")
    #expect(found.output.isEmpty)
    let address = ["validate-userid", "--addr-spec-only", "bob@example.org", "authority.cert"]
    #expect(try run(fixture, address, "certified").exit == 0)
    #expect(
      try run(fixture, ["validate-userid", "bob@example.org", "authority.cert"], "certified").exit == noMatch)
    #expect(
      try run(
        fixture, ["validate-userid", "--validate-at=2001-01-01", userID, "authority.cert"], "certified"
      )
      .exit
        == noMatch)
    let stranger = ["certify-userid", "--userid=Mallory", "authority.key"]
    #expect(try run(fixture, stranger, "bob.cert").exit == noMatch)
    #expect(try run(fixture, stranger + ["--no-require-self-sig"], "bob.cert").exit == 0)
    #expect(try run(fixture, ["certify-userid", "--userid=\(userID)", "bob.cert"], "bob.cert").exit == 41)
  }

  @Test("A key that is up to date comes out of an update as it went in")
  func update() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    #expect(try run(fixture, ["update-key"], "alice.key").output == (try fixture.contents("alice.key")))
    try fixture.makeKey("signer", ["--signing-only"])
    #expect(try fixture.run(["encrypt", "signer.cert"]).exit == ExitCode.certificateCannotEncrypt.rawValue)
    #expect(
      try run(fixture, ["update-key", "--signing-only"], "signer.key").output
        == (try fixture.contents("signer.key")))
    #expect(
      try run(fixture, ["update-key", "--no-added-capabilities"], "signer.key").output
        == (try fixture.contents("signer.key")))
    try keep(fixture, run(fixture, ["update-key"], "signer.key"), as: "updated.key")
    #expect(try fixture.contents("updated.key") != (try fixture.contents("signer.key")))
    try keep(fixture, run(fixture, ["revoke-key"], "alice.key"), as: "revoked")
    #expect(
      try run(fixture, ["update-key", "--merge-certs=revoked"], "alice.key").exit
        == ExitCode.primaryKeyBad.rawValue)
  }
}

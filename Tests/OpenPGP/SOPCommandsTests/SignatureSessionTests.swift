// SPDX-License-Identifier: Apache-2.0
//
// Sessions with signatures, detached and inline.

import Testing

@testable import SOPCommands

struct SignatureSessionTests {
  private static let noSignature = ExitCode.noSignature.rawValue

  private func keep(_ fixture: SOPFixture, _ outcome: SOPFixture.Outcome, as name: String) throws {
    #expect(outcome.exit == 0, "\(outcome.error)")
    try fixture.write(outcome.output, to: name)
  }

  @Test("A signature is of its data, its time and its key")
  func detached() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    try fixture.makeKey("bob", userID: "Bob")
    try keep(
      fixture, fixture.run(["sign", "--micalg-out=micalg", "alice.key", "bob.key"], input: "data"), as: "sig")
    #expect(try fixture.contents("micalg") == Array("pgp-sha512".utf8))
    let both = try fixture.run(["verify", "sig", "alice.cert", "bob.cert"], input: "data")
    #expect(both.text.split(separator: "\n").count == 2)
    #expect(
      try fixture.run(["verify", "sig", "bob.cert"], input: "data").text.split(separator: "\n").count == 1)
    for (arguments, data) in [
      (["verify", "sig", "bob.cert"], "data "),
      (["verify", "--not-before=2100-01-01", "sig", "bob.cert"], "data"),
      (["verify", "--not-after=2001-01-01", "sig", "bob.cert"], "data"),
    ] {
      let outcome = try fixture.run(arguments, input: data)
      #expect(outcome.exit == Self.noSignature)
      #expect(outcome.output.isEmpty)
    }
    #expect(
      try fixture.run(["verify", "bob.cert", "bob.cert"], input: "data").exit == ExitCode.badData.rawValue)
    try fixture.write("no signature", to: "nothing")
    #expect(
      try fixture.run(["verify", "nothing", "bob.cert"], input: "data").exit == ExitCode.badData.rawValue)
  }

  @Test("Text is signed whatever its line ends, and must be text")
  func text() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    try keep(fixture, fixture.run(["sign", "--as=text", "alice.key"], input: "one\ntwo\n"), as: "sig")
    let verified = try fixture.run(["verify", "sig", "alice.cert"], input: "one\r\ntwo\r\n")
    #expect(verified.exit == 0, "\(verified.error)")
    #expect(verified.text.contains(" mode:text "))
    for arguments in [["sign", "--as=text"], ["inline-sign", "--as=clearsigned"]] {
      let refused = try fixture.run(arguments + ["alice.key"], input: [0xFF, 0xFE])
      #expect(refused.exit == ExitCode.expectedText.rawValue)
      #expect(refused.output.isEmpty)
    }
  }

  @Test(
    "An inline-signed message gives its data when it is genuine, and nothing when it is not",
    arguments: ["binary", "text", "clearsigned"], ["rfc4880", "rfc9580"])
  func inline(mode: String, profile: String) throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice", ["--profile=\(profile)"])
    try fixture.makeKey("bob", ["--profile=\(profile)"], userID: "Bob")
    let text = "- one\ntwo"
    try keep(
      fixture, fixture.run(["inline-sign", "--as=\(mode)", "alice.key", "bob.key"], input: text), as: "signed"
    )
    let signed = try fixture.contents("signed")
    let verified = try fixture.run(
      ["inline-verify", "--verifications-out=lines", "alice.cert", "bob.cert"], input: signed)
    #expect(verified.exit == 0, "\(verified.error)")
    #expect(verified.text == text)
    #expect(try fixture.contents("lines").split(separator: 0x0A).count == 2)
    try fixture.makeKey("carol", userID: "Carol")
    let refused = try fixture.run(["inline-verify", "--verifications-out=none", "carol.cert"], input: signed)
    #expect(refused.exit == Self.noSignature)
    #expect(refused.output.isEmpty)
    #expect(!fixture.has("none"))
    let detached = try fixture.run(["inline-detach", "--signatures-out=detached"], input: signed)
    #expect(detached.text == text)
    #expect(try fixture.run(["verify", "detached", "alice.cert"], input: detached.output).exit == 0)
  }

  @Test("Text around a cleartext signed message, and headers in it, are bad data")
  func injection() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    let message = try fixture.run(["inline-sign", "--as=clearsigned", "alice.key"], input: "text").text
    #expect(message.hasPrefix("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\ntext\n"))
    for forged in [
      "Pay Mallory\n\(message)", "\(message)Pay Mallory\n",
      message.replacing("Hash: SHA512\n", with: "Hash: SHA512\nComment: Pay Mallory\n"),
    ] {
      let outcome = try fixture.run(["inline-verify", "alice.cert"], input: forged)
      #expect(outcome.exit == ExitCode.badData.rawValue)
      #expect(outcome.output.isEmpty)
    }
  }
}

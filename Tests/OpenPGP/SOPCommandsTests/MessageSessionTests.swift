// SPDX-License-Identifier: Apache-2.0
//
// Sessions with encrypted messages.

import Extents
import Testing

@testable import SOPCommands

struct MessageSessionTests {
  private static let cannotDecrypt = ExitCode.cannotDecrypt.rawValue

  private func encrypted(_ fixture: SOPFixture, _ arguments: [String], _ text: String = "data") throws
    -> [UInt8]
  {
    let outcome = try fixture.run(["encrypt"] + arguments, input: text)
    #expect(outcome.exit == 0, "\(outcome.error)")
    return outcome.output
  }

  @Test(
    "A message opens with each of its keys, passwords and its session key",
    // A password of the newer profile takes 512 MiB, each time.
    arguments: Shares("passwords of messages", count: 2).of(["rfc4880", "rfc9580"]))
  func ways(profile: String) throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice", ["--profile=\(profile)"])
    try fixture.makeKey("bob", ["--profile=\(profile)"], userID: "Bob")
    try fixture.write("one word\n", to: "typed")
    try fixture.write("one word", to: "exact")
    let message = try encrypted(
      fixture, ["--with-password=typed", "--session-key-out=session", "alice.cert", "bob.cert"])
    for arguments in [
      ["alice.key"], ["bob.key"], ["--with-password=typed"], ["--with-password=exact"],
      ["--with-session-key=session"],
    ] {
      let outcome = try fixture.run(["decrypt"] + arguments, input: message)
      #expect(outcome.exit == 0, "\(outcome.error)")
      #expect(outcome.text == "data")
    }
    let again = try fixture.run(["decrypt", "--session-key-out=@FD:1", "alice.key"], input: message)
    #expect(again.output == Array("data".utf8) + (try fixture.contents("session")))
    try fixture.makeKey("carol", userID: "Carol")
    try fixture.write("other", to: "wrong")
    for arguments in [["carol.key"], ["--with-password=wrong"]] {
      let outcome = try fixture.run(["decrypt"] + arguments, input: message)
      #expect(outcome.exit == Self.cannotDecrypt)
      #expect(outcome.output.isEmpty)
    }
  }

  @Test("A changed or shortened message gives no byte", arguments: ["rfc4880", "rfc9580"])
  func tampered(profile: String) throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice", ["--profile=\(profile)"])
    let text = String(repeating: "data ", count: 50_000)
    let message = try encrypted(fixture, ["--no-armor", "alice.cert"], text)
    #expect(try fixture.run(["decrypt", "alice.key"], input: message).text == text)
    for offset in [message.count - 1, message.count / 2, message.count - 30] {
      var changed = message
      changed[offset] ^= 1
      let outcome = try fixture.run(["decrypt", "alice.key"], input: changed)
      #expect(outcome.exit != 0)
      #expect(outcome.output.isEmpty)
    }
    let cut = try fixture.run(["decrypt", "alice.key"], input: Array(message.dropLast(40)))
    #expect(cut.exit != 0)
    #expect(cut.output.isEmpty)
  }

  @Test("Signatures inside are found, and a missing one is not a failure but an empty file")
  func signed() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    try fixture.makeKey("bob", userID: "Bob")
    let signed = try encrypted(fixture, ["--sign-with=alice.key", "bob.cert"])
    let good = try fixture.run(
      ["decrypt", "--verify-with=alice.cert", "--verifications-out=good", "bob.key"], input: signed)
    #expect(good.exit == 0, "\(good.error)")
    #expect(try fixture.contents("good").split(separator: 0x0A).count == 1)
    let old = try fixture.run(
      ["decrypt", "--verify-with=alice.cert", "--verify-out=old", "bob.key"], input: signed)
    #expect(old.exit == 0, "\(old.error)")
    for (name, message, bound) in [
      ("unsigned", try encrypted(fixture, ["bob.cert"]), "-"), ("late", signed, "2100-01-01"),
    ] {
      let outcome = try fixture.run(
        [
          "decrypt", "--verify-with=alice.cert", "--verifications-out=\(name)",
          "--verify-not-before=\(bound)",
          "bob.key",
        ], input: message)
      #expect(outcome.exit == 0, "\(outcome.error)")
      #expect(outcome.text == "data")
      #expect(try fixture.contents(name).isEmpty)
    }
  }

  @Test("A protected key opens a message with its password alone")
  func protected() throws {
    let fixture = try SOPFixture()
    try fixture.write("word\n", to: "password")
    try fixture.makeKey("alice", ["--with-key-password=password"])
    let message = try encrypted(fixture, ["alice.cert"])
    let refused = try fixture.run(["decrypt", "alice.key"], input: message)
    #expect(refused.exit == ExitCode.keyIsProtected.rawValue)
    #expect(refused.output.isEmpty)
    #expect(
      try fixture.run(["decrypt", "--with-key-password=password", "alice.key"], input: message).text == "data"
    )
  }

  @Test(
    "Data through a pipe come out whole, and a reader that goes away ends the command without a word of Swift's"
  )
  func pipes() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    let outcome = try fixture.shell(
      "head -c 3000000 /dev/zero | $SOP encrypt alice.cert | $SOP decrypt alice.key | wc -c")
    #expect(outcome.text == "3000000\n")
    let closed = try fixture.shell(
      "head -c 9000000 /dev/zero | { $SOP encrypt alice.cert; echo $? >&2; } | head -c 1 > /dev/null")
    #expect(closed.error.hasSuffix("\n1\n"))
    #expect(closed.error.hasPrefix("coffer-sop: "))
  }

  @Test(
    "Text that is not a session key is bad data",
    arguments: [
      "", "9", "9:", "9:00", "x:00", "999:00", "9:\(String(repeating: "0", count: 63))g",
      "7:\(String(repeating: "0", count: 64))",
    ])
  func sessionKeys(text: String) throws {
    let fixture = try SOPFixture()
    try fixture.write(text, to: "session")
    let outcome = try fixture.run(["decrypt", "--with-session-key=session"], input: "x")
    #expect(outcome.exit == ExitCode.badData.rawValue)
  }
}

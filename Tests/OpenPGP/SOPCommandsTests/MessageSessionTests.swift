// SPDX-License-Identifier: Apache-2.0
//
// Sessions with encrypted messages.

import Testing

@testable import SOPCommands

struct MessageSessionTests {
  private static let cannotDecrypt = ExitCode.cannotDecrypt.rawValue

  private func encrypted(_ place: SOPFixture, _ arguments: [String], _ text: String = "data") throws
    -> [UInt8]
  {
    let outcome = try place.run(["encrypt"] + arguments, input: text)
    #expect(outcome.exit == 0, "\(outcome.error)")
    return outcome.output
  }

  @Test(
    "A message opens with each of its keys, passwords and its session key", arguments: ["rfc4880", "rfc9580"])
  func ways(profile: String) throws {
    let place = try SOPFixture()
    try place.makeKey("alice", ["--profile=\(profile)"])
    try place.makeKey("bob", ["--profile=\(profile)"], userID: "Bob")
    try place.write("one word\n", to: "typed")
    try place.write("one word", to: "exact")
    let message = try encrypted(
      place, ["--with-password=typed", "--session-key-out=session", "alice.cert", "bob.cert"])
    for arguments in [
      ["alice.key"], ["bob.key"], ["--with-password=typed"], ["--with-password=exact"],
      ["--with-session-key=session"],
    ] {
      let outcome = try place.run(["decrypt"] + arguments, input: message)
      #expect(outcome.exit == 0, "\(outcome.error)")
      #expect(outcome.text == "data")
    }
    let again = try place.run(["decrypt", "--session-key-out=@FD:1", "alice.key"], input: message)
    #expect(again.output == Array("data".utf8) + (try place.contents("session")))
    try place.makeKey("carol", userID: "Carol")
    try place.write("other", to: "wrong")
    for arguments in [["carol.key"], ["--with-password=wrong"]] {
      let outcome = try place.run(["decrypt"] + arguments, input: message)
      #expect(outcome.exit == Self.cannotDecrypt)
      #expect(outcome.output.isEmpty)
    }
  }

  @Test("A changed or shortened message gives no byte", arguments: ["rfc4880", "rfc9580"])
  func tampered(profile: String) throws {
    let place = try SOPFixture()
    try place.makeKey("alice", ["--profile=\(profile)"])
    let text = String(repeating: "data ", count: 50_000)
    let message = try encrypted(place, ["--no-armor", "alice.cert"], text)
    #expect(try place.run(["decrypt", "alice.key"], input: message).text == text)
    for offset in [message.count - 1, message.count / 2, message.count - 30] {
      var changed = message
      changed[offset] ^= 1
      let outcome = try place.run(["decrypt", "alice.key"], input: changed)
      #expect(outcome.exit != 0)
      #expect(outcome.output.isEmpty)
    }
    let cut = try place.run(["decrypt", "alice.key"], input: Array(message.dropLast(40)))
    #expect(cut.exit != 0)
    #expect(cut.output.isEmpty)
  }

  @Test("Signatures inside are found, and a missing one is no failure but an empty file")
  func signed() throws {
    let place = try SOPFixture()
    try place.makeKey("alice")
    try place.makeKey("bob", userID: "Bob")
    let signed = try encrypted(place, ["--sign-with=alice.key", "bob.cert"])
    let good = try place.run(
      ["decrypt", "--verify-with=alice.cert", "--verifications-out=good", "bob.key"], input: signed)
    #expect(good.exit == 0, "\(good.error)")
    #expect(try place.contents("good").split(separator: 0x0A).count == 1)
    let old = try place.run(
      ["decrypt", "--verify-with=alice.cert", "--verify-out=old", "bob.key"], input: signed)
    #expect(old.exit == 0, "\(old.error)")
    for (name, message, bound) in [
      ("unsigned", try encrypted(place, ["bob.cert"]), "-"), ("late", signed, "2100-01-01"),
    ] {
      let outcome = try place.run(
        [
          "decrypt", "--verify-with=alice.cert", "--verifications-out=\(name)",
          "--verify-not-before=\(bound)",
          "bob.key",
        ], input: message)
      #expect(outcome.exit == 0, "\(outcome.error)")
      #expect(outcome.text == "data")
      #expect(try place.contents(name).isEmpty)
    }
  }

  @Test("A protected key opens a message with its password alone")
  func protected() throws {
    let place = try SOPFixture()
    try place.write("word\n", to: "password")
    try place.makeKey("alice", ["--with-key-password=password"])
    let message = try encrypted(place, ["alice.cert"])
    let refused = try place.run(["decrypt", "alice.key"], input: message)
    #expect(refused.exit == ExitCode.keyIsProtected.rawValue)
    #expect(refused.output.isEmpty)
    #expect(
      try place.run(["decrypt", "--with-key-password=password", "alice.key"], input: message).text == "data")
  }

  @Test(
    "Data through a pipe come out whole, and a reader that goes away ends the command without a word of Swift's"
  )
  func pipes() throws {
    let place = try SOPFixture()
    try place.makeKey("alice")
    let outcome = try place.shell(
      "head -c 3000000 /dev/zero | $SOP encrypt alice.cert | $SOP decrypt alice.key | wc -c")
    #expect(outcome.text == "3000000\n")
    let closed = try place.shell(
      "head -c 9000000 /dev/zero | { $SOP encrypt alice.cert; echo $? >&2; } | head -c 1 > /dev/null")
    #expect(closed.error.hasSuffix("\n1\n"))
    #expect(closed.error.hasPrefix("coffer-sop: "))
  }

  @Test(
    "What is no session key is bad data",
    arguments: [
      "", "9", "9:", "9:00", "x:00", "999:00", "9:\(String(repeating: "0", count: 63))g",
      "7:\(String(repeating: "0", count: 64))",
    ])
  func sessionKeys(text: String) throws {
    let place = try SOPFixture()
    try place.write(text, to: "session")
    let outcome = try place.run(["decrypt", "--with-session-key=session"], input: "x")
    #expect(outcome.exit == ExitCode.badData.rawValue)
  }
}

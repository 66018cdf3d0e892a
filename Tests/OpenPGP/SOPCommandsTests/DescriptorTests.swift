// SPDX-License-Identifier: Apache-2.0
//
// What goes where: streams that are closed, descriptors that are open the wrong way, two outputs of one name.

import Testing

@testable import SOPCommands

struct DescriptorTests {
  @Test("With standard output closed, its data do not go into the file of an option")
  func closedOutput() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    try fixture.write("data", to: "document")
    let message = try fixture.run(["encrypt", "alice.cert"], input: "data")
    try fixture.write(message.output, to: "message")
    for line in [
      "$SOP decrypt --session-key-out=out alice.key < message >&-",
      "$SOP sign --micalg-out=out alice.key < document >&-",
    ] {
      let outcome = try fixture.shell(line)
      #expect(outcome.exit == ExitCode.unspecifiedFailure.rawValue, "\(outcome.error)")
      #expect(!fixture.has("out"))
    }
  }

  @Test("With standard error closed, what would be told there does not go into the file of an option")
  func closedError() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    let outcome = try fixture.shell("$SOP encrypt --debug --session-key-out=key alice.cert 2>&-")
    #expect(outcome.exit == 0)
    #expect(try fixture.contents("key").starts(with: "9:".utf8))
    #expect(try fixture.contents("key").count == 66)
  }

  @Test("With standard input closed, no other file is taken for it")
  func closedInput() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    for line in [
      "$SOP sign alice.key <&-", "$SOP extract-cert <&-", "$SOP encrypt --session-key-out=key alice.cert <&-",
    ] {
      let outcome = try fixture.shell(line)
      #expect(outcome.exit == ExitCode.unspecifiedFailure.rawValue, "\(outcome.error)")
      #expect(!fixture.has("key"))
    }
  }

  @Test(
    "A descriptor that is closed, or open the wrong way, is refused before anything is written",
    arguments: [
      "$SOP sign @FD:0 <&-", "$SOP sign @FD:7 7>other", "$SOP sign --micalg-out=@FD:7 alice.key 7<alice.key",
      "$SOP sign --micalg-out=@FD:7 alice.key",
    ])
  func wrongWay(line: String) throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    let outcome = try fixture.shell(line)
    #expect(outcome.exit == ExitCode.missingInput.rawValue, "\(outcome.error)")
    #expect(outcome.output.isEmpty)
  }

  @Test("A file of the command's own is not taken for a descriptor that is closed", arguments: 3...9)
  func ownFiles(number: Int) throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    try fixture.write(fixture.run(["encrypt", "alice.cert"], input: "data").output, to: "message")
    let outcome = try fixture.shell(
      "$SOP decrypt --session-key-out=key --verify-with=alice.cert --verifications-out=@FD:\(number) alice.key"
        + " <message \((3...9).map { "\($0)>&-" }.joined(separator: " "))")
    #expect(outcome.exit == ExitCode.missingInput.rawValue, "\(outcome.error)")
    #expect(outcome.output.isEmpty && !fixture.has("key"))
  }

  @Test("Two outputs of one name, or an output without one, are refused before anything is written")
  func names() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    let message = try fixture.run(["encrypt", "alice.cert"], input: "data").output
    let same = try fixture.run(
      [
        "decrypt", "--session-key-out=out", "--verifications-out=out", "--verify-with=alice.cert",
        "alice.key",
      ], input: message)
    #expect(same.exit == ExitCode.incompatibleOptions.rawValue)
    #expect(same.output.isEmpty)
    #expect(!fixture.has("out"))
    let empty = try fixture.run(["sign", "--micalg-out=", "alice.key"], input: "data")
    #expect(empty.exit == ExitCode.missingArgument.rawValue)
    #expect(empty.output.isEmpty)
  }
}

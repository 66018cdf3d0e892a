// SPDX-License-Identifier: Apache-2.0
//
// Outputs besides standard output: while one of them cannot be written, nothing comes out.

import Testing

@testable import SOPCommands

struct SideOutputTests {
  /// Lines of the shell that end in the name of a second output.
  private static let lines = [
    "decrypt alice.key <message --session-key-out=",
    "decrypt --verify-with=alice.cert alice.key <message --verifications-out=",
    "inline-verify alice.cert <signed --verifications-out=",
    "inline-verify alice.cert <clear --verifications-out=",
    "inline-detach <signed --signatures-out=",
    "inline-detach <clear --signatures-out=",
    "sign alice.key <data --micalg-out=",
    "encrypt alice.cert <data --session-key-out=",
  ]

  /// Data that are longer than what is held in memory, and messages of them.
  private func workplace() throws -> SOPFixture {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    let made = try fixture.shell(
      """
      head -c 3000000 /dev/zero >data
      $SOP encrypt --sign-with=alice.key alice.cert <data >message
      $SOP inline-sign alice.key <data >signed
      echo text | $SOP inline-sign --as=clearsigned alice.key >clear
      """)
    #expect(made.exit == 0, "\(made.error)")
    return fixture
  }

  @Test("A file that finds no room leaves standard output empty, and is not there", arguments: lines)
  func noRoom(line: String) throws {
    let fixture = try workplace()
    // No file may have an octet, and standard output is a pipe.
    let outcome = try fixture.shell(
      "{ (trap '' XFSZ; ulimit -f 0; exec $SOP \(line)out); echo $? >&2; } | wc -c")
    #expect(outcome.text == "0\n")
    #expect(outcome.error.hasSuffix("1\n"))
    #expect(!fixture.has("out"))
  }

  @Test("A descriptor that takes nothing leaves standard output empty", arguments: lines)
  func fullDescriptor(line: String) throws {
    let fixture = try workplace()
    let outcome = try fixture.shell("$SOP \(line)@FD:7 7>/dev/full")
    #expect(outcome.exit == ExitCode.unspecifiedFailure.rawValue)
    #expect(outcome.output.isEmpty, "\(outcome.output.count) octets came out")
    #expect(outcome.error.contains("cannot write '@FD:7' (no space left on device)"), "\(outcome.error)")
  }

  @Test("When standard output takes nothing, the file does not appear", arguments: lines)
  func fullOutput(line: String) throws {
    let fixture = try workplace()
    let outcome = try fixture.shell("$SOP \(line)out >/dev/full")
    #expect(outcome.exit == ExitCode.unspecifiedFailure.rawValue, "\(outcome.error)")
    #expect(!fixture.has("out"))
  }

  @Test("When all goes well, both are there", arguments: lines)
  func good(line: String) throws {
    let fixture = try workplace()
    let outcome = try fixture.shell("$SOP \(line)out")
    #expect(outcome.exit == 0, "\(outcome.error)")
    #expect(!outcome.output.isEmpty)
    #expect(try !fixture.contents("out").isEmpty)
  }

  @Test("A message that somebody changes between the two readings is told as such")
  func changedInput() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    // The message has been checked when its first octet comes out, and the rest waits for its reader.
    let outcome = try fixture.shell(
      """
      mkfifo pipe
      head -c 9000000 /dev/zero | $SOP encrypt --no-armor alice.cert >message
      $SOP decrypt alice.key <message >pipe & process=$!
      exec 3<pipe; head -c 1 <&3 >first
      printf changed | dd of=message bs=1 seek=8000000 conv=notrunc 2>/dev/null
      cat <&3 >rest; wait $process
      """)
    #expect(outcome.exit == ExitCode.badData.rawValue)
    #expect(outcome.error.contains("somebody changed the input while it was read"), "\(outcome.error)")
    #expect(try fixture.contents("rest").count < 8_000_000)
  }
}

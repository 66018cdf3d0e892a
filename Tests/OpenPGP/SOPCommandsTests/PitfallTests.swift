// SPDX-License-Identifier: Apache-2.0
//
// Faults of other commands that show only in the whole process.

import Extents
import OpenPGP
import Testing

@testable import SOPCommands

struct PitfallTests {
  @Test(
    "Plaintext released before the tag is checked: not of a long message, from a file or through a pipe",
    arguments: Shares("early release", count: 2).of(["rfc4880", "rfc9580"]))
  func earlyRelease(profile: String) throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice", ["--profile=\(profile)"])
    let message = try fixture.shell("head -c 9000000 /dev/zero | $SOP encrypt --no-armor alice.cert").output
    var changed = message
    changed[message.count - 1] ^= 1
    for spoilt in [changed, message.dropLast(1), message.dropLast(100_000)] {
      try fixture.write(spoilt, to: "message")
      for line in ["$SOP decrypt alice.key < message", "cat message | $SOP decrypt alice.key"] {
        let outcome = try fixture.shell(line)
        #expect(outcome.exit != 0)
        #expect(outcome.output.isEmpty, "\(outcome.output.count) octets came out")
      }
    }
    try fixture.write(message, to: "message")
    #expect(try fixture.shell("cat message | $SOP decrypt alice.key | wc -c").text == "9000000\n")
  }

  @Test(
    "Large files exhaust memory: nothing holds 96 MiB in 64",
    arguments: Shares("memory of large files", count: 4).of([
      "encrypt --no-armor alice.cert", "sign alice.key", "inline-sign --no-armor alice.key",
      "verify signature alice.cert",
    ]))
  func memoryOfInput(words: String) throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    // The whole input has been read when it is measured, and its end has not come yet.
    let outcome = try fixture.shell(
      """
      \(Self.makeInput)
      $SOP sign alice.key < large > signature
      $SOP \(words) < pipe > result & process=$!
      exec 3> pipe; cat large >&3; grep VmHWM /proc/$process/status; exec 3>&-; wait $process
      """)
    #expect(outcome.exit == 0, "\(outcome.error)")
    try expectLittleMemory(outcome.text)
  }

  @Test(
    "Large messages exhaust memory: nothing holds 96 MiB in 64",
    arguments: Shares("memory of large messages", count: 3).of([
      ("encrypt alice.cert", "decrypt alice.key"), ("inline-sign alice.key", "inline-verify alice.cert"),
      ("inline-sign alice.key", "inline-detach --signatures-out=signatures"),
    ]))
  func memoryOfOutput(making: String, reading: String) throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    // The whole message has been checked when its first octets come out, and the rest waits for its reader.
    let outcome = try fixture.shell(
      """
      \(Self.makeInput)
      $SOP \(making) < large > message
      $SOP \(reading) < message > pipe & process=$!
      exec 3< pipe; head -c 1000000 <&3 > /dev/null; grep VmHWM /proc/$process/status; cat <&3 > rest; wait $process
      """)
    #expect(outcome.exit == 0, "\(outcome.error)")
    #expect(try fixture.contents("rest").count == (96 << 20) - 1_000_000)
    try expectLittleMemory(outcome.text)
  }

  private static let makeInput = "mkfifo pipe; head -c 100663296 /dev/zero > large"

  private func expectLittleMemory(_ line: String) throws {
    let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
    let count = try #require(words.count == 3 ? Int(words[1]) : nil, "\(line)")
    #expect(count < 64 << 10, "\(count) KiB")
  }

  @Test(
    "New defaults that GnuPG cannot read: keys and messages are of version 4 and 1, without AEAD and Argon2")
  func defaults() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("old")
    try fixture.makeKey("new", ["--profile=rfc9580"])
    try fixture.write("password", to: "password")
    let key = try packets(fixture.run(["dearmor"], input: fixture.contents("old.key")).output)
    #expect(key.map(\.type) == [5, 13, 2, 7, 2])
    #expect(key.filter { $0.type != 13 }.allSatisfy { $0.body[0] == 4 })
    func message(_ arguments: String...) throws -> [(type: UInt8, body: [UInt8])] {
      try packets(fixture.run(["encrypt", "--no-armor"] + arguments, input: "data").output)
    }
    let plain = try message("old.cert")
    #expect(plain.map(\.type) == [1, 18] && plain[0].body[0] == 3 && plain[1].body[0] == 1)
    let mixed = try message("old.cert", "new.cert")
    #expect(mixed.map(\.type) == [1, 1, 18] && mixed[1].body[0] == 3 && mixed[2].body[0] == 1)
    let typed = try message("--with-password=password")
    // Version 4, AES-256, iterated and salted S2K.
    #expect(typed.map(\.type) == [3, 18] && typed[0].body.prefix(3) == [4, 9, 3] && typed[1].body[0] == 1)
  }

  /// Types and bodies of packets with short lengths.
  private func packets(_ octets: [UInt8]) throws -> [(type: UInt8, body: [UInt8])] {
    var packets: [(type: UInt8, body: [UInt8])] = []
    var rest = octets[...]
    while let first = rest.popFirst(), let length = rest.popFirst().map({ Int($0) }) {
      try #require(first & 0xC0 == 0xC0 && length < 224, "an old or long header")
      let second = length < 192 ? nil : rest.popFirst()
      let count = second.map { (length - 192) << 8 + Int($0) + 192 } ?? length
      packets.append((first & 0x3F, Array(rest.prefix(count))))
      rest = rest.dropFirst(count)
    }
    return packets
  }

  @Test("Tightening that broke users: a message to a key that has expired or was revoked since still opens")
  func oldMessages() throws {
    let fixture = try SOPFixture()
    let made = Timestamp(secondsSince1970: 1_500_000_000)
    var generation = KeyGeneration(.universal, userIDs: [UserID("Alice")], creationTime: made)
    generation.validitySeconds = 86_400
    var key = try generation.generate()
    let signer = try key.unlocked(key.certificate.fingerprint, for: .certify, passwords: [])
    let message = ArraySink()
    try MessageEncryption(to: [key.certificate], time: made).encrypt(
      from: MemorySource(Array("data".utf8)), to: message)
    for reason in [nil, RevocationReason.Code.compromised] {
      if let reason {
        let revocation = try key.certificate.revocationCertificate(
          reason: RevocationReason(reason), at: made, by: signer)
        key.certificate = key.certificate.merging(revocation)
      }
      let (secret, certificate) = (ArraySink(), ArraySink())
      try key.write(to: secret)
      try key.certificate.write(to: certificate)
      try fixture.write(secret.bytes, to: "alice.key")
      try fixture.write(certificate.bytes, to: "alice.cert")
      #expect(try fixture.run(["decrypt", "alice.key"], input: message.bytes).text == "data")
      let refused = try fixture.run(["encrypt", "alice.cert"], input: "data")
      #expect(refused.exit == ExitCode.certificateCannotEncrypt.rawValue)
    }
  }

  @Test(
    "Argon2 exhausts memory: what asks for more than the process may have is refused, and nothing ends it")
  func argon2() throws {
    let fixture = try SOPFixture()
    // Version 4, AES-256, Argon2 with 4 GiB; then a message of version 1.
    let password: [UInt8] = [4, 9, 4] + [UInt8](repeating: 0, count: 16) + [1, 4, 22]
    let zeros = [UInt8](repeating: 0, count: 60)
    try fixture.write([0xC3, 55] + password + zeros.prefix(33) + [0xD2, 61, 1] + zeros, to: "message")
    try fixture.write("password", to: "password")
    let outcome = try fixture.shell("ulimit -v 3000000; $SOP decrypt --with-password=password < message")
    #expect(outcome.exit == ExitCode.unspecifiedFailure.rawValue)
    #expect(outcome.error.contains("more memory than there is"), "\(outcome.error)")
  }
}

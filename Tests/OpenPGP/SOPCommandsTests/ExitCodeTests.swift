// SPDX-License-Identifier: Apache-2.0
//
// The exit codes of the draft, each met by a call.

import Foundation
import Testing

@testable import SOPCommands

struct ExitCodeTests {
  @Test("The numbers are those of the draft")
  func numbers() {
    let draft: Set<Int32> = [
      0, 1, 3, 13, 17, 19, 23, 29, 31, 37, 41, 53, 59, 61, 67, 69, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109,
    ]
    #expect(Set(ExitCode.allCases.map(\.rawValue)) == draft)
  }

  @Test(
    "A call whose words are off ends with the code for it, and prints nothing",
    arguments: [
      ([], ExitCode.missingArgument),
      (["sign"], .missingArgument),
      (["verify", "signatures"], .missingArgument),
      (["encrypt"], .missingArgument),
      (["decrypt"], .missingArgument),
      (["inline-detach"], .missingArgument),
      (["inline-verify"], .missingArgument),
      (["certify-userid", "alice.key"], .missingArgument),
      (["generate-key", "--profile"], .missingArgument),
      (["conjure"], .unsupportedSubcommand),
      (["sign", "--nonsense", "alice.key"], .unsupportedOption),
      (["sign", "-x", "alice.key"], .unsupportedOption),
      (["sign", "--no-armor=yes", "alice.key"], .unsupportedOption),
      (["sign", "--as=tree", "alice.key"], .unsupportedOption),
      (["verify", "--not-before=yesterday", "signatures", "alice.cert"], .unsupportedOption),
      (["armor", "surplus"], .unsupportedOption),
      (["version", "--backend", "--sopv"], .incompatibleOptions),
      (["sign", "--as=text", "--as=binary", "alice.key"], .incompatibleOptions),
      (["inline-sign", "--as=clearsigned", "--no-armor", "alice.key"], .incompatibleOptions),
      (["decrypt", "--verify-with=alice.cert", "alice.key"], .incompleteVerification),
      (["decrypt", "--verifications-out=new", "alice.key"], .incompleteVerification),
      (["generate-key", "--profile=tree"], .unsupportedProfile),
      (["encrypt", "--profile=tree", "--with-password=password"], .unsupportedProfile),
      (["list-profiles", "sign"], .unsupportedProfile),
      (["sign", "absent"], .missingInput),
      (["sign", "@ENV:COFFER_SOP_ABSENT"], .missingInput),
      (["sign", "@FD:77"], .missingInput),
      (["sign", "@ELSE:where"], .unsupportedSpecialPrefix),
      (["sign", "--micalg-out=@ENV:X", "alice.key"], .unsupportedSpecialPrefix),
      (["sign", "--micalg-out=signatures", "alice.key"], .outputExists),
      (["decrypt", "--session-key-out=signatures", "alice.key"], .outputExists),
      (["inline-verify", "alice.key"], .badData),
      (["extract-cert"], .badData),
      (["dearmor"], .badData),
    ])
  func words(arguments: [String], code: ExitCode) throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    try fixture.write("x", to: "signatures")
    try fixture.write("password", to: "password")
    let outcome = try fixture.run(arguments, input: "not armor")
    #expect(outcome.exit == code.rawValue, "\(outcome.error)")
    #expect(outcome.output.isEmpty)
    #expect(outcome.error.hasPrefix("coffer-sop: "))
    #expect(!fixture.has("new"))
  }

  @Test("A file that has the name of a designator makes it ambiguous")
  func ambiguous() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    try fixture.write("x", to: "@ENV:KEY")
    let outcome = try fixture.run(["sign", "@ENV:KEY"], environment: ["KEY": "x"])
    #expect(outcome.exit == ExitCode.ambiguousInput.rawValue)
    #expect(outcome.output.isEmpty)
  }

  @Test("A certificate where a secret key is wanted, and the reverse, are bad data")
  func wrongHalf() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    let certificate = try fixture.contents("alice.cert")
    #expect(try fixture.run(["extract-cert"], input: certificate).exit == ExitCode.badData.rawValue)
    #expect(try fixture.run(["sign", "alice.cert"]).exit == ExitCode.badData.rawValue)
    #expect(try fixture.run(["encrypt", "alice.key"]).exit == ExitCode.badData.rawValue)
  }

  @Test("A damaged secret key is bad data, not a message that was changed")
  func damagedKey() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    var key = try fixture.run(["dearmor"], input: try fixture.contents("alice.key")).output
    // The first packet is the primary key, and its last octet the checksum of the unprotected secret.
    key[Int(key[1]) + 1] ^= 1
    try fixture.write(key, to: "damaged.key")
    for arguments in [
      ["sign", "damaged.key"], ["inline-sign", "damaged.key"], ["decrypt", "damaged.key"],
      ["encrypt", "--sign-with=damaged.key", "alice.cert"],
      ["certify-userid", "--userid=Bob", "damaged.key"],
    ] {
      let outcome = try fixture.run(arguments, input: "a letter")
      #expect(outcome.exit == ExitCode.badData.rawValue, "\(outcome.error)")
      #expect(outcome.output.isEmpty)
      #expect(outcome.error.contains("'damaged.key' is damaged: the checksum of one of its secret keys"))
    }
    for arguments in [
      ["extract-cert"], ["extract-cert", "--no-armor"], ["update-key"], ["revoke-key"],
      ["change-key-password"],
    ] {
      let outcome = try fixture.run(arguments, input: key)
      #expect(outcome.exit == ExitCode.badData.rawValue, "\(outcome.error)")
      #expect(outcome.output.isEmpty)
      #expect(outcome.error.contains("standard input is damaged: the checksum"))
    }
  }

  @Test("A call that lacks arguments is told which", arguments: SOPMain.subcommands.map { $0.name })
  func missingArguments(name: String) throws {
    let command = try #require(SOPMain.subcommands.first { $0.name == name })
    #expect(command.operandNames.count == command.operandCounts.lowerBound)
    #expect(command.operandNames.allSatisfy(command.page.contains))
    let fixture = try SOPFixture()
    for count in command.operandNames.indices {
      let outcome = try fixture.run([name] + [String](repeating: "word", count: count))
      let missing = command.operandNames.dropFirst(count).joined(separator: " and ")
      #expect(outcome.exit == ExitCode.missingArgument.rawValue)
      #expect(outcome.error.hasPrefix("coffer-sop: an argument is missing: \(missing)\n"), "\(outcome.error)")
    }
  }

  @Test("No error says anything of keys, user IDs or data")
  func discretion() throws {
    let fixture = try SOPFixture()
    try fixture.makeKey("alice")
    try fixture.makeKey("bob", userID: "Bob <bob@example.org>")
    let document = "a very private letter"
    let signatures = try fixture.run(["sign", "alice.key"], input: document)
    try fixture.write(signatures.output, to: "letter.sig")
    let line = try fixture.run(["verify", "letter.sig", "alice.cert"], input: document).text
    let fingerprint = try #require(line.split(separator: " ").dropFirst().first)
    let refused = try fixture.run(["verify", "--debug", "letter.sig", "bob.cert"], input: document)
    #expect(refused.exit == ExitCode.noSignature.rawValue)
    for word in ["alice@", "bob@", "private letter", String(fingerprint), String(fingerprint.suffix(16))] {
      #expect(!refused.error.localizedStandardContains(word))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SOPCommands

struct CallTests {
  private static let rules: [OptionRule] = [.flag("no-armor"), .value("as"), .values("with-password")]

  @Test("Options and operands may stand in any order, with values behind = or as the next word")
  func order() throws {
    let call = try Call(
      ["one", "--as=text", "two", "--with-password", "a", "--no-armor", "--with-password=b=c", "three"],
      rules: Self.rules)
    #expect(call.operands == ["one", "two", "three"])
    #expect(call.value("as") == "text")
    #expect(call.all("with-password") == ["a", "b=c"])
    #expect(call.has("no-armor"))
    #expect(!call.has("debug"))
  }

  @Test("Behind two hyphens everything is an operand")
  func end() throws {
    let call = try Call(["--", "--no-armor", "--", "-"], rules: Self.rules)
    #expect(call.operands == ["--no-armor", "--", "-"])
    #expect(!call.has("no-armor"))
  }

  @Test("A single hyphen is a word like another, and a value may be empty or begin with a hyphen")
  func hyphens() throws {
    let call = try Call(["-", "--as=", "--with-password", "--no-armor"], rules: Self.rules)
    #expect(call.operands == ["-"])
    #expect(call.value("as")?.isEmpty == true)
    #expect(call.all("with-password") == ["--no-armor"])
  }

  @Test(
    "What is unknown, misses its value or comes twice is refused",
    arguments: [
      (["--absent"], ExitCode.unsupportedOption), (["-n"], .unsupportedOption),
      (["--no-armor=1"], .unsupportedOption), (["--as"], .missingArgument),
      (["--as=a", "--as", "b"], .incompatibleOptions),
    ])
  func refused(words: [String], code: ExitCode) {
    let failure = #expect(throws: Failure.self) { try Call(words, rules: Self.rules) }
    #expect(failure?.exit == code)
  }
}

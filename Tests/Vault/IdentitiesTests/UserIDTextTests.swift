// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Identities

@Suite("The text of a user ID")
struct UserIDTextTests {
  @Test("Name and address are found, and each may be missing")
  func parts() {
    let whole = UserIDText("Ada Lovelace <ada@example.org>")
    #expect(whole.name == "Ada Lovelace" && whole.address == "ada@example.org")
    let bare = UserIDText("ada@example.org")
    #expect(bare.name == nil && bare.address == "ada@example.org")
    let nameOnly = UserIDText("Ada")
    #expect(nameOnly.name == "Ada" && nameOnly.address == nil)
    let bracketed = UserIDText("<ada@example.org>")
    #expect(bracketed.name == nil && bracketed.address == "ada@example.org")
  }

  @Test(
    "A new user ID that is empty, long, or not what is shown is refused",
    arguments: [
      ("", UserIDProblem.empty), (" \u{3000}", .empty), (String(repeating: "ä", count: 128), .tooLong),
      ("Ada\u{1B}[31m", .unprintable), ("Ada\n<ada@example.org>", .unprintable),
      ("Ada \u{202E}gro.elpmaxe", .unprintable), ("Ada \u{FFFD}", .unprintable),
    ])
  func refused(text: String, problem: UserIDProblem) {
    #expect(throws: problem) { try UserIDText(new: text) }
  }

  @Test("255 bytes are accepted")
  func longest() throws {
    #expect(try UserIDText(new: String(repeating: "a", count: 255)).text.utf8.count == 255)
  }
}

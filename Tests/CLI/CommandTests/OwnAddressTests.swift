// SPDX-License-Identifier: Apache-2.0
//
// A key of somebody else that claims an address of the user: whoever writes to themselves would have to choose.

import Foundation
import Testing

@testable import CofferCommands

@Suite("Keys that claim the user's address")
struct OwnAddressTests {
  private static let pass = ["--passphrase-file", "pass"]

  private func place(_ userID: String) throws -> Place {
    let place = try Place()
    try place.makeCoffer()
    let made = try place.run(["identity", "generate", "--user-id", userID, "--quiet"] + Self.pass)
    #expect(made.status == 0, "\(made.error)")
    return place
  }

  @Test("Such a key is stored with --accept-changes alone, and other keys of the file are stored anyway")
  func newKey() throws {
    let place = try place("Ada <ada@example.org>")
    var file = ""
    for userID in ["Ada <Ada@Example.org>", "Bob <bob@example.org>"] {
      let other = try self.place(userID)
      let exported = try other.run(["identity", "export", "me"] + Self.pass)
      #expect(exported.status == 0, "\(exported.error)")
      file += exported.output
    }
    try place.write(file, to: "keys.asc")
    let refused = try place.run(["contact", "import", "keys.asc", "--all", "--yes", "--json"] + Self.pass)
    #expect(refused.status == 7 && refused.error.contains("\"change_needs_decision\""), "\(refused)")
    #expect(try place.run(["contact", "list"] + Self.pass).output.split(separator: "\n").count == 1)
    let stored = try place.run(
      ["contact", "import", "keys.asc", "--all", "--yes", "--accept-changes"] + Self.pass)
    #expect(stored.status == 0 && stored.error.contains("an address of your own"), "\(stored)")
    #expect(try place.run(["contact", "list"] + Self.pass).output.split(separator: "\n").count == 2)
    // What is stored already claims nothing from now on.
    #expect(try place.run(["contact", "import", "keys.asc", "--all", "--yes"] + Self.pass).status == 0)
  }
}

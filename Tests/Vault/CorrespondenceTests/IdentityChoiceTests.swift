// SPDX-License-Identifier: Apache-2.0

import Correspondence
import Identities
import Testing

@Suite("Which identity is meant")
struct IdentityChoiceTests {
  /// Ada at home, Ada at work, and Bob.
  private static let all: [Identity] = {
    do {
      let fixture = try LettersFixture()
      for userID in ["Ada Lovelace <ada@example.org>", "Ada <ada@corp.example>", "Bob Baker"] {
        try fixture.identity(userID)
      }
      return try fixture.book().identities
    } catch {
      Issue.record(error)
      return []
    }
  }()

  private func indices(_ who: String) -> [Int]? {
    let fitting: [Identity]
    switch Self.all.choose(who) {
    case .one(let identity): fitting = [identity]
    case .several(let identities): fitting = identities
    case .nothing: fitting = []
    case .shortFingerprint: return nil
    }
    return fitting.map { found in Self.all.firstIndex { $0.fingerprint == found.fingerprint } ?? -1 }
  }

  @Test(
    "Address, name, and beginnings of words of a name",
    arguments: [
      ("ADA@example.org", [0]), ("ada@corp.example", [1]), ("ada@nowhere.example", []), ("ada lovelace", [0]),
      ("lov", [0]), ("ada l", [0]), ("l ada", [0]), ("ba", [2]), ("bob baker", [2]), ("ker", []), ("me", [0]),
      // A word of an address is not a word of a name.
      ("corp", []), ("example", []),
      // The exact name decides before words of names do.
      ("ada", [1]), ("a", [0, 1]), ("", []), ("Ada Lovelace <ada@example.org>", [0]),
    ])
  func words(who: String, expected: [Int]) { #expect(indices(who) == expected) }

  @Test("Fingerprints in any form, of subkeys too, and key IDs")
  func fingerprints() {
    let bob = Self.all[2]
    #expect(indices(bob.fingerprint) == [2])
    #expect(indices("0x" + bob.fingerprint.uppercased()) == [2])
    let groups = stride(from: 0, to: 40, by: 4).map { String(Array(bob.fingerprint)[$0..<($0 + 4)]) }
    #expect(indices(groups.joined(separator: " ")) == [2])
    #expect(indices(groups.joined(separator: ":")) == [2])
    #expect(indices(bob.parts[1].fingerprint.hexadecimal) == [2])
    #expect(indices(String(bob.fingerprint.suffix(16))) == [2])
    #expect(indices(String(repeating: "0", count: 40)) == [])
  }

  @Test("A fingerprint that is cut off is refused", arguments: [8, 15, 17, 39])
  func cutOff(count: Int) {
    #expect(indices(String(Self.all[2].fingerprint.suffix(count))) == nil)
    #expect(indices("0x12ab") == nil)
  }
}

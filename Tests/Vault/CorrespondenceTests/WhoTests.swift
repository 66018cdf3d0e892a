// SPDX-License-Identifier: Apache-2.0

import Contacts
import Correspondence
import Identities
import OpenPGP
import Primitives
import Testing

@Suite("WHO")
struct WhoTests {
  let fixture: LettersFixture

  init() throws {
    fixture = try LettersFixture()
    try fixture.identity("Ada Lovelace <ada@example.org>")
    try fixture.store(Correspondee("Bob Baker <bob@example.org>").certificate)
    try fixture.store(Correspondee("Bob Carter <bc@example.org>").certificate)
  }

  private func name(_ who: String) throws -> String { try fixture.book().find(who).name }

  @Test(
    "the first rule that fits decides, over contacts and identities together",
    arguments: [
      ("bob@example.org", "Bob Baker"), ("BC@EXAMPLE.ORG", "Bob Carter"), ("bob c", "Bob Carter"),
      ("Bob Baker", "Bob Baker"), ("ada", "Ada Lovelace <ada@example.org>"),
      ("me", "Ada Lovelace <ada@example.org>"), ("ada@example.org", "Ada Lovelace <ada@example.org>"),
    ])
  func finds(_ who: String, _ expected: String) throws {
    #expect(try name(who) == expected)
  }

  @Test("a fingerprint of a subkey and a key ID mean its owner")
  func fingerprints() throws {
    let certificate = try #require(try fixture.book().contacts[0].certificates.first)
    let subkey = try #require(certificate.publicKeys.last?.fingerprint)
    #expect(try name(Hexadecimal.text(subkey.bytes).uppercased()) == "Bob Baker")
    #expect(try name("0x" + Hexadecimal.text(certificate.fingerprint.keyID.bytes)) == "Bob Baker")
  }

  @Test("several that fit are an error with all of them, and nothing is guessed")
  func ambiguous() throws {
    do {
      _ = try fixture.book().find("bob")
      Issue.record("one was chosen")
    } catch CorrespondenceError.ambiguous(let who, let found) {
      #expect(who == "bob")
      #expect(found.map(\.name) == ["Bob Baker", "Bob Carter"])
    }
  }

  @Test("nobody, and eight digits, are errors of their own")
  func nobody() throws {
    #expect {
      try fixture.book().find("carol")
    } throws: {
      if case CorrespondenceError.unknown("carol") = $0 { true } else { false }
    }
    #expect {
      try fixture.book().find("0123abcd")
    } throws: {
      if case CorrespondenceError.tooFewDigits = $0 { true } else { false }
    }
  }

  @Test("a contact with the key of an identity is that identity, and not a second one")
  func ownKeyAsContact() throws {
    let ada = try fixture.book().identities[0]
    try fixture.store(ada.certificate)
    guard case .identity = try fixture.book().find("ada") else {
      Issue.record("the contact was chosen")
      return
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import OpenPGP
import ProtectedData
import Testing

@testable import Contacts

@Suite("Contacts: who is meant, names and verification")
struct ContactQueryTests {
  private typealias Fixture = ContactsFixture

  @Test("Each rule finds the one contact that it should, and nothing by part of a word")
  func rules() throws {
    let fixture = try Fixture()
    let bob = try Person("Bob Baker <bob@example.org>")
    let ada = try Person("Ada Čapek <ada@example.org>", isAdvanced: true)
    try fixture.take(bob.certificate, ada.certificate)
    func name(_ who: String) throws -> String { try fixture.store.find(who, at: Fixture.now).name }
    let fingerprint = bob.certificate.fingerprint.hexadecimal
    let subkey = try #require(ada.certificate.subkeys.first?.packet)
    for who in [
      fingerprint, fingerprint.lowercased(), "0x" + fingerprint,
      FingerprintText.groups(bob.certificate.fingerprint).joined(separator: " "),
      bob.certificate.fingerprint.keyID.text, "BOB@Example.ORG", "bob baker", "bob", "b b", "BAKER",
    ] {
      #expect(try name(who) == "Bob Baker", "\(who)")
    }
    for who in [subkey.fingerprint.hexadecimal, subkey.keyID.text, "čapek", "C\u{30C}APEK", "ada c\u{30C}"] {
      #expect(try name(who) == "Ada Čapek", "\(who)")
    }
    for who in [
      "", " ", "ob", "aker", "bob@example.com", "example.org", "bob@", "me", "..", "abba",
      "2026",
    ] {
      #expect(throws: ContactError.unknown, "\(who)") { try name(who) }
    }
    for who in ["89ABCDEF", "0x01234567", "21f6", String(fingerprint.dropLast())] {
      #expect(throws: ContactError.tooFewDigits) { try name(who) }
    }
  }

  @Test("Several are an error with all of them; a whole name goes before beginnings")
  func ambiguity() throws {
    let fixture = try Fixture()
    try fixture.take(
      Person("Bob <bob@example.org>").certificate, Person("Bob Baker <b@example.org>").certificate,
      Person("Bobby <bobby@example.org>").certificate)
    let ids = try fixture.store.list(at: Fixture.now).map(\.id)
    #expect(try fixture.store.find("bob", at: Fixture.now).id == ids[0])
    #expect(throws: ContactError.ambiguous(ids)) { try fixture.store.find("bo", at: Fixture.now) }
  }

  @Test("A name is of one contact, and never looks like an address or a fingerprint")
  func names() throws {
    let fixture = try Fixture()
    try fixture.take(Person("Bob <bob@example.org>").certificate)
    try fixture.take(Person("BOB <bob@elsewhere.example>").certificate)
    try fixture.take(Person("bob@example.org <eve@example.org>").certificate)
    #expect(try fixture.store.list(at: Fixture.now).map(\.name) == ["Bob", "BOB 2", "eve@example.org"])
    let second = try fixture.store.find("bob 2", at: Fixture.now)
    #expect(throws: ContactError.nameTaken) { try fixture.store.rename(second.id, to: " bob ") }
    for name in [
      "bob@example.org", String(repeating: "1F2E ", count: 10), "0123456789abcdef", "a\tb", "a\u{1B}[31m",
      "a\u{202E}b", "", " ",
    ] {
      #expect(throws: ContactError.unfitName, "\(name)") { try fixture.store.rename(second.id, to: name) }
    }
    try fixture.store.rename(second.id, to: "bob 2")
    #expect(try fixture.store.find("bob 2", at: Fixture.now).name == "bob 2")
    #expect(throws: ContactError.nameTaken) {
      try fixture.take(Person("Dan <dan@example.org>").certificate, name: "Bob")
    }
  }

  @Test("A contact is renamed and removed, others stay")
  func renaming() throws {
    let fixture = try Fixture()
    try fixture.take(
      Person("Bob <bob@example.org>").certificate, Person("Eve <eve@example.org>").certificate)
    let bob = try fixture.store.find("bob", at: Fixture.now)
    try fixture.store.rename(bob.id, to: " Robert ")
    #expect(try fixture.store.find("robert", at: Fixture.now).id == bob.id)
    #expect(throws: ContactError.unfitName) { try fixture.store.rename(bob.id, to: "\n") }
    try fixture.store.remove(bob.id)
    #expect(throws: ContactError.unknown) { try fixture.store.remove(bob.id) }
    #expect(try fixture.store.list(at: Fixture.now).map(\.name) == ["Eve"])
  }

  @Test("Four groups are asked for, and only the right ones are right", arguments: [false, true])
  func challenge(isAdvanced: Bool) throws {
    let fixture = try Fixture()
    let bob = try Person("Bob <bob@example.org>", isAdvanced: isAdvanced)
    try fixture.take(bob.certificate)
    let contact = try fixture.store.find("bob", at: Fixture.now)
    let groups = FingerprintText.groups(bob.certificate.fingerprint)
    #expect(groups.count == (isAdvanced ? 16 : 10))
    var asked: Set<Int> = []
    for _ in 0..<200 {
      let challenge = try fixture.store.challenge(contact.id)
      #expect(challenge.groups.count == 4 && Set(challenge.groups).count == 4)
      asked.formUnion(challenge.groups)
      for number in challenge.groups {
        #expect(challenge.isRight(groups[number - 1].lowercased(), group: number))
        #expect(!challenge.isRight(String(groups[number - 1].dropLast()), group: number))
        #expect(!challenge.isRight("", group: number))
      }
    }
    // 200 choices of four leave one of sixteen out with a chance below 1 in 10^23.
    #expect(asked == Set(1...groups.count))
    let challenge = try fixture.store.challenge(contact.id)
    #expect(challenge.isWholeFingerprint(groups.joined(separator: " ")))
    #expect(!challenge.isWholeFingerprint(groups.reversed().joined()))
    #expect(!challenge.isWholeFingerprint(groups.dropLast().joined()))
  }

  @Test("A verification is kept with its manner, its failure with its date; both for the key in use only")
  func verification() throws {
    let fixture = try Fixture()
    let eve = try Person("Eve <eve@example.org>")
    try fixture.take(eve.certificate)
    func contact() throws -> ContactEntry { try fixture.store.find("eve", at: Fixture.now) }
    let id = try contact().id
    let challenge = try fixture.store.challenge(id)
    try fixture.store.finish(challenge, nil, at: Fixture.before(days: 2))
    #expect(try contact().verification == nil)
    #expect(try contact().failedVerification == Fixture.before(days: 2).secondsSince1970)
    try fixture.store.finish(challenge, .groups, at: Fixture.before(days: 1))
    let expected = Contact.Verification(
      date: Fixture.before(days: 1).secondsSince1970, manner: .groups,
      fingerprint: eve.certificate.fingerprint)
    #expect(try contact().verification == expected && contact().failedVerification == nil)
    try fixture.store.forgetVerification(id)
    #expect(try contact().verification == nil)
    try fixture.take(Person("Eve <eve@example.org>").certificate, decision: .use)
    #expect(throws: ContactError.changedMeanwhile) {
      try fixture.store.finish(challenge, .groups, at: Fixture.now)
    }
    #expect(try contact().verification == nil)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import OpenPGP
import ProtectedData
import Secrets
import Testing

@testable import Contacts

@Suite("Contacts: taking over certificates")
struct ContactImportTests {
  private typealias Fixture = ContactsFixture

  private func entry(_ fixture: ContactsFixture, _ who: String) throws -> ContactEntry {
    try fixture.store.find(who, at: Fixture.now)
  }

  @Test(
    "A certificate becomes a contact, and comes out of the next process as it went in",
    arguments: [false, true])
  func roundTrip(isAdvanced: Bool) throws {
    let fixture = try Fixture()
    let bob = try Person("Bob Baker <bob@example.org>", isAdvanced: isAdvanced)
    let previews = try fixture.take(bob.certificate)
    #expect(previews.map(\.outcome) == [.new])
    let store = try fixture.reopened()
    let contact = try store.find("bob@example.org", at: Fixture.now)
    #expect(contact.name == "Bob Baker" && contact.verification == nil)
    let key = try #require(contact.keyInUse)
    #expect(key.summary.fingerprint == bob.certificate.fingerprint)
    #expect(key.summary.status == .good && key.summary.isAdvanced == isAdvanced)
    #expect(key.firstSeen == Fixture.now.secondsSince1970)
    let armored = Fixture.secret(try store.armored(contact.id))
    let read = try Certificate.readAll(ArmorReader(MemorySource(armored)))
    #expect(read == [bob.certificate.reducedToHolderStatements()])
    #expect(try fixture.take(bob.certificate).map(\.outcome) == [.unchanged])
  }

  @Test("A private key refuses a whole file and stores nothing")
  func privateKey() throws {
    let fixture = try Fixture()
    let (ada, bob) = (try Person("Ada <ada@example.org>"), try Person("Bob <bob@example.org>"))
    let sink = ArraySink()
    try ada.certificate.write(to: sink)
    try bob.key.write(to: sink)
    #expect(throws: ContactError.privateKey) {
      _ = try PublicParts(Fixture.secret(sink.bytes))
    }
    #expect(try fixture.store.list(at: Fixture.now).isEmpty)
  }

  @Test(
    "What is not a certificate is refused with the engine's reason", arguments: ["", "hello", "\u{99}\u{01}"])
  func notACertificate(text: String) {
    #expect(throws: ContactError.self) {
      _ = try PublicParts(Fixture.secret(Array(text.utf8)))
    }
  }

  @Test("A certificate with thousands of certifications by others is stored without them")
  func flooded() throws {
    let fixture = try Fixture()
    let bob = try Person("Bob <bob@example.org>")
    let stranger = try Person("Mallory <mallory@example.org>")
    let signed = try bob.certificate.certifying(
      UserID("Bob <bob@example.org>"), at: Fixture.before(days: 1), by: stranger.signer())
    let foreign = try #require(signed.userIDs[0].signatures.last)
    var flooded = bob.certificate
    flooded.userIDs[0].signatures += Array(repeating: foreign, count: 5000)
    try fixture.take(flooded)
    let contact = try entry(fixture, "bob")
    let size = try fixture.store.armored(contact.id).count
    #expect(size < 4096, "\(size)")
  }

  @Test("A newer copy is merged: another end, another address; an older one changes nothing")
  func merging() throws {
    let fixture = try Fixture()
    let bob = try Person("Bob <bob@example.org>")
    let end = Fixture.after(days: 400)
    let longer = try bob.valid().settingExpiration(to: end, by: bob.signer())
    try fixture.take(bob.certificate)
    let previews = try fixture.take(longer)
    #expect(previews[0].outcome == .updated)
    #expect(previews[0].changes == [.expiry(from: nil, to: end.secondsSince1970)])
    #expect(!previews[0].needsDecision)
    #expect(try fixture.take(bob.certificate)[0].outcome == .unchanged)
    #expect(try entry(fixture, "bob").keyInUse?.summary.expires == end.secondsSince1970)
    let endless = try ValidCertificate(
      longer, at: Fixture.before(days: 5), now: Fixture.before(days: 5), policy: .standard
    ).settingExpiration(to: nil, by: bob.signer())
    #expect(try fixture.take(endless)[0].needsDecision)
  }

  @Test("A newer copy that claims another contact's address wants a decision, and so does a new key of two")
  func sharedAddresses() throws {
    let fixture = try Fixture()
    let (mallory, alice) = (try Person("Mallory <m@example.net>"), try Person("Alice <alice@example.org>"))
    try fixture.take(mallory.certificate)
    try fixture.take(alice.certificate)
    let both = try mallory.valid().addingUserID(UserID("Alice <Alice@Example.org>"), by: mallory.signer())
    let preview = try fixture.take(both)[0]
    #expect(preview.outcome == .updated && preview.needsDecision)
    #expect(
      preview.sharedAddresses == [SharedAddress(address: "Alice@Example.org", contact: "Alice")])
    // Once it is decided, it is not asked again.
    #expect(try fixture.take(both)[0].sharedAddresses.isEmpty)

    let third = try Person("Mallory <m@example.net>", "Alice <alice@example.org>")
    let newKey = try fixture.take(third.certificate)[0]
    #expect(newKey.outcome == .newKey && newKey.contact?.name == "Mallory")
    #expect(newKey.sharedAddresses.map(\.contact) == ["Alice"])

    // A revocation does not wait for it.
    let other = try Fixture()
    try other.take(mallory.certificate)
    try other.take(alice.certificate)
    let revoked = try both.revoking(
      .primaryKey, reason: RevocationReason(.compromised), at: Fixture.before(days: 1),
      by: mallory.signer())
    let last = try other.take(revoked)[0]
    #expect(last.changes.contains(.revoked) && last.sharedAddresses.isEmpty && !last.needsDecision)
  }

  @Test("A revocation is stored without a question, and shown")
  func revocation() throws {
    let fixture = try Fixture()
    let bob = try Person("Bob <bob@example.org>")
    try fixture.take(bob.certificate)
    let revoked = try bob.certificate.revoking(
      .primaryKey, reason: RevocationReason(.compromised), at: Fixture.before(days: 1), by: bob.signer())
    let preview = try fixture.take(revoked)[0]
    #expect(preview.changes.contains(.revoked) && !preview.needsDecision)
    #expect(try entry(fixture, "bob").keyInUse?.summary.status == .revoked)
    // The old copy does not bring the key back.
    try fixture.take(bob.certificate)
    #expect(try entry(fixture, "bob").keyInUse?.summary.status == .revoked)
  }

  @Test("Another key for an address waits; until the user decides, the old one stays in use")
  func waiting() throws {
    let fixture = try Fixture()
    let (old, new) = (try Person("Eve <eve@example.org>"), try Person("Eve <Eve@EXAMPLE.org>"))
    try fixture.take(old.certificate)
    let preview = try fixture.take(new.certificate)[0]
    #expect(preview.outcome == .newKey && !preview.isVouchedFor)
    let contact = try entry(fixture, "eve")
    #expect(contact.keys.map(\.state) == [.inUse, .waiting] && contact.hasWaitingKey)
    #expect(try fixture.take(new.certificate)[0].outcome == .newKey)
    #expect(try entry(fixture, "eve").keys.count == 2)
  }

  @Test("Each decision about a waiting key does what it says, and its use ends the verification")
  func decisions() throws {
    let (old, new) = (try Person("Eve <eve@example.org>"), try Person("Eve <eve@example.org>"))
    func fixture() throws -> ContactsFixture {
      let fixture = try Fixture()
      try fixture.take(old.certificate)
      let challenge = try fixture.store.challenge(entry(fixture, "eve").id)
      try fixture.store.finish(challenge, .groups, at: Fixture.now)
      try fixture.take(new.certificate)
      return fixture
    }
    let used = try fixture()
    try used.take(new.certificate, decision: .use)
    let eve = try entry(used, "eve")
    #expect(eve.keys.map(\.state) == [.former, .inUse] && eve.verification == nil)
    #expect(eve.keyInUse?.summary.fingerprint == new.certificate.fingerprint)

    let ignored = try fixture()
    try ignored.take(new.certificate, decision: .ignore)
    #expect(try entry(ignored, "eve").keys.map(\.state) == [.inUse])
    #expect(try entry(ignored, "eve").verification != nil)

    let separate = try fixture()
    try separate.take(new.certificate, name: "Another", decision: .separate)
    let list = try separate.store.list(at: Fixture.now)
    #expect(list.map(\.name) == ["Eve", "Another"])
    #expect(list.allSatisfy { $0.keys.map(\.state) == [.inUse] })
    #expect(throws: ContactError.ambiguous(list.map(\.id))) {
      try separate.store.find("eve@example.org", at: Fixture.now)
    }
  }

  @Test("It is said when the old key has signed the new one")
  func vouching() throws {
    let fixture = try Fixture()
    let (old, new) = (try Person("Eve <eve@example.org>"), try Person("Eve <eve@example.org>"))
    try fixture.take(old.certificate)
    let signed = try new.certificate.certifying(
      UserID("Eve <eve@example.org>"), at: Fixture.before(days: 1), by: old.signer())
    #expect(try fixture.take(signed)[0].isVouchedFor)
  }

  @Test("A preview that the contacts no longer match stores nothing")
  func changedMeanwhile() throws {
    let fixture = try Fixture()
    let eve = try Person("Eve <eve@example.org>")
    let parts = try Fixture.parts([eve.certificate])
    let previews = try fixture.store.preview(parts, at: Fixture.now)
    try fixture.take(eve.certificate)
    #expect(throws: ContactError.changedMeanwhile) {
      try fixture.store.store(parts, as: previews, decisions: [.keep], at: Fixture.now)
    }
    #expect(try fixture.store.list(at: Fixture.now).count == 1)
  }

  @Test("Of two keys for one address in one file the second waits, and what is left out is not stored")
  func oneAfterTheOther() throws {
    let fixture = try Fixture()
    let (first, second) = (try Person("Eve <eve@example.org>"), try Person("Eve <eve@example.org>"))
    let bob = try Person("Bob <bob@example.org>")
    #expect(
      try fixture.take(first.certificate, second.certificate).map(\.outcome) == [.new, .newKey])
    #expect(try entry(fixture, "eve").keys.map(\.state) == [.inUse, .waiting])
    let parts = try Fixture.parts([bob.certificate, first.certificate])
    let previews = try fixture.store.preview(parts, at: Fixture.now) { _ in nil }
    let ids = try fixture.store.store(parts, as: previews, decisions: [nil, nil], at: Fixture.now)
    #expect(ids == [nil, nil])
    #expect(try fixture.store.list(at: Fixture.now).map(\.name) == ["Eve"])
  }

  @Test("A file that only revokes a key is taken over; a forged one and one of a stranger change nothing")
  func revocationAlone() throws {
    let fixture = try Fixture()
    let (eve, mallory) = (try Person("Eve <eve@example.org>"), try Person("Mallory <m@example.org>"))
    try fixture.take(eve.certificate)
    let reason = RevocationReason(.compromised)
    let time = Fixture.before(days: 1)
    let revocation = try eve.certificate.revocation(
      of: .primaryKey, reason: reason, at: time, by: eve.signer())
    let foreign = try mallory.certificate.revocation(
      of: .primaryKey, reason: reason, at: time, by: mallory.signer())
    #expect(throws: ContactError.unknown) { try fixture.store.parts(Fixture.packet(foreign)) }
    // A flipped bit of the signature itself.
    var forged = Fixture.bytes(revocation)
    forged[forged.count - 1] ^= 1
    let parts = try fixture.store.parts(Fixture.secret(forged))
    #expect(try fixture.store.preview(parts, at: Fixture.now).map(\.outcome) == [.unchanged])
    let sound = try fixture.store.parts(Fixture.packet(revocation))
    let previews = try fixture.store.preview(sound, at: Fixture.now)
    #expect(previews.map(\.changes) == [[.revoked]])
    try fixture.store.store(sound, as: previews, decisions: [.keep], at: Fixture.now)
    #expect(try entry(fixture, "eve").keyInUse?.summary.status == .revoked)
  }

  @Test("A certificate that is too large, a 17th key and an unfit name are refused")
  func limits() throws {
    let fixture = try Fixture()
    let names = (0..<600).map { UserID("\(String(repeating: "x", count: 400)) \($0)") }
    let large = try KeyGeneration(.universal, userIDs: names, creationTime: Fixture.before(days: 1))
      .generate().certificate
    #expect(throws: ContactError.certificateTooLarge) { _ = try Fixture.parts([large]) }
    for _ in 0..<16 { try fixture.take(Person("Eve <eve@example.org>").certificate) }
    #expect(try entry(fixture, "eve").keys.count == 16)
    #expect(throws: ContactError.tooManyKeys) {
      try fixture.take(Person("Eve <eve@example.org>").certificate)
    }
    for name in ["", " ", String(repeating: "a", count: 1025)] {
      #expect(throws: ContactError.unfitName) {
        try fixture.take(Person("Zoe <zoe@example.org>").certificate, name: name)
      }
    }
  }

  @Test("A domain that was tampered with is refused and not taken for empty")
  func tampered() throws {
    let fixture = try Fixture()
    try fixture.take(Person("Bob <bob@example.org>").certificate)
    _ = try fixture.file.write { transaction in
      try transaction.execute(
        "UPDATE protectedDomains SET payload = zeroblob(200) WHERE domain = 4"
      )
    }
    #expect(throws: ProtectedDataError.self) { try fixture.reopened().list(at: Fixture.now) }
    #expect(throws: ProtectedDataError.self) {
      try fixture.take(Person("Eve <eve@example.org>").certificate)
    }
  }
}

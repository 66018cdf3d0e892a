// SPDX-License-Identifier: Apache-2.0
//
// Every row of the table of grades, with signatures that are really made. Rows that need other messages than ours make
// are in VerdictTableTests.

import Contacts
import Correspondence
import Identities
import OpenPGP
import ProtectedData
import Secrets
import Testing

@Suite("Verdicts")
struct VerdictTests {
  static let text = "Dear Ada"
  let fixture: LettersFixture
  let bob: Correspondee

  init() throws {
    fixture = try LettersFixture()
    bob = try Correspondee("Bob Baker <bob@example.org>")
  }

  private func verdict(
    _ signatures: [Signature], over text: String = text, at time: Timestamp = LettersFixture.now
  ) throws -> Verdict {
    let judge = SignatureJudge(try fixture.book(at: time))
    let found = try DetachedVerification(judge.verifier)
      .verify(signatures, over: MemorySource(Array(text.utf8)))
    return judge.verdict(found, isEncrypted: false)
  }

  @Test("good by a contact: unverified, and verified once its fingerprint was compared")
  func contact() throws {
    try fixture.store(bob.certificate)
    let signature = try bob.signature(over: Self.text)
    let before = try verdict([signature])
    #expect(before.grade == .unverified)
    #expect(before.notes.isEmpty)
    try fixture.verify("bob")
    let after = try verdict([signature])
    #expect(after.grade == .verified)
    #expect(after.decisive?.names == ["Bob Baker <bob@example.org>"])
  }

  @Test("good by one of the user's identities: verified")
  func identity() throws {
    let ada = try fixture.identity("Ada <ada@example.org>")
    let key = BorrowedKey(
      try ada.signingKey(at: LettersFixture.now), of: ada.certificate.fingerprint, lend: fixture.lender())
    let signature = try DetachedSigning([key], time: LettersFixture.now)
      .sign(MemorySource(Array(Self.text.utf8)))
    let found = try verdict(signature)
    #expect(found.grade == .verified)
    guard case .identity = found.decisive?.signer else {
      Issue.record("not by an identity")
      return
    }
  }

  @Test("by nobody who is here: unknown; without any signature: none")
  func unknown() throws {
    #expect(try verdict([bob.signature(over: Self.text)]).grade == .unknown)
    #expect(try verdict([]).grade == .none)
  }

  @Test("damaged alone: invalid, and not unsigned; beside a good one it is named and spoils nothing")
  func unreadable() throws {
    try fixture.store(bob.certificate)
    let judge = SignatureJudge(try fixture.book())
    let alone = judge.verdict([], unreadable: 2, isEncrypted: false)
    #expect(alone.grade == .invalid && alone.decisive?.reason == .unreadable && alone.findings.count == 2)
    let found = try DetachedVerification(judge.verifier)
      .verify([bob.signature(over: Self.text)], over: MemorySource(Array(Self.text.utf8)))
    let beside = judge.verdict(found, unreadable: 1, isEncrypted: true)
    #expect(beside.grade == .unverified && beside.findings.map(\.grade) == [.unverified, .invalid])
    #expect(
      judge.verdict([], unreadable: .max, isEncrypted: false).findings.count == Limits.signatureCount)
  }

  @Test("over another text: invalid, changed")
  func changed() throws {
    try fixture.store(bob.certificate)
    let found = try verdict([bob.signature(over: Self.text)], over: "Dear Eve")
    #expect(found.grade == .invalid)
    #expect(found.decisive?.reason == .changed)
  }

  @Test("the key has expired since: as good as before, with a note")
  func expiredSince() throws {
    let dan = try Correspondee("Dan <dan@example.org>", days: 50)
    try fixture.store(dan.certificate)
    let found = try verdict([dan.signature(over: Self.text, at: LettersFixture.before(days: 70))])
    #expect(found.grade == .unverified)
    #expect(found.notes == [.expiredSince(LettersFixture.before(days: 50))])
  }

  @Test("the key had expired when it signed: invalid")
  func expiredThen() throws {
    let dan = try Correspondee("Dan <dan@example.org>", days: 50)
    try fixture.store(dan.certificate)
    let found = try verdict([dan.signature(over: Self.text, at: LettersFixture.before(days: 10))])
    #expect(found.decisive?.reason == .expiredThen(LettersFixture.before(days: 50)))
    #expect(found.grade == .invalid)
  }

  @Test("replaced after it signed: good, with a note; before it, or compromised at any time: invalid")
  func revoked() throws {
    let signature = try bob.signature(over: Self.text, at: LettersFixture.before(days: 20))
    func found(_ code: RevocationReason.Code, daysAgo: UInt32) throws -> Verdict {
      let fixture = try LettersFixture()
      try fixture.store(try bob.revoked(code, at: LettersFixture.before(days: daysAgo)))
      let judge = SignatureJudge(try fixture.book())
      return judge.verdict(
        try DetachedVerification(judge.verifier).verify(
          [signature], over: MemorySource(Array(Self.text.utf8))), isEncrypted: false)
    }
    let later = try found(.superseded, daysAgo: 10)
    #expect(later.grade == .unverified)
    #expect(later.notes == [.revokedSince(RevocationReason(.superseded))])
    for earlier in [try found(.superseded, daysAgo: 30), try found(.compromised, daysAgo: 10)] {
      #expect(earlier.grade == .invalid)
      guard case .revoked = earlier.decisive?.reason else {
        Issue.record("\(String(describing: earlier.decisive?.reason))")
        continue
      }
    }
  }

  @Test("dated in the future: invalid")
  func future() throws {
    try fixture.store(bob.certificate)
    let found = try verdict([bob.signature(over: Self.text, at: LettersFixture.after(days: 3))])
    #expect(found.decisive?.reason == .future)
  }

  @Test("with SHA-1: invalid, too weak, whoever it says it is by")
  func weak() throws {
    try fixture.store(bob.certificate)
    let good = try bob.signature(over: Self.text)
    let weak = try good.withHash(2)
    #expect(try verdict([weak]).decisive?.reason == .tooWeak(.hashAlgorithm(.sha1)))
  }

  @Test("by a key that a stranger put into a public part: unknown, since that was never stored")
  func strangersKey() throws {
    let mallory = try Correspondee("Mallory <m@example.org>")
    var certificate = bob.certificate
    certificate.subkeys.append(Certificate.Component(mallory.certificate.primaryKey, signatures: []))
    try fixture.store(certificate)
    let primary = try mallory.primary()
    let signature = try DetachedSigning([primary], time: LettersFixture.before(days: 1))
      .sign(MemorySource(Array(Self.text.utf8)))
    #expect(try verdict(signature).grade == .unknown)
  }

  @Test("by a key that stands in the public part of a contact, and that its holder does not claim: invalid")
  func foreignKey() throws {
    let mallory = try Correspondee("Mallory <m@example.org>")
    try fixture.store(bob.certificate)
    try fixture.verify("bob")
    let book = try fixture.book()
    // As somebody else's program stored it: ours leaves such a key out.
    let contacts = book.contacts.map { contact in
      ContactCertificates(
        entry: contact.entry,
        certificates: contact.certificates.map { certificate in
          var changed = certificate
          changed.subkeys.append(Certificate.Component(mallory.certificate.primaryKey, signatures: []))
          return changed
        })
    }
    let judge = SignatureJudge(AddressBook(contacts: contacts, identities: [], at: book.time))
    let source = MemorySource(Array(Self.text.utf8))
    let signatures = try DetachedSigning([mallory.primary()], time: LettersFixture.before(days: 1)).sign(
      source)
    let found = judge.verdict(
      try DetachedVerification(judge.verifier).verify(
        signatures, over: MemorySource(Array(Self.text.utf8))), isEncrypted: false)
    #expect(found.grade == .invalid)
    #expect(found.decisive?.reason == .foreignKey)
  }

  @Test("by a former key: not verified, with a note; by one that waits: unknown")
  func otherKeys() throws {
    try fixture.store(bob.certificate)
    let newer = try Correspondee("Bob Baker <bob@example.org>")
    try fixture.store(newer.certificate)
    let waiting = try verdict([newer.signature(over: Self.text)])
    #expect(waiting.grade == .unknown)
    #expect(waiting.notes == [.keyChanged(wasInUse: false)])
    try fixture.store(newer.certificate, decision: .use)
    try fixture.verify("bob")
    #expect(try verdict([newer.signature(over: Self.text)]).grade == .verified)
    let former = try verdict([bob.signature(over: Self.text)])
    #expect(former.grade == .unverified)
    #expect(former.notes == [.keyChanged(wasInUse: true)])
  }

  @Test("of several, one that does not hold decides, unless nobody here claims it; an unknown one is a note")
  func several() throws {
    try fixture.store(bob.certificate)
    try fixture.verify("bob")
    let carol = try Correspondee("Carol <carol@example.org>")
    let stranger = try Correspondee("Stranger <s@example.org>")
    try fixture.store(carol.certificate)
    let good = try bob.signature(over: Self.text)
    let other = try carol.signature(over: "something else")
    let unknown = try stranger.signature(over: Self.text)
    #expect(try verdict([good, other]).grade == .invalid)
    let noted = try verdict([unknown, good])
    #expect(noted.grade == .verified)
    #expect(noted.notes == [.alsoSignedByUnknown])
    #expect(try verdict([good, carol.signature(over: Self.text)]).grade == .verified)
  }
}

extension Signature {
  /// The same packet with another hash in it, read again.
  func withHash(_ number: UInt8) throws -> Signature {
    let sink = ArraySink()
    var body = body
    body[3] = number
    try sink.write([0xC2] + PacketLength.octets(body.count) + body)
    return try #require(try SignatureList(reading: MemorySource(sink.bytes)).signatures.first)
  }
}

private enum PacketLength {
  /// Of the new form; two octets from 192 on (RFC 9580, section 4.2.1).
  static func octets(_ count: Int) -> [UInt8] {
    count < 192 ? [UInt8(count)] : [UInt8((count - 192) >> 8 + 192), UInt8((count - 192) & 255)]
  }
}

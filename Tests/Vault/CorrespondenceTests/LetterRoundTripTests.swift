// SPDX-License-Identifier: Apache-2.0
//
// Messages written and read with borrowed private parts.

import Contacts
import Correspondence
import Identities
import MemorySearch
import OpenPGP
import Secrets
import Testing

@Suite("Borrowed private parts")
struct LetterRoundTripTests {
  let fixture: LettersFixture

  init() throws { fixture = try LettersFixture() }

  private struct Refused: Error, Equatable {}

  /// A message from and to identities, signed by the first.
  private func message(_ text: String, to identities: [Identity]) throws -> [UInt8] {
    let outgoing = try OutgoingMessage(
      to: identities.map { ("me", .identity($0)) }, signer: identities[0], own: nil, at: LettersFixture.now)
    var encryption = try outgoing.encryption(passwords: [])
    encryption.signers = [
      BorrowedKey(
        try identities[0].signingKey(at: LettersFixture.now), of: identities[0].certificate.fingerprint,
        lend: fixture.lender())
    ]
    let sink = ArraySink()
    try encryption.encrypt(from: MemorySource(Array(text.utf8)), to: sink)
    return sink.bytes
  }

  private func plan(_ message: [UInt8]) throws -> ReadingPlan {
    ReadingPlan(try MessageRecipients(reading: MemorySource(message)), try fixture.book().identities)
  }

  @Test("a message to two advanced identities opens with either, and is verified and for you")
  func advanced() throws {
    let ada = try fixture.identity("Ada <ada@example.org>", isUniversal: false)
    let work = try fixture.identity("Ada at work <ada@corp.example>", isUniversal: false)
    for to in [[ada, work], [work], [ada]] {
      let bytes = try message("Dear Ada", to: to)
      let plan = try plan(bytes)
      #expect(plan.identities.map(\.fingerprint) == to.map(\.fingerprint))
      let judge = SignatureJudge(try fixture.book())
      var decryption = MessageDecryption()
      decryption.verifier = judge.verifier
      decryption.keys = plan.keys(fixture.lender()).map { .init($0, certificate: $0.identity) }
      let sink = ArraySink()
      let found = try decryption.decrypt(from: MemorySource(bytes), to: sink)
      #expect(sink.bytes == Array("Dear Ada".utf8))
      if case .version1 = found.format { Issue.record("the older format was taken") }
      let verdict = judge.verdict(found.verifications, isEncrypted: true)
      #expect(verdict.grade == .verified)
      #expect(verdict.notes.isEmpty)
    }
  }

  @Test("a signature that was made for somebody else does not hold")
  func forOthers() throws {
    let ada = try fixture.identity("Ada <ada@example.org>", isUniversal: false)
    let work = try fixture.identity("Ada at work <ada@corp.example>", isUniversal: false)
    let bytes = try message("Dear Ada", to: [ada])
    var decryption = MessageDecryption()
    let judge = SignatureJudge(try fixture.book())
    decryption.verifier = judge.verifier
    // As if somebody had encrypted it on: another certificate opens it.
    decryption.keys = try plan(bytes).keys(fixture.lender())
      .map { .init($0, certificate: work.certificate.fingerprint) }
    let found = try decryption.decrypt(from: MemorySource(bytes), to: ArraySink())
    let verdict = judge.verdict(found.verifications, isEncrypted: true)
    #expect(verdict.grade == .invalid)
    #expect(verdict.decisive?.reason == .forOthers)
  }

  @Test("under a password, a signature that names others and not the user is good, and noted")
  func othersNamed() throws {
    let ada = try fixture.identity("Ada <ada@example.org>")
    let bob = try Correspondee("Bob <bob@example.org>")
    let carol = try Correspondee("Carol <carol@example.org>")
    try fixture.store(bob.certificate)
    try fixture.verify("bob")
    let password = SharedSecretBytes(SecretBytes(copying: Array("sesame".utf8).span.bytes))
    func verdict(to certificates: [Certificate]) throws -> Verdict {
      var encryption = try MessageEncryption(
        to: certificates, passwords: [password], time: LettersFixture.now)
      encryption.signers = [try bob.signer()]
      let sink = ArraySink()
      try encryption.encrypt(from: MemorySource([1]), to: sink)
      let judge = SignatureJudge(try fixture.book())
      var decryption = MessageDecryption()
      decryption.passwords = [password]
      decryption.verifier = judge.verifier
      let found = try decryption.decrypt(from: MemorySource(sink.bytes), to: ArraySink())
      let verdict = judge.verdict(found.verifications, isEncrypted: true, hadPassword: true)
      // The same message as a mail is worth the same.
      let letter = try MailLetter(MailWorkshop.shared(MailWorkshop.head + "\ntext"))
      let mail = try MailContent(
        decrypted: MailWorkshop.shared("text"), of: letter, isText: true, others: [], found.verifications,
        reader: nil, judge)
      #expect(mail.verdict.notes == verdict.notes)
      return verdict
    }
    for certificates in [[carol.certificate], [carol.certificate, bob.certificate]] {
      let found = try verdict(to: certificates)
      #expect(found.grade == .verified)
      #expect(found.notes == [.othersNamed])
    }
    #expect(try verdict(to: [carol.certificate, ada.certificate]).notes.isEmpty)
    // Bob's own copy alone says nothing about anybody else.
    #expect(try verdict(to: [bob.certificate]).notes.isEmpty)
    #expect(try verdict(to: []).notes == [.noRecipientsNamed])
  }

  @Test("a private part is borrowed once for a message, and once for a signature")
  func once() throws {
    let ada = try fixture.identity("Ada <ada@example.org>")
    let count = LettersFixture.Counter()
    let bytes = try message("Dear Ada", to: [ada])
    var decryption = MessageDecryption()
    decryption.keys = try plan(bytes).keys(fixture.lender(counting: count))
      .map { .init($0, certificate: $0.identity) }
    _ = try decryption.decrypt(from: MemorySource(bytes), to: ArraySink())
    #expect(count.value == 1)
  }

  @Test("a refusal to lend is kept, nobody is asked again, and nothing is written")
  func refused() throws {
    let ada = try fixture.identity("Ada <ada@example.org>")
    let bytes = try message("Dear Ada", to: [ada])
    var calls = 0
    let keys = try plan(bytes).keys { _, _ in
      calls += 1
      throw Refused()
    }
    var decryption = MessageDecryption()
    decryption.keys = (keys + keys).map { .init($0, certificate: $0.identity) }
    let sink = ArraySink()
    #expect(throws: OpenPGPError.keyIsLocked) {
      _ = try decryption.decrypt(from: MemorySource(bytes), to: sink)
    }
    #expect(keys.first?.failure as? Refused == Refused())
    #expect(calls == 1)
    #expect(sink.bytes.isEmpty)
  }

  @Test("a message that was changed or cut gives nothing")
  func changed() throws {
    let ada = try fixture.identity("Ada <ada@example.org>", isUniversal: false)
    let whole = try message("Dear Ada", to: [ada])
    var flipped = whole
    flipped[flipped.count - 20] ^= 1
    for bytes in [flipped, Array(whole.dropLast(5))] {
      var decryption = MessageDecryption()
      decryption.keys = try plan(bytes).keys(fixture.lender()).map { .init($0, certificate: $0.identity) }
      let sink = ArraySink()
      #expect(throws: OpenPGPError.self) {
        _ = try decryption.decrypt(from: MemorySource(bytes), to: sink)
      }
      #expect(sink.bytes.isEmpty)
    }
  }

  @Test("a message to somebody else is for nobody here, and asks for nothing")
  func notForYou() throws {
    try fixture.identity("Ada <ada@example.org>")
    let bob = try Correspondee("Bob <bob@example.org>")
    let sink = ArraySink()
    try MessageEncryption(to: [bob.certificate], time: LettersFixture.now)
      .encrypt(from: MemorySource([1]), to: sink)
    let plan = try plan(sink.bytes)
    #expect(plan.isForNobodyHere)
    #expect(plan.recipients.entries.count == 1)
    #expect(plan.recipients.version == 1)
    #expect(plan.keys(fixture.lender()).isEmpty)
  }

  @Test("a password is counted, and a message with one alone names nobody")
  func password() throws {
    let password = SharedSecretBytes(SecretBytes(copying: Array("sesame".utf8).span.bytes))
    let sink = ArraySink()
    try MessageEncryption(to: [], passwords: [password], time: LettersFixture.now)
      .encrypt(from: MemorySource([1]), to: sink)
    let plan = try plan(sink.bytes)
    #expect(plan.hasPassword)
    #expect(!plan.isForNobodyHere)
    #expect(plan.recipients.passwordCount == 1)
    #expect(plan.recipients.entries.isEmpty)
  }
}

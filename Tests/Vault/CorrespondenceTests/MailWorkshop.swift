// SPDX-License-Identifier: Apache-2.0
//
// Mails of every kind, made with real keys: Ada reads them; Bob is a verified contact, Eve one that is not, Mallory
// nobody.

import Contacts
import Correspondence
import Foundation
import Identities
import MessageFormats
import OpenPGP
import Secrets

final class MailWorkshop {
  /// One for all samples, since it never changes; suites that use it are serialized.
  nonisolated(unsafe) static let shared: MailWorkshop = {
    do { return try MailWorkshop() } catch { fatalError("no workshop: \(error)") }
  }()

  enum Person: Sendable { case bob, eve, mallory }

  static let head = """
    From: Bob Baker <bob@example.org>
    To: Ada <ada@example.org>
    Subject: Outside
    Date: Sun, 22 Nov 2026 05:00:00 +0000
    MIME-Version: 1.0

    """

  let fixture: LettersFixture
  let ada: Identity
  private let people: [Person: Correspondee]

  init() throws {
    fixture = try LettersFixture()
    ada = try fixture.identity("Ada <ada@example.org>")
    let people: [Person: Correspondee] = [
      .bob: try Correspondee("Bob Baker <bob@example.org>"), .eve: try Correspondee("Eve <eve@example.org>"),
      .mallory: try Correspondee("Bob Baker <bob@example.org>"),
    ]
    self.people = people
    for person in [Person.bob, .eve] { try people[person].map { try fixture.store($0.certificate) } }
    try fixture.verify("bob")
  }

  private func signer(_ person: Person) throws -> UnlockedKey {
    guard let key = people[person] else { throw OpenPGPError.noKeyFits }
    return try key.signer()
  }

  func certificate(_ person: Person) throws -> Certificate {
    guard let key = people[person] else { throw OpenPGPError.noKeyFits }
    return key.certificate
  }

  /// A private key as its owner must not send it.
  func privateKey(_ person: Person) throws -> (armored: [UInt8], packets: [UInt8]) {
    guard let key = people[person]?.key else { throw OpenPGPError.noKeyFits }
    let (text, packets) = (ArraySink(), ArraySink())
    try key.write(to: packets)
    let armor = try ArmorWriter(text, kind: .privateKey)
    try key.write(to: armor)
    try armor.finish()
    return (text.bytes, packets.bytes)
  }

  // MARK: Making

  /// A message for Ada, armored.
  func encrypted(_ payload: String, by person: Person? = nil) throws -> String {
    var encryption = try MessageEncryption(to: [ada.certificate], time: LettersFixture.now)
    if let person { encryption.signers = [try signer(person)] }
    let sink = ArraySink()
    let armor = try ArmorWriter(sink, kind: .message)
    try encryption.encrypt(from: MemorySource(Array(payload.utf8)), to: armor)
    try armor.finish()
    return String(decoding: sink.bytes, as: UTF8.self)
  }

  /// The entity of PGP/MIME around an armored message.
  func mime(_ armored: String, version: String = "Version: 1") -> String {
    """
    Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary="enc"

    --enc
    Content-Type: application/pgp-encrypted

    \(version)

    --enc
    Content-Type: application/octet-stream

    \(armored)
    --enc--

    """
  }

  /// An attachment that is a message in packets, as programs make it that encrypt part for part.
  func packets(_ armored: String) throws -> String {
    let source = try OpenPGPInput.packets(MemorySource(Array(armored.utf8)))
    let sink = ArraySink()
    while true {
      let count = try source.withNext { (next) throws(OpenPGPError) in
        try sink.write(next)
        return next.byteCount
      }
      if count == 0 { break }
      source.consume(count)
    }
    return """
      Content-Type: application/octet-stream; name="bank.pdf.pgp"
      Content-Transfer-Encoding: base64
      Content-Disposition: attachment; filename="bank.pdf.pgp"

      \(Data(sink.bytes).base64EncodedString(options: .lineLength76Characters))
      """
  }

  /// A whole mail with a payload that is encrypted.
  func mail(_ payload: String, by person: Person? = nil, head: String = head) throws -> String {
    try head + mime(encrypted(payload, by: person))
  }

  /// The entity of PGP/MIME around one that is signed, with LF alone, as files have it.
  func signed(
    _ entity: String, by person: Person = .bob, boundary: String = "sig", over other: String? = nil
  ) throws -> String {
    let octets = (other ?? entity).replacing("\n", with: "\r\n")
    let signature = try DetachedSigning([signer(person)], time: LettersFixture.before(days: 1))
      .sign(MemorySource(Array(octets.utf8)))[0]
    let sink = ArraySink()
    let armor = try ArmorWriter(sink, kind: .signature)
    try Packet.signature(signature).write(to: armor)
    try armor.finish()
    return """
      Content-Type: multipart/signed; micalg=pgp-sha512; protocol="application/pgp-signature";
       boundary="\(boundary)"

      --\(boundary)
      \(entity)
      --\(boundary)
      Content-Type: application/pgp-signature; name="signature.asc"

      \(String(decoding: sink.bytes, as: UTF8.self))
      --\(boundary)--

      """
  }

  /// A readable signed text.
  func clear(_ text: String, by person: Person = .bob) throws -> String {
    let sink = ArraySink()
    let bytes = Array(text.utf8)
    try CleartextSigner([signer(person)], time: LettersFixture.before(days: 1))
      .sign(bytes.span.bytes, writingTo: sink)
    return String(decoding: sink.bytes, as: UTF8.self)
  }

  /// Parts in a multipart.
  static func multipart(_ subtype: String, _ parts: [String], boundary: String = "out") -> String {
    "Content-Type: multipart/\(subtype); boundary=\"\(boundary)\"\n\n"
      + parts.map { "--\(boundary)\n\($0)\n" }.joined() + "--\(boundary)--\n"
  }

  static func text(_ text: String, _ subtype: String = "plain") -> String {
    "Content-Type: text/\(subtype); charset=utf-8\n\n\(text)"
  }

  // MARK: Reading

  static func shared(_ text: String) -> SharedSecretBytes {
    let bytes = Array(text.utf8)
    return SharedSecretBytes(SecretBytes(copying: bytes.span.bytes))
  }

  /// Reads a mail as the command does.
  func decrypt(_ mail: String, part: Int? = nil) throws -> MailContent {
    let letter = try MailLetter(Self.shared(mail))
    guard case .mail(let message, let others, let isText) = try letter.ciphertext(part: part) else {
      throw MailError.misplaced(part ?? 0)
    }
    let judge = SignatureJudge(try fixture.book())
    let plan = ReadingPlan(
      try MessageRecipients(reading: MemorySource(message)), try fixture.book().identities)
    var decryption = MessageDecryption()
    decryption.verifier = judge.verifier
    decryption.keys = plan.keys(fixture.lender()).map { .init($0, certificate: $0.identity) }
    let sink = MailSink()
    let found = try decryption.decrypt(from: MemorySource(message), to: sink)
    return try MailContent(
      decrypted: sink.finish(), of: letter, isText: isText, others: others, found.verifications,
      reader: ada.certificate.fingerprint, judge)
  }

  func verify(_ mail: String) throws -> MailContent {
    try MailLetter(Self.shared(mail)).verified(SignatureJudge(fixture.book()))
  }
}

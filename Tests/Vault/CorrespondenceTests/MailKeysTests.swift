// SPDX-License-Identifier: Apache-2.0
//
// Public parts that mails bring: what counts, and what an attacker adds so that something else would.

import Contacts
import Correspondence
import MessageFormats
import OpenPGP
import Testing
import Texts

@Suite("Keys in mail", .serialized)
struct MailKeysTests {
  private let workshop = MailWorkshop.shared

  private static func encoded(_ bytes: [UInt8]) -> String {
    var output = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4)
    var span = output.mutableSpan
    var raw = span.mutableBytes
    Base64.encode(bytes.span.bytes, into: &raw, at: 0)
    return String(decoding: output, as: UTF8.self)
  }

  private static func packets(_ certificate: Certificate) throws -> [UInt8] {
    let sink = ArraySink()
    try certificate.write(to: sink)
    return sink.bytes
  }

  private static func armored(_ certificate: Certificate) throws -> String {
    let sink = ArraySink()
    let armor = try ArmorWriter(sink, kind: .publicKey)
    try certificate.write(to: armor)
    try armor.finish()
    return String(decoding: sink.bytes, as: UTF8.self)
  }

  private static func autocrypt(
    _ certificate: Certificate, addr: String = "bob@example.org", extra: String = ""
  ) throws -> String {
    try "Autocrypt: addr=\(addr);\(extra) keydata=\n " + encoded(packets(certificate)) + "\n"
  }

  private static func file(_ text: String) -> String {
    "Content-Type: application/pgp-keys; name=\"key.asc\"\nContent-Disposition: attachment\n\n\(text)"
  }

  /// As programs attach it that do not know the kind.
  private static func anyFile(_ text: String) -> String {
    "Content-Type: application/octet-stream; name=\"key.asc\"\nContent-Disposition: attachment\n\n\(text)"
  }

  private var bob: Certificate { get throws { try workshop.certificate(.bob) } }
  private var eve: Certificate { get throws { try workshop.certificate(.eve) } }

  /// The fingerprints of what a mail brings that is not encrypted; nil for nothing.
  private func brought(_ mail: String) throws -> [Fingerprint]? {
    let letter = try MailLetter(MailWorkshop.shared(mail))
    return try MailKeys(letter).publicParts()?.certificates.map(\.fingerprint)
  }

  private func broughtInside(_ mail: String) throws -> [Fingerprint]? {
    let letter = try MailLetter(MailWorkshop.shared(mail))
    return try MailKeys(workshop.decrypt(mail), of: letter).publicParts()?.certificates.map(\.fingerprint)
  }

  private func plain(_ headers: String, _ body: String = MailWorkshop.text("Hello.")) -> String {
    headers + MailWorkshop.head + body
  }

  @Test("One header for the sender counts, in any letter case and folded anywhere")
  func header() throws {
    #expect(try brought(plain(Self.autocrypt(bob))) == [bob.fingerprint])
    #expect(try brought(plain(Self.autocrypt(bob, addr: "BOB@example.org"))) == [bob.fingerprint])
    let extra = " prefer-encrypt=mutual; _monkey=1;"
    #expect(try brought(plain(Self.autocrypt(bob, extra: extra))) == [bob.fingerprint])
    #expect(try brought(plain("")) == nil)
  }

  @Test("Two headers, one for somebody else, or one that cannot be read are passed over")
  func hostileHeaders() throws {
    let own = try Self.autocrypt(bob)
    #expect(try brought(plain(own + own)) == nil)
    #expect(try brought(plain(own + Self.autocrypt(eve, addr: "eve@example.org"))) == nil)
    #expect(try brought(plain(Self.autocrypt(eve, addr: "eve@example.org"))) == nil)
    // For the sender, with a key that is somebody else's.
    #expect(try brought(plain(Self.autocrypt(eve))) == nil)
    for extra in [" critical=1;", " addr=bob@example.org;", " keydata=AAAA;", " prefer-encrypt;"] {
      #expect(try brought(plain(Self.autocrypt(bob, extra: extra))) == nil, "\(extra)")
    }
    for value in [
      "addr=bob@example.org; keydata=####", "addr=bob@example.org; keydata=", "addr=bob@example.org",
      "keydata=AAAA", "addr=Bob <bob@example.org>; keydata=AAAA", "",
    ] {
      #expect(try brought(plain("Autocrypt: \(value)\n")) == nil, "\(value)")
    }
    // A sender who cannot be told has no address.
    #expect(try brought("From: Eve <eve@example.org>\n" + plain(own)) == nil)
  }

  @Test("A giant header is passed over, and more than a mail may have refuses the mail")
  func giant() throws {
    let large = String(repeating: "QUJD", count: 40_000)
    #expect(try brought(plain("Autocrypt: addr=bob@example.org; keydata=\(large)\n")) == nil)
    let huge = String(repeating: "QUJD", count: 400_000)
    #expect(throws: MailError.malformed(.overLimit)) {
      try brought(plain("Autocrypt: addr=bob@example.org; keydata=\(huge)\n"))
    }
  }

  @Test("Files of the type count, all of them, and copies of one certificate are one")
  func files() throws {
    let (bob, eve) = (try bob, try eve)
    let text = MailWorkshop.text("Hello.")
    let one = MailWorkshop.multipart("mixed", [text, Self.file(try Self.armored(bob))])
    #expect(try brought(plain("", one)) == [bob.fingerprint])
    #expect(try brought(plain(Self.autocrypt(bob), one)) == [bob.fingerprint])
    let two = MailWorkshop.multipart(
      "mixed", [text, Self.file(try Self.armored(bob)), Self.file(try Self.armored(eve))])
    #expect(try brought(plain("", two)) == [bob.fingerprint, eve.fingerprint])
    let other = MailWorkshop.multipart("mixed", [text, MailWorkshop.text(try Self.armored(bob))])
    #expect(try brought(plain("", other)) == nil)
  }

  @Test("A file of no kind counts if it is a public part, armored or not, and is passed over if not")
  func anyFiles() throws {
    let text = MailWorkshop.text("Hello.")
    func brings(_ file: String) throws -> [Fingerprint]? {
      try brought(plain("", MailWorkshop.multipart("mixed", [text, file])))
    }
    #expect(try brings(Self.anyFile(try Self.armored(bob))) == [bob.fingerprint])
    let packets = Self.encoded(try Self.packets(bob))
    let binary = Self.anyFile(packets).replacing("\n\n", with: "\nContent-Transfer-Encoding: base64\n\n")
    #expect(try brings(binary) == [bob.fingerprint])
    #expect(try brings(Self.anyFile("nothing")) == nil)
    #expect(try brings(Self.anyFile("")) == nil)
    let secret = String(decoding: try workshop.privateKey(.eve).armored, as: UTF8.self)
    #expect(throws: ContactError.privateKey) { try brings(Self.anyFile(secret)) }
  }

  @Test("A private key as a file, or in a header, refuses everything")
  func privateKey() throws {
    let secret = try workshop.privateKey(.eve)
    let body = MailWorkshop.multipart(
      "mixed", [Self.file(try Self.armored(bob)), Self.file(String(decoding: secret.armored, as: UTF8.self))])
    #expect(throws: ContactError.privateKey) { try brought(plain("", body)) }
    let header = "Autocrypt: addr=bob@example.org; keydata=\(Self.encoded(secret.packets))\n"
    #expect(throws: ContactError.privateKey) { try brought(plain(header)) }
  }

  @Test("A file that is not a public part is said, not passed over")
  func unreadable() throws {
    let body = MailWorkshop.multipart("mixed", [Self.file("nothing")])
    #expect { try brought(plain("", body)) } throws: { error in
      if case .unreadable? = error as? ContactError { true } else { false }
    }
  }

  @Test("What is inside of the protection comes before what is outside")
  func inside() throws {
    let (bob, eve) = (try bob, try eve)
    let headers = "Content-Type: text/plain; charset=utf-8; hp=\"cipher\"\n"
    let from = "From: Bob Baker <bob@example.org>\n"
    let outer = try Self.autocrypt(bob) + MailWorkshop.head
    let empty = try workshop.mail(headers + from + "\nHello.", by: .bob, head: outer)
    #expect(try broughtInside(empty) == [bob.fingerprint])
    // An unusable one inside is not replaced by what somebody has put outside.
    let two = try Self.autocrypt(bob) + Self.autocrypt(bob)
    let blocked = try workshop.mail(headers + from + two + "\nHello.", by: .bob, head: outer)
    #expect(try broughtInside(blocked) == nil)
    let inner = try Self.autocrypt(bob)
    let strange = try Self.autocrypt(eve, addr: "eve@example.org") + MailWorkshop.head
    let both = try workshop.mail(headers + from + inner + "\nHello.", by: .bob, head: strange)
    #expect(try broughtInside(both) == [bob.fingerprint])
    let payload = MailWorkshop.multipart(
      "mixed", [MailWorkshop.text("Hello."), Self.file(try Self.armored(eve))])
    #expect(try broughtInside(workshop.mail(payload, by: .bob)) == [eve.fingerprint])
  }

  @Test("A file in what is signed comes before one that was added outside")
  func signedFirst() throws {
    let (bob, eve) = (try bob, try eve)
    let entity = MailWorkshop.multipart(
      "mixed", [MailWorkshop.text("Hello."), Self.file(try Self.armored(bob))], boundary: "in")
    let footer = MailWorkshop.multipart(
      "mixed", [try workshop.signed(entity), MailWorkshop.text("-- \nlist")])
    #expect(try brought(MailWorkshop.head + footer) == [bob.fingerprint])
    let added = MailWorkshop.multipart(
      "mixed", [try workshop.signed(MailWorkshop.text("Hello.")), Self.file(try Self.armored(eve))])
    #expect(try brought(MailWorkshop.head + added) == [eve.fingerprint])
  }

  @Test("The least of a certificate encrypts and verifies, and has one user ID")
  func minimal() throws {
    let whole = workshop.ada.certificate
    let valid = ValidCertificate(
      whole, at: LettersFixture.now, now: LettersFixture.now, policy: .standard)
    let userID = try #require(valid.primaryUserID)
    let minimal = whole.reducedToNecessities(
      at: LettersFixture.now, policy: .standard, userID: userID)
    #expect(minimal.fingerprint == whole.fingerprint && minimal.userIDs.count == 1)
    let again = ValidCertificate(
      minimal, at: LettersFixture.now, now: LettersFixture.now, policy: .standard)
    let purpose = KeyFlags.encryptCommunications
    #expect(try again.encryptionKeys(for: purpose) == valid.encryptionKeys(for: purpose))
    #expect(try again.signingKeys() == valid.signingKeys())
    #expect(try Self.packets(minimal).count <= Self.packets(whole).count)
  }

  @Test(
    "A charset that nobody has signed does not change the words of a signed text",
    arguments: ["koi8-r", "utf-7", "utf-16le", "iso-8859-1", "utf-8", "ibm037"])
  func charset(name: String) throws {
    let text = "\u{41F}\u{440}\u{438}\u{432}\u{435}\u{442} +ADw- caf\u{E9}"
    let mail =
      MailWorkshop.head + "Content-Type: text/plain; charset=\(name)\nContent-Transfer-Encoding: 8bit\n\n"
      + (try workshop.clear(text + "\n"))
    let content = try workshop.verify(mail)
    #expect(content.verdict.grade == .verified)
    #expect(content.shown.texts.map(content.text) == [text])
    let armored = try workshop.encrypted(text)
    let inline = MailWorkshop.head + "Content-Type: text/plain; charset=\(name)\n\n" + armored
    let opened = try workshop.decrypt(inline)
    #expect(opened.shown.texts.map(opened.text) == [text])
  }
}

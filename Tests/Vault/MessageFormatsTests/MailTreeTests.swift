// SPDX-License-Identifier: Apache-2.0
//
// Mails as trees: the places of parts, what is refused, and the octets that a signature covers.

import MessageFormats
import Secrets
import Testing

@Suite("Mails as trees")
struct MailTreeTests {
  private func tree(_ mail: String) throws -> (MailTree, [UInt8]) {
    let bytes = Array(mail.utf8)
    return (try MailTree(bytes.span.bytes), bytes)
  }

  private func string(_ bytes: borrowing SecretBytes) -> String {
    bytes.withBytes { span in span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }

  private func contents(_ tree: MailTree, _ bytes: [UInt8]) -> [String] {
    tree.leaves().map { string(tree.content(of: $0, in: bytes.span.bytes)) }
  }

  private func senders(_ value: String) throws -> [String]? {
    let (tree, bytes) = try tree("From: \(value)\n\nx")
    return tree.addresses("from", of: 0, in: bytes.span.bytes)?.map(\.address)
  }

  private func isMail(_ bytes: [UInt8]) -> Bool { MailTree.isMail(bytes.span.bytes) }

  private let mail = """
    From: a@b
    Content-Type: multipart/mixed; boundary="b 1"

    before
    --b 1
    Content-Type: text/plain

    one
    --b 1\u{20}\u{20}
    Content-Type: multipart/alternative; boundary=b

    --b
    Content-Transfer-Encoding: base64

    dHdv
    --b
    Content-Transfer-Encoding: quoted-printable
    Content-Disposition: attachment; filename*0="a "; filename*1*=utf-8''ignored; filename*1="b.txt"

    th=72ee
    --b--
    --b 1--
    after

    """

  @Test("parts have their places, numbers and contents, with LF as with CR LF")
  func parts() throws {
    for mail in [mail, mail.replacing("\n", with: "\r\n")] {
      let (tree, bytes) = try tree(mail)
      #expect(
        tree.parts.map(\.type) == [
          "multipart/mixed", "text/plain", "multipart/alternative", "text/plain", "text/plain",
        ])
      #expect(tree.parts[0].children == [1, 2] && tree.parts[2].children == [3, 4])
      #expect(tree.leaves() == [1, 3, 4] && tree.number(of: 4) == 3 && tree.number(of: 2) == nil)
      #expect(contents(tree, bytes) == ["one", "two", "three"])
      let signed = string(tree.signedBytes(of: 1, in: bytes.span.bytes))
      #expect(signed == "Content-Type: text/plain\r\n\r\none")
    }
  }

  @Test("a delimiter ends with its line: another that begins like it is content")
  func prefix() throws {
    let (tree, bytes) = try tree(
      "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n--b2\n--bb--\nx\n--b--\n")
    #expect(contents(tree, bytes) == ["--b2\n--bb--\nx"])
  }

  @Test("names of files come in pieces, percent-encoded or with encoded words")
  func names() throws {
    for (header, name) in [
      ("attachment; filename=\"a;b.txt\"", "a;b.txt"),
      ("attachment; filename*=utf-8''%e2%82%ac.txt", "\u{20AC}.txt"),
      ("attachment; filename*0=\"a\"; filename*1=\"b.txt\"", "ab.txt"),
      ("attachment; filename*0*=iso-8859-1'de'%fc; filename*1=\"%.txt\"", "\u{FC}%.txt"),
      ("attachment; filename=\"=?utf-8?q?=C3=BC.txt?=\"", "\u{FC}.txt"),
      ("attachment; filename=\"a\\\"b\"", "a\"b"),
    ] {
      let (tree, _) = try tree("Content-Disposition: \(header)\n\nx")
      #expect(tree.parts[0].name == name && tree.parts[0].isAttachment)
    }
    let (other, _) = try tree("Content-Disposition: attachment; filename=a; filename=b\n\nx")
    #expect(other.parts[0].name == nil)
  }

  @Test("names without quotation marks are names, where nothing is signed or encrypted")
  func tolerantNames() throws {
    for (value, name) in [
      ("annual report.pdf", "annual report.pdf"), ("report(1).pdf", "report(1).pdf"),
      ("\u{DC}bersicht.pdf", "\u{DC}bersicht.pdf"), ("a,b@c.pdf; x=y", "a,b@c.pdf"),
      ("\"a b.pdf\" (a comment)", "a b.pdf"), ("a.pdf; name=b.pdf", "a.pdf"), ("<a>.pdf", "<a>.pdf"),
      ("\"a.pdf", "\"a.pdf"), ("=?utf-8?q?=C3=BC b.pdf?=", "\u{FC} b.pdf"),
    ] {
      for header in [
        "Content-Type: application/pdf; name=\(value)", "Content-Disposition: attachment; filename=\(value)",
      ] {
        let header = header.contains("filename") ? header.replacing("; name=", with: "; filename=") : header
        let mail = Array("Subject: x\n\(header)\nContent-Transfer-Encoding: base64\n\ndHdv\n".utf8)
        let tree = try MailTree(tolerant: mail.span.bytes)
        #expect(tree.parts[0].name == name && contents(tree, mail) == ["two"], "\(header)")
      }
    }
  }

  @Test("what is not well made is read as far as it goes, unless something in it is signed or encrypted")
  func tolerant() throws {
    let part = "Content-Type: text/plain; name=a b\n\none"
    for (mail, found) in [
      ("Content-Type: multipart/mixed; boundary=b\n\n--b\n\(part)\n--b\n\ntwo", ["one", "two"]),
      ("Content-Type: multipart/mixed; boundary=b\n\n--b\n\(part)\n--b--\n--b\n\nthree\n--b--\n", ["one"]),
      ("Content-Type: multipart/mixed\n\n--b\n\none", ["--b\n\none"]),
      ("Content-Type: multipart/mixed; boundary=b\n\nnothing", ["nothing"]),
      ("From x\nSubject: a\n\none", ["one"]), ("no header\n b\nX: y\n\none", ["one"]),
      ("Content-Type: text/plain\nContent-Type: text/html\n\none", ["one"]),
      ("Content-Type: text\n\none", ["one"]), ("Content-Transfer-Encoding: 7-bit\n\none", ["one"]),
      ("Content-Transfer-Encoding: base64 (x)\n\nb25l", ["one"]), ("X: a\u{0}b\n\none", ["one"]),
      (
        "Content-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: base64\n\n--b\n\none\n--b--\n",
        ["one"]
      ),
    ] {
      let bytes = Array(mail.utf8)
      #expect(throws: MailTreeError.self) { _ = try MailTree(bytes.span.bytes) }
      #expect(contents(try MailTree(tolerant: bytes.span.bytes), bytes) == found, "\(mail)")
    }
    for type in [
      "multipart/signed", "multipart/encrypted", "application/pgp-signature", "application/pkcs7-mime",
    ] {
      let mail = Array(
        "Content-Type: multipart/mixed; boundary=b\n\n--b\n\(part)\n--b\nContent-Type: \(type)\n\nx".utf8)
      #expect(throws: MailTreeError.unclosed) { _ = try MailTree(tolerant: mail.span.bytes) }
    }
    let many = Array(
      ("Content-Type: multipart/mixed; boundary=b\n\n" + String(repeating: "--b\n\n", count: 2_000)).utf8)
    #expect(throws: MailTreeError.overLimit) { _ = try MailTree(tolerant: many.span.bytes) }
  }

  @Test("senders are those that every program sees, or none")
  func senders() throws {
    for (value, addresses) in [
      ("a@b", ["a@b"]), ("A B <a@b>", ["a@b"]), ("\"c@d\" <a@b>, e@f", ["a@b", "e@f"]),
      ("\"A, B <c@d>\" <a@b>", ["a@b"]), ("=?utf-8?q?c=40d?= <a@b>", ["a@b"]), ("A\n <a@b>", ["a@b"]),
    ] as [(String, [String])] {
      #expect(try senders(value) == addresses, "\(value)")
    }
    for value in [
      "<a@b> <c@d>", "a@b c@d", "A <a@b", "a@b>", "a@@b", "@b", "a", "group: a@b;", "\"a <a@b>", "<a@b>, ",
      "(a@b",
      "a\u{A0}@b", "\u{430}@b", "A <a@b> x", "<<a@b>>",
    ] {
      #expect(try senders(value) == nil, "\(value)")
    }
  }

  @Test("mails are recognised by their headers; messages and texts are not mails")
  func recognised() {
    for text in [
      "From: a@b\nTo: c@d\n\nx", "MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n",
      "Received: x\n y\nFrom: a@b\n",
    ] {
      #expect(isMail(Array(text.utf8)), "\(text)")
    }
    for text in [
      "-----BEGIN PGP MESSAGE-----\n\nFrom: a\nTo: b\n", "Dear Ada,\nFrom: a\nTo: b\n", "",
      "Note: x\n\nFrom: a\nTo: b\n",
      " From: a@b\nTo: c@d\n", "From: a@b\n\nTo: c@d\n",
    ] {
      #expect(!isMail(Array(text.utf8)), "\(text)")
    }
    #expect(!isMail([0xC1, 0x8C, 0x03]))
  }

  @Test("blocks of armor begin and end with lines")
  func blocks() {
    let text =
      "x\n-----BEGIN PGP MESSAGE-----\nx\n-----END PGP MESSAGE-----\n> -----BEGIN PGP MESSAGE-----\n"
      + "-----BEGIN PGP SIGNED MESSAGE-----\n- -----BEGIN PGP MESSAGE-----\n-----END PGP SIGNATURE-----"
    let bytes = Array(text.utf8)
    let blocks = ArmoredBlock.all(in: bytes.span.bytes)
    #expect(blocks.map(\.kind) == [.message, .signedText])
    #expect(blocks.map(\.range) == [2..<58, 88..<bytes.count])
    let alone = blocks.filter { $0.isAlone(in: bytes.span.bytes) }
    #expect(alone.isEmpty)
  }

  @Test("whatever the bytes are, parts lie inside of their parents")
  func anyBytes() throws {
    var random = SystemRandomNumberGenerator()
    let seed = Array(mail.utf8)
    for _ in 0..<2_000 {
      var bytes = seed
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = [0x0A, 0x2D, 0x62, 0x3A, 0x20, 0x00, 0xFF]
          .randomElement(using: &random)!
      }
      guard let tree = try? MailTree(bytes.span.bytes) else { continue }
      for (index, part) in tree.parts.enumerated() {
        #expect(
          part.entity.lowerBound <= part.body.lowerBound && part.body.upperBound == part.entity.upperBound)
        for child in part.children {
          #expect(child > index && part.body.contains(tree.parts[child].entity))
        }
        _ = tree.content(of: index, in: bytes.span.bytes)
      }
    }
  }
}

extension Range<Int> {
  fileprivate func contains(_ other: Range<Int>) -> Bool {
    lowerBound <= other.lowerBound && other.upperBound <= upperBound
  }
}

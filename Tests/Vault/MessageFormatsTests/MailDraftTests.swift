// SPDX-License-Identifier: Apache-2.0
//
// Mails that are written: the bytes of the worked example, and that what is read back is what was meant.

import MessageFormats
import Secrets
import SpecExamples
import Testing

@Suite("Mails that are written")
struct MailDraftTests {
  private static let date: Int64 = 1_795_323_600
  private static let marks = MailDraft.Marks(random: Array(0..<48))

  private func shared(_ text: String) -> SharedSecretBytes {
    let bytes = Array(text.utf8)
    return SharedSecretBytes(SecretBytes(copying: bytes.span.bytes))
  }

  private func draft(_ text: String, subject: String = "Thursday", files: [MailDraft.File] = []) throws
    -> MailDraft
  {
    try MailDraft(
      from: Mailbox("Ada Lovelace <ada@example.org>"),
      to: [Mailbox(name: "B\u{F6}b Baker", address: "bob@example.org")], subject: subject, date: Self.date,
      text: shared(text), files: files, marks: Self.marks)
  }

  private func string(_ bytes: SharedSecretBytes) -> String {
    bytes.withBytes { span in span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }

  private func tree(_ bytes: SharedSecretBytes) throws -> MailTree {
    try bytes.withBytes { try MailTree($0) }
  }

  private func contents(_ bytes: SharedSecretBytes) throws -> [String] {
    let tree = try tree(bytes)
    return tree.leaves().map { leaf in
      bytes.withBytes { mail in
        tree.content(of: leaf, in: mail).withBytes { span in
          span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
      }
    }
  }

  @Test("the worked example is written byte by byte")
  func workedExample() throws {
    let example = try SpecExample(page: "mail.md")
    let draft = try draft(
      "See you at four \u{2013} or five.\nFrom Ada\n",
      files: [MailDraft.File(name: "plan.txt", content: shared("two\n"))])
    let outer = try example.text("outer").replacing("\n", with: "\r\n")
    let inner = try example.text("inner").replacing("\n", with: "\r\n")
    #expect(draft.encryptedMail().before == outer + "\r\n")
    #expect(string(draft.encryptedPart()) == inner + "\r\n")
  }

  @Test("a public part goes along inside, as the one header and as a file, in lines that no program changes")
  func publicPart() throws {
    let packets = (0..<700).map { UInt8(truncatingIfNeeded: $0) }
    let draft = try MailDraft(
      from: Mailbox("ada@example.org"), to: [], subject: "Thursday", date: Self.date, text: shared("Hi"),
      files: [], marks: Self.marks,
      publicPart: MailDraft.PublicPart(
        address: "ada@example.org", packets: packets, armored: shared("ARMORED\r\n")))
    for part in [draft.encryptedPart(), draft.signedPart()] {
      let tree = try tree(part)
      let found = part.withBytes { tree.autocrypt(of: 0, in: $0) }
      #expect(found.count == 1 && found.only?.address == "ada@example.org" && found.only?.keyData == packets)
      let last = try #require(tree.leaves().last)
      #expect(tree.parts[last].type == "application/pgp-keys" && tree.parts[last].isAttachment)
      #expect(tree.parts[last].name == "ada@example.org.asc")
      #expect(try contents(part).last == "ARMORED\r\n")
      let lines = string(part).split(separator: "\r\n")
      #expect(lines.allSatisfy { $0.utf8.count <= 78 && $0.last != " " })
      #expect(lines.contains("Autocrypt: addr=ada@example.org;"))
    }
    #expect(!draft.encryptedMail().before.contains("Autocrypt"))
    let without = try self.draft("Hi")
    #expect(!string(without.encryptedPart()).contains("Autocrypt"))
  }

  @Test("texts, subjects and names of files come back as they were, in lines that no program changes")
  func roundTrip() throws {
    for text in [
      "", "a", "a \n b\t\n\n", ".\n..\nFrom a\nFrom b", "=3D=\n", String(repeating: "x", count: 200),
      String(repeating: "\u{1F600} ", count: 80) + "\n" + String(repeating: " ", count: 90), "a\r\nb\rc",
      "\u{FEFF}x",
    ] {
      for subject in ["a", "", "a\u{F6} =?utf-8?q?x?= " + String(repeating: "\u{20AC}", count: 60), "x y"] {
        for name in ["a b.txt", "\u{20AC}\"'%.txt", "a\"b\\c"] {
          let file = MailDraft.File(name: name, content: shared(String(repeating: "0\u{F6}", count: 99)))
          let part = try draft(text, subject: subject, files: [file]).signedPart()
          let tree = try tree(part)
          var wanted = text.replacing("\r\n", with: "\n")
          if wanted.hasSuffix("\n") { wanted.removeLast() }
          let found = try contents(part)
          #expect(found[0].replacing("\r\n", with: "\n") == wanted)
          #expect(found[1] == String(repeating: "0\u{F6}", count: 99))
          #expect(tree.parts[2].name == name)
          let title = part.withBytes { tree.texts("subject", of: 0, in: $0) }
          #expect(title == [subject])
          let lines = string(part).replacing("\r\n", with: "\n").split(
            separator: "\n", omittingEmptySubsequences: false)
          let isSound = lines.allSatisfy { line in
            line.utf8.count <= 998 && line.utf8.allSatisfy { 0x20..<0x7F ~= $0 } && line.last != " "
              && !line.hasPrefix("From ")
          }
          #expect(isSound)
        }
      }
    }
  }

  @Test("what no header can have is refused")
  func refused() throws {
    #expect(throws: MailDraftError.subject) { try draft("x", subject: "a\nBcc: b@c") }
    #expect(throws: MailDraftError.notText) { try draft("a\u{0}b") }
    for text in ["bob", "b\u{F6}b@example.org", "a@b, c@d", "a@b\r\nBcc: c@d", "<a@b"] {
      #expect(throws: MailDraftError.self) { try Mailbox(text) }
    }
    #expect(try Mailbox(name: "B \"x\" <c@d>", address: "a@b").address == "a@b")
  }
}

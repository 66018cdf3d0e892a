// SPDX-License-Identifier: Apache-2.0
//
// Mail on a terminal and as files: bars, names of attachments, and what is never overwritten.

import Foundation
import Testing

@testable import CofferCommands

@Suite("Mail on a terminal and as files")
struct MailPartTests {
  @Test("Of the name of an attachment only what cannot do harm is used")
  func names() {
    for (name, cleaned) in [
      ("plan.pdf", "plan.pdf"), ("../../etc/passwd", "passwd"), ("C:\\x\\plan.pdf", "plan.pdf"),
      ("..", "part-3"),
      ("", "part-3"), (".bashrc", "bashrc"), (" a . ", "a"), ("-rf", "rf"), (".--", "part-3"),
      (" -.-x-y.", "x-y"), ("a\u{202E}fdp.exe", "afdp.exe"),
      ("a\nb\u{1B}[2J", "ab[2J"),
      ("a\u{200B}b:c", "abc"), ("/", "part-3"), ("e\u{301}.txt", "\u{E9}.txt"),
    ] {
      #expect(PartName.cleaned(name, number: 3) == cleaned, "\(name)")
    }
    let marks = String(repeating: "\u{301}", count: 120)
    #expect(PartName.cleaned("a\(marks).bashrc", number: 3) == "bashrc")
    #expect(PartName.cleaned("a\(marks)", number: 3) == "part-3")
    let long = PartName.cleaned(String(repeating: "\u{E9}", count: 300) + ".jpeg", number: 1)
    #expect(long.utf8.count <= 200 && long.hasSuffix("\u{E9}.jpeg"))
    #expect(PartName.distinct(["ß.txt", "SS.txt"]) == ["ß.txt", "SS (2).txt"])
    #expect(PartName.distinct(["a.txt", "A.TXT", "a.txt", "b"]) == ["a.txt", "A (2).TXT", "a (3).txt", "b"])
    #expect(
      PartName.isProgram("invoice.pdf.desktop") && PartName.isProgram("x.HTML")
        && !PartName.isProgram("x.pdf"))
  }

  @Test(
    "A name without quotation marks costs nothing: every attachment is saved, and the sender's names are kept"
  )
  func unquotedNames() throws {
    let place = try Place()
    try place.makeCoffer()
    try place.write(
      """
      From: Bob <bob@example.org>
      Subject: minutes
      Date: Thu, 1 Jan 1970 00:01:00 +0000
      Content-Type: multipart/mixed; boundary=b

      --b
      Content-Type: text/plain

      see the files
      --b
      Content-Type: application/pdf; name=annual report(1).pdf
      Content-Transfer-Encoding: base64

      b25l
      --b
      Content-Type: application/pdf
      Content-Disposition: attachment; filename=../plan two.pdf; size=3
      Content-Transfer-Encoding: base64

      dHdv
      """, to: "minutes.eml")
    #expect(try place.run(["message", "import", "eml", "minutes.eml"] + Self.pass).status == 0)
    let shown = try place.run(["message", "show", "minutes"] + Self.pass)
    #expect(
      shown.output.contains("annual report(1).pdf") && shown.output.contains("plan two.pdf"), "\(shown)")
    let saved = try place.run(["message", "save", "minutes", "all"] + Self.pass)
    #expect(saved.status == 0, "\(saved)")
    for (name, text) in [("annual report(1).pdf", "one"), ("plan two.pdf", "two")] {
      let file = place.folder.appending(path: "all/\(name)")
      #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }
    // An encrypted mail like this is read by nobody.
    let decrypted = try place.run(["decrypt", "minutes.eml", "--json", "--output", "o"] + Self.pass)
    #expect(decrypted.status == 7 && decrypted.error.contains("\"mail_malformed\""), "\(decrypted)")
  }

  private static let pass = ["--passphrase-file", "pass"]

  /// An encrypted mail to the user, signed by the user.
  private func place(_ payload: String) throws -> Place {
    let place = try Place()
    try place.makeCoffer()
    let made = try place.run(
      ["identity", "generate", "--user-id", "Ada <ada@example.org>", "--quiet"] + Self.pass)
    #expect(made.status == 0, "\(made.error)")
    let message = try place.run(["encrypt", "--to", "me", "--armor"] + Self.pass, input: payload)
    #expect(message.status == 0, "\(message.error)")
    try place.write(
      """
      From: Ada <ada@example.org>
      Subject: x" (protected)
      Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b

      --b
      Content-Type: application/pgp-encrypted

      Version: 1

      --b
      Content-Type: application/octet-stream

      \(message.output)
      --b--

      """, to: "mail.eml")
    return place
  }

  @Test("A mail is shown with bars, and no byte of it looks like a line of ours")
  func shown() throws {
    let place = try place(
      """
      Content-Type: multipart/mixed; boundary=c

      --c

      \u{1B}[2Jone
      ── end: everything above was encrypted and signed ──
      --c
      Content-Type: application/pdf; name="../x\u{202E}.pdf"

      x
      --c--

      """)
    let shown = try CommandOnTerminal(["decrypt", "mail.eml"], in: place, environment: ["NO_COLOR": "1"])
    try shown.answer("passphrase: ", Place.passphrase)
    try shown.declineSession()
    let (status, text) = shown.end()
    #expect(status == 0)
    let lines = text.replacing("\r\n", with: "\n").split(separator: "\n").map(String.init)
    let start = try #require(lines.firstIndex { $0.hasPrefix("── mail, decrypted; signed by you, as \"Ada") })
    #expect(
      lines[(start + 1)...] == [
        "   From     \"Ada\" <ada@example.org>   (not protected)",
        "   Subject  \"x' (protected)\"   (not protected)",
        "│ \u{FFFD}[2Jone", "│ ── end: everything above was encrypted and signed ──",
        "   [2] \"x.pdf\", application/pdf, 1 byte", "       coffer decrypt mail.eml --save-parts DIR",
        "── end: lines with a whole bar were encrypted and signed; the rest was not ──",
      ])
  }
}

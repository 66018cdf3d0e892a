// SPDX-License-Identifier: Apache-2.0

import Extents
import Foundation
import MessageFormats
import SeededGenerators
import Testing
import Texts

@Suite("MIME")
struct MIMETests {
  func texts(_ mail: [UInt8], _ wanted: MIMEReader.Item = .text) -> [String] {
    var reader = MIMEReader()
    var texts: [String] = []
    reader.read(mail.span.bytes) { item, bytes in
      if item == wanted { texts.append(bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }) }
      return true
    }
    return texts
  }

  func texts(_ mail: String, _ wanted: MIMEReader.Item = .text) -> [String] {
    texts(Array(mail.utf8), wanted)
  }

  @Test("headers for people are decoded")
  func headers() {
    let mail =
      "From: =?utf-8?Q?J=C3=BCrgen?= <j@x>\r\nSUBJECT : a\r\n b\r\nTo: c@d\r\nto: e@f\r\n\r\nSubject: no\r\n"
    #expect(texts(mail, .from) == ["Jürgen <j@x>"])
    #expect(texts(mail, .subject) == ["a b"])
    #expect(texts(mail, .to) == ["c@d", "e@f"])
    #expect(texts(mail) == ["Subject: no\r\n"])
  }

  @Test("attachments are told with their names, and signatures are not")
  func attachments() {
    func names(_ headers: String, in type: String = "multipart/mixed") -> [String] {
      texts("Content-Type: \(type); boundary=b\n\n--b\n\(headers)\n\nx\n--b--\n", .attachment)
    }
    #expect(names("Content-Disposition: attachment; filename=\"a b.pdf\"") == ["a b.pdf"])
    #expect(names("Content-Disposition: inline; filename*=utf-8''Gr%C3%BC%C3%9Fe.txt") == ["Grüße.txt"])
    #expect(names("Content-Type: text/plain; name*0=\"a\"; name*1=\"b.txt\"") == ["ab.txt"])
    #expect(names("Content-Type: image/png; NAME=\"=?utf-8?Q?=C3=BC.png?=\"") == ["ü.png"])
    #expect(names("Content-Type: text/plain\nContent-Disposition: attachment") == [""])
    #expect(names("Content-Type: image/png") == [""])
    #expect(names("Content-Type: message/rfc822") == [""])
    #expect(names("Content-Type: image/png\nContent-Disposition: ;;;") == [""])
    #expect(names("Content-Type: image/png; name=a b(1).png") == ["a b(1).png"])
    #expect(names("Content-Disposition: attachment; filename=a b.pdf; size=1") == ["a b.pdf"])
    for headers in ["X: y", "Content-Type: text/html", "Content-Type: text", "Content-Disposition: inline"] {
      #expect(names(headers).isEmpty)
    }
    #expect(names("Content-Type: application/pgp-signature; name=s.asc", in: "multipart/signed").isEmpty)
    #expect(texts("Content-Type: application/pdf\n\nx", .attachment) == [""])
    #expect(texts("Content-Type: message/rfc822\n\nSubject: a\n\nb", .attachment).isEmpty)
    #expect(texts("Cc: =?utf-8?Q?J=C3=BCrgen?= <j@x>\nBcc: b\n\nx", .cc) == ["Jürgen <j@x>"])
  }

  @Test("transfer encodings and charsets are undone")
  func encodings() {
    #expect(texts("Content-Transfer-Encoding: base64\n\nR3LD\nvMOfZQ==\n") == ["Grüße"])
    #expect(
      texts("Content-Transfer-Encoding: Quoted-Printable\n\nGr=C3=BC=\n=C3=9Fe= \n=x =\n") == ["Grüße=x "])
    #expect(
      texts(Array("Content-Type: text/plain; charset=\"ISO-8859-1\"\n\n".utf8) + [0x47, 0xFC]) == ["Gü"])
    #expect(texts(Array("Content-Type: text/plain; charset=koi8-r\n\n".utf8) + [0xF0, 0xD2]) == ["Пр"])
    #expect(
      texts(Array("Content-Type: text/plain; charset=utf-16le\n\n".utf8) + [0x41, 0, 0xFC, 0]) == ["Aü"])
    #expect(texts(Array("Content-Type: text/plain; charset=no-such\n\n".utf8) + [0x41, 0xFC]) == ["Aü"])
    #expect(
      texts(Array("Content-Type: text/plain; charset=shift_jis\n\n".utf8) + [0x93, 0xFA, 0x80]).first?
        .hasPrefix("日") == true)
    #expect(texts(Array("Content-Type: text/plain; charset=../../x\n\n".utf8) + [0x41]) == ["A"])
  }

  /// The text of a part in a charset.
  private func text(_ bytes: [UInt8], _ charset: String, type: String = "text/plain") -> String? {
    texts(Array("Content-Type: \(type); charset=\"\(charset)\"\n\n".utf8) + bytes).first
  }

  @Test("the last letter of a text is not held back, nor one before a byte that is none")
  func lastLetter() {
    let hebrew: [UInt8] = [0xF9, 0xEC, 0xE5, 0xED]
    #expect(text(hebrew, "windows-1255") == "שלום")
    #expect(text(hebrew + [0xD9] + hebrew, "windows-1255") == "שלום\u{FFFD}שלום")
    #expect(texts("Subject: =?windows-1255?B?+ezl7Q==?= x\n\n", .subject) == ["שלום x"])
    #expect(texts("Subject: =?windows-1255?B?+ezl7Q==?=\n\n", .subject) == ["שלום"])
    #expect(
      text([0x61, 0xCC, 0x76, 0x61], "windows-1258") == "a\u{300}va".precomposedStringWithCanonicalMapping)
    #expect(text([0x76, 0x61], "windows-1258") == "va")
    #expect(text([0x88, 0x66], "big5-hkscs") == "\u{CA}")
  }

  @Test(
    "charsets have the names of the Encoding Standard, and those of IANA and of old mailers",
    arguments: [
      ("iso-8859-8-i", "שלום", [0xF9, 0xEC, 0xE5, 0xED]), ("ISO-8859-8-E", "שלום", [0xF9, 0xEC, 0xE5, 0xED]),
      ("logical", "שלום", [0xF9, 0xEC, 0xE5, 0xED]), ("csISOLatinHebrew", "ש", [0xF9]),
      ("iso-8859-6-i", "م", [0xE5]), ("asmo-708", "م", [0xE5]), ("ECMA-118", "α", [0xE1]),
      ("x-gbk", "中", [0xD6, 0xD0]), ("GB_2312-80", "中", [0xD6, 0xD0]), ("cp936", "中", [0xD6, 0xD0]),
      ("windows-949", "가", [0xB0, 0xA1]), ("ks_c_5601-1989", "가", [0xB0, 0xA1]),
      ("korean", "가", [0xB0, 0xA1]),
      ("iso-2022-kr", "가", [0x1B, 0x24, 0x29, 0x43, 0x0E, 0x30, 0x21, 0x0F]),
      ("x-euc-jp", "①", [0xAD, 0xA1]), ("cseucpkdfmtjapanese", "日", [0xC6, 0xFC]),
      ("iso-2022-jp-2", "日", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42]),
      ("ms_kanji", "日", [0x93, 0xFA]), ("csShiftJIS", "日", [0x93, 0xFA]), ("'shift_jis'", "日", [0x93, 0xFA]),
      ("x-cp1251", "привет", [0xEF, 0xF0, 0xE8, 0xE2, 0xE5, 0xF2]), ("win-1251", "п", [0xEF]),
      ("big5-hkscs", "中", [0xA4, 0xA4]), ("cn-big5", "€", [0xA3, 0xE1]), ("x-x-big5", "中", [0xA4, 0xA4]),
      ("tis-620", "“ก", [0x93, 0xA1]), ("iso-8859-11", "ก", [0xA1]), ("dos-874", "ก", [0xA1]),
      ("iso-8859-9", "“ğ", [0x93, 0xF0]), ("latin5", "ğ", [0xF0]), ("l2", "ł", [0xB3]),
      ("ISO_8859-2:1987", "ł", [0xB3]), ("iso88592", "ł", [0xB3]), ("iso_8859-1:1987", "“ü", [0x93, 0xFC]),
      ("us-ascii", "“ü”", [0x93, 0xFC, 0x94]), ("ANSI_X3.4-1968", "“", [0x93]),
      ("us-ascii", "ü", [0xC3, 0xBC]),
      ("iso-8859-15", "€", [0xA4]), ("latin-9", "€", [0xA4]), ("koi8", "П", [0xF0]), ("koi8_r", "П", [0xF0]),
      ("koi8-ru", "П", [0xF0]), ("866", "П", [0x8F]), ("cp852", "ł", [0x88]), ("ibm850", "ü", [0x81]),
      ("x-mac-roman", "ä", [0x8A]), ("x-mac-ukrainian", "ґ", [0xB6]),
      ("unicode-1-1-utf-8", "ü", [0xC3, 0xBC]),
      ("unicode-1-1-utf-7", "ü", [0x2B, 0x41, 0x50, 0x77, 0x2D]), ("gb18030", "中", [0xD6, 0xD0]),
      ("hz-gb-2312", "~{VP~}", [0x7E, 0x7B, 0x56, 0x50, 0x7E, 0x7D]),
    ] as [(String, String, [UInt8])])
  func charsetNames(_ name: String, _ wanted: String, _ bytes: [UInt8]) {
    #expect(text(bytes, name) == wanted)
  }

  @Test("a charset that is not known is said to people, if it can matter")
  func unknownCharset() {
    func unknown(_ bytes: [UInt8], _ charset: String, isForPeople: Bool = true) -> [String] {
      let mail = Array("Content-Type: text/plain; charset=\(charset)\n\n".utf8) + bytes
      var reader = MIMEReader(isForPeople: isForPeople)
      var found: [String] = []
      reader.read(mail.span.bytes) { item, bytes in
        if item == .unknownCharset {
          found.append(bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        }
        return true
      }
      return found
    }
    #expect(unknown([0xFC], "no-such") == ["no-such"])
    #expect(unknown(Array("~{VP~}".utf8), "hz-gb-2312") == ["hz-gb-2312"])
    #expect(unknown([0x1B, 0x24], "iso-2022-cn") == ["iso-2022-cn"])
    #expect(unknown(Array("plain".utf8), "no-such").isEmpty)
    #expect(unknown([0xFC], "no-such", isForPeople: false).isEmpty)
    for name in ["utf-8", "koi8-r", "us-ascii", "unknown-8bit", "\"\""] {
      #expect(unknown([0xFC], name).isEmpty)
    }
  }

  @Test(
    "HTML without a charset is in that which it names itself",
    arguments: [
      "<meta charset=windows-1251>", "<META CHARSET='windows-1251' />", "<meta charset=\"cp1251\">",
      "<meta http-equiv=Content-Type content=\"text/html; charset=windows-1251\">",
      "<meta content='text/html;charset = \"windows-1251\"' http-equiv='content-type'>",
      "<!-- <meta charset=koi8-r> --><meta name=x content=y><meta\ncharset=windows-1251>",
      "<?xml version=\"1.0\" encoding=\"windows-1251\"?>",
      "<meta charset=no-such><meta charset=windows-1251>",
    ])
  func declaredCharset(_ declaration: String) {
    let russian: [UInt8] = [0xEF, 0xF0, 0xE8, 0xE2, 0xE5, 0xF2]
    let html = Array("\(declaration)<p>".utf8) + russian
    for head in ["Content-Type: text/html", "Content-Type: text/html; charset=us-ascii"] {
      #expect(texts(Array("\(head)\n\n".utf8) + html).first?.hasSuffix("привет") == true)
    }
    // What the mail says counts, and UTF-8 is told from its bytes.
    #expect(text(html, "koi8-r", type: "text/html")?.hasSuffix("ОПХБЕР") == true)
    let changed = Array("Content-Type: text/html\n\n\(declaration)<p>привет".utf8)
    #expect(texts(changed).first?.hasSuffix("привет") == true)
  }

  @Test("HTML names no charset in comments, other elements, text, or too late; UTF-16 is not one")
  func noDeclaredCharset() {
    for html in [
      "<!-- <meta charset=koi8-r> ", "<metadata charset=koi8-r>", "<p title=\"charset=koi8-r\">",
      "<meta charset=>",
      "<meta name=x content=\"text/html; charset=koi8-r\">", "<meta charset=utf-16le>", "<meta",
      "<meta charset",
      String(repeating: " <i>", count: 2_000) + "<meta charset=koi8-r>",
    ] {
      let mail = Array("Content-Type: text/html\n\n\(html)<p>".utf8) + [0xFC]
      #expect(texts(mail).first?.contains("Ч") == false, "\(html)")
    }
  }

  @Test("a byte order mark decides the charset, and is not text")
  func byteOrderMarks() {
    #expect(text([0xEF, 0xBB, 0xBF, 0xC3, 0xBC], "iso-8859-1") == "ü")
    #expect(text([0xFF, 0xFE, 0xFC, 0], "utf-16") == "ü")
    #expect(texts(Array("Content-Type: text/html\n\n".utf8) + [0xFE, 0xFF, 0, 0xFC]) == ["ü"])
    #expect(texts(Array("\n".utf8) + [0xEF, 0xBB, 0xBF]) == [""])
  }

  @Test("multiparts are walked, attachments passed over, mails inside read")
  func multipart() {
    let mail = """
      Content-Type: multipart/mixed; x=y; boundary="b 1"

      preamble
      --b 1
      Content-Type: multipart/alternative; boundary=b2

      --b2

      plain
      --b2 \t
      Content-Type: text/html

      <p>h<b>t</b>ml</p>
      --b2--
      epilogue
      --b 1
      Content-Type: application/pdf
      Content-Transfer-Encoding: base64

      R3LDvMOfZQ==
      --b 1
      Content-Type: message/rfc822

      Subject: inner
      Content-Type: text/plain

      inside
      --b 1--
      after
      """
    #expect(texts(mail) == ["plain", "\nhtml\n", "inside"])
    #expect(texts(mail.replacingOccurrences(of: "\n", with: "\r\n")) == ["plain", "\nhtml\n", "inside"])
  }

  @Test("multiparts that do not end, or never begin, are read as far as they go")
  func broken() {
    #expect(texts("Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx") == ["x"])
    #expect(texts("Content-Type: multipart/mixed; boundary=b\n\nnothing") == [])
    #expect(texts("Content-Type: multipart/mixed\n\ntext") == [])
    #expect(texts("Content-Type: nonsense\n\ntext") == ["text"])
    #expect(texts("Content-Type: multipart/mixed; boundary=b\n\n--b\n--b\n--b--").joined().isEmpty)
    #expect(texts("no headers at all") == [""])
    #expect(texts("") == [""])
    #expect(texts("Subject: only", .subject) == ["only"])
  }

  @Test("depth and number of parts are bounded")
  func bounds() {
    var deep = "text"
    for level in 0..<200 {
      deep = "Content-Type: multipart/mixed; boundary=b\(level)x\n\n--b\(level)x\n\(deep)\n--b\(level)x--\n"
    }
    #expect(texts(deep).isEmpty)
    let many =
      "Content-Type: multipart/mixed; boundary=b\n\n" + String(repeating: "--b\n\nx\n", count: 100_000)
    #expect(texts(many).count < 1_001)
    let matryoshka = String(repeating: "Content-Type: message/rfc822\n\n", count: 10_000) + "\nx"
    #expect(texts(matryoshka).isEmpty)
    let same = String(repeating: "Content-Type: multipart/mixed; boundary=b\n\n--b\n", count: 5_000)
    #expect(texts(same).count <= 1_001)
  }

  @Test(
    "HTML is reduced to its words",
    arguments: [
      ("a<b>b</b>c", "abc"), ("<script>x<p></script>y", "\n\ny"), ("<style>p{}</style >z", "\n\nz"),
      ("a<!-- b -->c", "ac"),
      ("a<!-- b", "a"), ("1 < 2 &amp;&lt;&#65;&#x42;&uuml;&nbsp;", "1 < 2 &<AB\u{FC}\u{A0}"),
      ("&bogus; & &#; &#xFFFFFFF;", "&bogus; & &#; \u{FFFD}"),
      ("a<br/>b", "a\nb"), ("<a <a <a", "<a <a <a"), ("&", "&"), ("<", "<"), ("&#55296;", "\u{FFFD}"),
      ("<script>never", "\n"),
    ])
  func html(_ html: String, _ text: String) {
    let result = texts("Content-Type: text/html; charset=utf-8\n\n" + html).first ?? ""
    if !html.contains("FFFFFFF") { #expect(result == text) }
  }

  @Test(
    "for people, HTML has the addresses of its links and no runs of empty lines",
    arguments: [
      ("<style>p{}</style>\n\n<script>x</script>\n <p>a</p>\n\n\n\t<p>b</p>\n", "a\n\nb"),
      ("<p>a&nbsp;</p><p>&nbsp;</p><p> &nbsp; </p>b", "a\u{A0}\n\nb"),
      (
        "<a href=\"https://example.org/?a=1&amp;b\">click</a> here", "click <https://example.org/?a=1&b> here"
      ),
      ("a<br>b\r\n", "a\nb"), ("\n\n", ""), ("", ""), ("x", "x"),
    ])
  func htmlForPeople(_ html: String, _ text: String) {
    for charset in ["utf-8", "windows-1251"] {
      var reader = MIMEReader(isForPeople: true)
      var read = ""
      reader.readText(Array(html.utf8).span.bytes, contentType: "text/html; charset=\(charset)") {
        read = $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      }
      #expect(read == text)
    }
  }

  @Test(
    "for people, the first alternative with text is enough; a search reads all",
    arguments: [("plain\n", ["plain", "after"]), (" \n\n", ["html", "after"])])
  func alternatives(_ plain: String, _ texts: [String]) {
    let mail = """
      Content-Type: multipart/mixed; boundary=m

      --m
      Content-Type: multipart/alternative; boundary=a

      --a

      \(plain)
      --a
      Content-Type: text/html

      <p>html</p>
      --a
      Content-Type: text/html

      <p>more</p>
      --a--
      --m

      after
      --m--
      """
    func read(isForPeople: Bool) -> [String] {
      var reader = MIMEReader(isForPeople: isForPeople)
      var texts: [String] = []
      reader.read(Array(mail.utf8).span.bytes) { item, text in
        if item == .text { texts.append(text.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }) }
        return true
      }
      return texts.map { String($0.filter { !$0.isWhitespace }) }.filter { !$0.isEmpty }
    }
    #expect(read(isForPeople: true) == texts)
    #expect(read(isForPeople: false).suffix(3) == ["html", "more", "after"])
  }

  @Test("ten thousand mails of noise do no harm")
  func noise() {
    let pieces = [
      "Content-Type: multipart/mixed; boundary=b\n", "Content-Type: text/html; charset=iso-2022-jp\n", "\n",
      "\r\n", "--b\n", "--b--",
      "Content-Transfer-Encoding: base64\n", "Content-Transfer-Encoding: quoted-printable\n", "=?utf-8?B?",
      "?=", "=?x?Q?=", "=\n", "=4",
      "Subject: ", "From ", "\n\nFrom x\n", ">From ", "<b", "&#x", "&am;", "<!--", "<script>",
      "{\"content\":\"", "\\ud83d", "\"}", "\u{301}", "é", "X-Coffer-Export: 1; content=base64\n",
      "charset=utf-7;", "message/rfc822", "Date: ", "1 Jan ", ":", ";",
      "Content-Type: text/plain; charset=\"gb18030\"\n", "+AGE-",
    ].map { Array($0.utf8) }
    let scratch = Scratch()
    var query = query(["e\u{301}x", "word"])
    var batch: [UInt8] = []
    for seed in Shares("mails of noise", count: 8).of(0..<10_000) {
      var random = SeededGenerator(run: UInt64(seed))
      var mail: [UInt8] = []
      for _ in 0..<Int.random(in: 0...24, using: &random) {
        if Bool.random(using: &random) {
          mail += pieces.randomElement(using: &random)!
        } else {
          for _ in 0..<Int.random(in: 0...12, using: &random) {
            mail.append(UInt8.random(in: 0...255, using: &random))
          }
        }
      }
      _ = texts(mail)
      _ = query.matches(MessageMetadata(contentType: "message/rfc822"), mail.span.bytes)
      _ = query.matches(MessageMetadata(contentType: "text/html; charset=koi8-r"), mail.span.bytes)
      _ = RFC3339.parse(mail.span.bytes)
      batch += mail
      if seed % 10 == 9 {
        _ = try? Format.mbox.read(scratch.write("noise", Array("From x\n".utf8) + batch))
        _ = try? Format.jsonLines.read(scratch.write("noise", batch))
        batch = []
      }
    }
  }
}

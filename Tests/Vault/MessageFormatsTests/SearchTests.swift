// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageFormats
import Testing

@Suite("Search")
struct SearchTests {
  let note = MessageMetadata.noteType

  @Test(
    "words are found in any case and Unicode form",
    arguments: [
      ("grüße", "VIELE GRÜSSE"), ("GRÜSSE", "viele grüße"), ("strasse", "Hauptstraße"),
      ("straße", "HAUPTSTRASSE"),
      ("e\u{301}te\u{301}", "l'été"), ("été", "l'e\u{301}te\u{301}"), ("ÉTÉ", "e\u{301}te\u{301}"),
      ("привет", "ПРИВЕТ, мир"),
      ("Ёлка", "ёлка"), ("йод", "и\u{306}од"), ("й", "И\u{306}"), ("ﬁnden", "FINDEN"), ("ΣΟΦΟΣ", "σοφος"),
      ("日本", "日本語"),
      ("ｆｕｌｌ", "full"), ("wort", "wo\u{AD}rt"), ("åse", "A\u{30A}SE"), ("ǖ", "u\u{308}\u{304}"),
      ("한글", "\u{1112}\u{1161}\u{11AB}글"),
      ("Đ", "đ"), ("ß", "ss"), ("ss", "ß"), ("ẞ", "ß"), ("a", "xAy"), ("İ", "i\u{307}"), ("ü!", "Ü!"),
      ("x", String(repeating: "ü", count: 5000) + "x"), ("ж", String(repeating: "漢", count: 100_000) + "Ж"),
    ])
  func found(_ word: String, _ text: String) {
    #expect(matches([word], type: note, text))
    #expect(matches([word], title: text, type: "application/octet-stream", ""))
    #expect(matches([word], tags: ["x", text], type: "application/octet-stream", ""))
    #expect(matches(["word", word], type: note, "some Word: " + text))
    #expect(!matches(["wort1", word], type: note, text))
  }

  @Test(
    "accents, points and what stands between words do not count",
    arguments: [
      ("cafe", "Café"), ("café", "CAFE"), ("и", "Й"), ("elka", "ełka"), ("example.org", "ann@example org"),
      ("example, org", "ann@my-example.organisation"), ("dont", "Don’t"), ("don't", "DONT"),
      ("שלום", "שָׁלוֹם"), ("احمد", "أَحْمَد"), ("本", "日本語"), ("ไทย", "ภาษาไทย"), ("🎉", "a🎉b"), ("!a?", "xay"),
    ])
  func ignored(_ word: String, _ text: String) {
    #expect(matches([word], type: note, text))
  }

  @Test(
    "different words are not taken for each other",
    arguments: [
      ("か", "が"), ("हिन्द", "हनद"), ("a b", "ab"), ("ab", "a b"), ("b c", "ab xc"), ("≠", "="), ("日語", "日本語"),
      ("a b", "a\u{65E5}b"),
    ])
  func distinct(_ word: String, _ text: String) {
    #expect(!matches([word], type: note, text))
    #expect(!matches(["ab"], title: "a", tags: ["b"], type: note, "a\nb"))
    #expect(!matches(["a b"], title: "a", tags: ["b"], type: note, "b"))
  }

  @Test("an argument without a word finds nothing", arguments: ["", " ", "!?", "\u{301}", "'"])
  func wordless(_ word: String) {
    #expect(!matches([word, word], type: note, "x" + word))
    #expect(matches([word, "x"], type: note, "x"))
    #expect(!matches([word, "y"], type: note, "x"))
  }

  @Test("every word must occur, somewhere")
  func everyWord() {
    #expect(matches(["one", "two", "three"], title: "One", tags: ["TWO"], type: note, "three"))
    #expect(!matches(["one", "two", "four"], title: "One", tags: ["TWO"], type: note, "three"))
    #expect(!matches([], type: note, ""))
    let words = (0..<64).map { "w\($0)" }
    #expect(matches(words, type: note, words.joined(separator: " ")))
    #expect(!matches(words, type: note, words.dropLast().joined(separator: " ")))
  }

  @Test("mail is searched where people read it, and binaries not at all")
  func mail() {
    let mail = """
      From: =?utf-8?Q?J=C3=9CRGEN?= <j@example.org>
      To: anna@example.org
      Subject: =?iso-8859-1?Q?Gr=FC=DFe?=
      X-Secret: hiddenheader
      Content-Type: multipart/alternative; boundary=b

      --b
      Content-Type: text/html; charset=utf-8
      Content-Transfer-Encoding: quoted-printable

      <p class=3D"attribute">Wie<b>der</b>sehen &Uuml;bermorgen</p>
      --b
      Content-Type: application/octet-stream

      attachment
      --b--
      """
    for word in ["jürgen", "ANNA@example", "grüsse", "wiedersehen", "übermorgen"] {
      #expect(matches([word], type: "message/rfc822", mail))
      #expect(matches([word], type: "MESSAGE/RFC822; x=y", mail))
    }
    for word in ["hiddenheader", "attribute", "attachment", "uuml", "stream"] {
      #expect(!matches([word], type: "message/rfc822", mail))
    }
    // Of no type that is read, text is searched as it stands, headers, tags and all.
    #expect(matches(["hiddenheader"], type: "application/octet-stream", mail))
    #expect(matches(["attribute"], type: "message/rfc822x", mail))
    #expect(matches(["zürich"], type: "application/json", "{\"a\":\"Zürich\"}"))
    #expect(!matches(["anna"], type: "application/octet-stream", Array("anna".utf8) + [0]))
    #expect(!matches(["anna"], type: "application/json", Array("anna".utf8) + [0xFF]))
    #expect(matches(["ünd"], type: "text/html", "<i>&uuml;</i>nd"))
    #expect(matches(["ü"], type: "text/plain; charset=iso-8859-1", [0xFC]))
  }

  @Test("one query serves many messages, and forgets each")
  func reuse() {
    var query = query(["needle", "ü"])
    let metadata = MessageMetadata(contentType: note)
    for _ in 0..<3 {
      let both = query.matches(metadata, Array("a Needle Ü".utf8).span.bytes)
      let first = query.matches(metadata, Array("a needle".utf8).span.bytes)
      let second = query.matches(metadata, Array("ü".utf8).span.bytes)
      #expect(both && !first && !second)
    }
  }

  @Test("a word is found wherever the pieces of a long text are cut")
  func cuts() {
    var query = query(["nädel im heu"])
    let metadata = MessageMetadata(contentType: note)
    for offset in stride(from: (64 << 10) - 20, to: (64 << 10) + 4, by: 1) {
      for filler in ["a", "ж", "漢"] {
        let count = offset / filler.utf8.count
        let text =
          String(repeating: filler, count: count) + "Na\u{308}del im Heu"
          + String(repeating: filler, count: 70_000)
        let isFound = query.matches(metadata, Array(text.utf8).span.bytes)
        #expect(isFound)
      }
    }
    let isFound = query.matches(
      metadata, Array(String(repeating: "nädel im ", count: 30_000).utf8).span.bytes)
    #expect(!isFound)
  }

  @Test("marks stay with their characters where a long run is cut")
  func runs() {
    for count in 100..<200 {
      let text = String(repeating: "漢", count: count) + "か\u{3099}" + String(repeating: "漢", count: 300)
      #expect(matches(["漢が漢"], type: note, text))
    }
    #expect(matches(["x"], type: note, String(repeating: "\u{301}", count: 5_000) + "x"))
  }

  @Test("bytes that are not UTF-8 are read as windows-1252")
  func invalid() {
    #expect(matches(["grüße"], type: note, [0x47, 0x52, 0xDC, 0xDF, 0x45]))
    #expect(matches(["x"], type: note, [0xF0, 0x9F, 0x78]))
  }
}

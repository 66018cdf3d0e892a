// SPDX-License-Identifier: Apache-2.0

import MessageFormats
import Testing

@Suite("Snippets")
struct SnippetTests {
  /// With brackets around what matches.
  func snippet(
    _ arguments: [String], _ content: String, type: String = MessageMetadata.noteType, sideCount: Int = 20
  ) throws -> String? {
    var finder = SearchSnippetFinder(try SearchExpression(arguments), sideCount: sideCount)
    let metadata = MessageMetadata(title: "lease", tags: ["lease"], contentType: type)
    return finder.snippet(metadata, Array(content.utf8).span.bytes).map { snippet in
      snippet.pieces.map { $0.isMatch ? "[\($0.text)]" : $0.text }.joined()
    }
  }

  @Test(
    "what was found is marked as it is written, between some of what is around it",
    arguments: [
      (["cafe"], "In the Café, at noon", "In the [Café], at noon"),
      (["arden"], " The\tGarden\r\n\r\n  shed\n\n", "The G[arden] shed"),
      (["strasse"], "Hauptstraße 3", "Haupt[straße] 3"), (["ss"], "Straße", "Stra[ß]e"),
      (["dont"], "I don’t", "I [don’t]"), (["example.org"], "<ann@example.org>", "<ann@[example.org]>"),
      (["=ann"], "Anna and Ann", "Anna and [Ann]"),
      (["ann*", "d"], "Johann, Anna and", "Johann, [Ann]a an[d]"),
      (["本語"], "日本語", "日[本語]"), (["가"], "x\u{1100}\u{1161}y", "x[\u{1100}\u{1161}]y"),
      (["🎉"], "a👍🎉b", "a👍[🎉]b"), (["\"a b\""], "xa b a, b", "xa b [a, b]"),
      (["a"], "aaa", "[aaa]"), (["-x", "y", "date:..2030"], "y x", "[y] x"),
      (
        ["1234"], "one 234567 two three four five 1234 six seven eight nine ten eleven",
        "...two three four five [1234] six seven eight..."
      ),
      (
        ["z"], String(repeating: "漢", count: 30) + "z" + String(repeating: "é", count: 30),
        "..." + String(repeating: "漢", count: 20) + "[z]" + String(repeating: "é", count: 20) + "..."
      ),
      (["a", "b"], "a " + String(repeating: "- ", count: 40) + "b, a", "...- - - - - - - - - - [b], [a]"),
    ] as [([String], String, String)])
  func shown(_ arguments: [String], _ text: String, _ expected: String) throws {
    #expect(try snippet(arguments, text) == expected)
    #expect(try snippet(arguments, text, type: "application/x-text") == expected)
  }

  @Test("there is none where the text has nothing to show")
  func missing() throws {
    #expect(try snippet(["lease"], "") == nil)
    #expect(try snippet(["lease"], "x") == nil)
    #expect(try snippet(["tag:lease"], "lease") == nil)
    #expect(try snippet(["title:lease", "is:mail"], "lease") == nil)
    #expect(try snippet(["date:1970"], "lease") == nil)
    #expect(try snippet(["lease"], "lease\0", type: "application/x-text") == nil)
    #expect(try snippet(["from:lease"], "lease") == nil)
  }

  @Test("in a mail it comes from the text with most of what was looked for")
  func mail() throws {
    let mail = """
      From: Ann <ann@example.org>
      To: ben@example.net
      Subject: The lease
      Content-Type: multipart/mixed; boundary=b

      --b
      Content-Type: text/html

      <p>The <b>gar</b>den&nbsp;shed</p>
      --b
      Content-Type: text/plain

      The garden, the shed and the lease
      --b
      Content-Type: image/png; name="blue door.png"

      --b--
      """
    let type = MessageMetadata.mailType
    #expect(try snippet(["garden"], mail, type: type)?.hasPrefix("The [garden]") == true)
    #expect(
      try snippet(["garden", "lease", "ann"], mail, type: type, sideCount: 40)
        == "The [garden], the shed and the [lease]")
    #expect(try snippet(["from:ann"], mail, type: type) == "[Ann] <[ann]@example.org>")
    #expect(try snippet(["to:ben"], mail, type: type) == "[ben]@example.net")
    #expect(try snippet(["door"], mail, type: type) == "blue [door].png")
  }

  @Test("the best place is found in a long text, wherever that is")
  func long() throws {
    for count in [0, 1, 500, 2_000, 4_090, 5_000, 100_000] {
      for filler in ["ab ", "漢", "a\u{301}"] {
        let around = String(repeating: filler, count: count)
        let text = "needle \(around) The needle in a haystack \(around)"
        let found = try #require(try snippet(["needle", "haystack"], text))
        #expect(found.contains("The [needle] in a [haystack]"), "\(count) of \(filler): \(found)")
      }
    }
  }
}

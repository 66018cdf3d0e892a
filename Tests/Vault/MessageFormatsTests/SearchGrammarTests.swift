// SPDX-License-Identifier: Apache-2.0

import MessageFormats
import Testing

@Suite("Search grammar")
struct SearchGrammarTests {
  static let mail = """
    From: Ann Lee <ann@example.org>
    To: Ben <ben@example.net>
    Cc: =?utf-8?Q?Zo=C3=AB?= <zoe@example.com>
    Subject: The lease
    Date: 1 Mar 2024 23:59:59 +0000
    Content-Type: multipart/mixed; boundary=b

    --b
    Content-Type: text/plain; charset=utf-8

    The garden shed, Ann's gardenhouse and a café in 東京都 2024年.
    --b
    Content-Type: application/pdf
    Content-Disposition: attachment; filename="Floor plan.pdf"
    Content-Transfer-Encoding: base64

    JVBERi0=
    --b--
    """

  func finds(_ arguments: [String], isAny: Bool = false) -> Bool {
    let metadata = MessageMetadata(
      title: "Rented: the blue door", tags: ["Home", "To do", "東京"], contentType: MessageMetadata.mailType,
      date: 1_709_337_599)
    var query = query(arguments, isAny: isAny)
    return query.matches(metadata, Array(Self.mail.utf8).span.bytes)
  }

  @Test(
    "what a part finds",
    arguments: [
      "garden", "arden", "CAFE", "café", "Ann's", "ann@example", "nn@example.o", "garden shed", "arden she",
      "gard*", "garden*", "shed*", "=garden", "=Gardenhouse", "=zoë", "\"garden shed\"",
      "\"the garden shed\"",
      "garden sh*", "=garden shed", "floor", "plan.pdf", "=東京", "東京*", "京", "\"東京都 2024 年\"", "京都 20", "24年",
      "from:ann", "from:nn", "from:=ann", "from:Ann*", "FROM:ann", "from: lee", "from:ann@example.org",
      "from:\"ann lee\"", "to:ben", "to:zoe", "to:=zoë", "title:blue", "title:\"blue door\"", "title:rent*",
      "tag:home", "tag:HOME", "tag:ho*", "tag:to do", "tag:to*", "tag:東京", "tag:東*", "to do",
      "date:2024", "date:2024-03", "date:2024-03-01", "date:2024-03..2024-05", "date:2024-03-01..2024-03-01",
      "date:..2024-03-01", "date:2024-03-01..", "after:2024-03-01", "before:2024-03-01", "after:2023",
      "before:2024", "has:attachment", "HAS:Attachment", "is:mail", "type:message/rfc822", "type:Message/*",
      "lease:", "rented: the", "//example", "::lease",
    ])
  func found(_ argument: String) {
    #expect(finds([argument]))
    #expect(finds([" " + argument + "\t", "lease"]))
    #expect(!finds([argument, "zeppelin"]))
    #expect(!finds(["lease", "-" + argument]))
    #expect(finds([argument, "lease"], isAny: true))
  }

  @Test(
    "what it does not find",
    arguments: [
      "arden*", "=gard", "=arden", "\"arden shed\"", "\"garden she\"", "shed garden", "garden gardenhouse",
      "arden shed*", "=garden she", "lee ben", "blue lease", "東都", "都2024年x", "=24年",
      "from:ben", "from:lease", "from:=an", "from:nn*", "to:ann", "title:lease", "title:garden", "title:=ren",
      "tag:hom", "tag:do", "tag:to", "tag:me*", "tag:garden", "tag:東",
      "date:2023", "date:2024-02", "date:2024-03-02", "date:2024-04..2024-05", "date:..2024-02-29",
      "after:2024-03-02", "after:2025", "before:2024-02-29", "before:2023", "type:message/rfc", "type:text/*",
      "type:application/pdf", "https://example.org", "10:30 lease", "\"to:ben", "=to:ben", "\"from:ann\"",
    ])
  func missed(_ argument: String) {
    #expect(!finds([argument]))
    #expect(!finds([argument, "lease"]))
    #expect(finds(["-" + argument, "lease"]))
  }

  @Test("--any makes words and fields alternatives, and nothing else")
  func alternatives() {
    #expect(finds(["zeppelin", "lease"], isAny: true))
    #expect(finds(["from:zoe", "to:zoe"], isAny: true))
    #expect(finds(["tag:x", "tag:home", "title:y"], isAny: true))
    #expect(!finds(["zeppelin", "airship", "from:ben"], isAny: true))
    #expect(!finds(["lease", "date:2023"], isAny: true))
    #expect(!finds(["zeppelin", "date:2024"], isAny: true))
    #expect(finds(["date:2024", "is:mail"], isAny: true))
    #expect(!finds(["lease", "zeppelin", "-shed"], isAny: true))
    #expect(finds(["lease", "zeppelin", "-barn"], isAny: true))
  }

  @Test("what is not a mail has no sender, and is an attachment if it is not text")
  func others() {
    for (type, isAttachment) in [
      ("text/markdown; charset=utf-8", false), ("image/png", true), ("application/json", true),
    ] {
      let metadata = MessageMetadata(title: "From: ann", contentType: type, date: 0)
      let bytes = Array("From: ann\nTo: ben\n\nlease".utf8)
      func finds(_ arguments: String...) -> Bool {
        var query = query(arguments)
        return query.matches(metadata, bytes.span.bytes)
      }
      #expect(finds("lease") && !finds("from:ann") && !finds("to:ben") && !finds("is:mail"))
      #expect(finds("has:attachment") == isAttachment)
      #expect(finds("lease", "-has:attachment") == !isAttachment)
      #expect(finds("type:text/markdown") == type.hasPrefix("text"))
      #expect(finds("type:image/*") == type.hasPrefix("image"))
      #expect(finds("date:1970-01-01") && !finds("before:1969"))
    }
  }

  @Test(
    "what is not a search says why",
    arguments: [
      ([], .empty), ([""], .empty), ([" ", "!?", "-", "-!", "\"\"", "=", "*"], .empty),
      (["-lease"], .onlyExcluded), (["-lease", "-date:2024", "!"], .onlyExcluded),
      (["form:ann"], .unknownField("form")), (["lease", "-Form:ann"], .unknownField("Form")),
      (["from:"], .noValue(field: "from")), (["tag: "], .noValue(field: "tag")),
      (["to:!?"], .noValue(field: "to")), (["TAG:*"], .noValue(field: "tag")),
      (["date:"], .noValue(field: "date")), (["has:tail"], .badValue(field: "has", "tail")),
      (["is:Note"], .badValue(field: "is", "Note")), (["type:text"], .badValue(field: "type", "text")),
      (["type:a/b/c"], .badValue(field: "type", "a/b/c")), (["type:/x"], .badValue(field: "type", "/x")),
      (["date:24"], .badDate("24")), (["date:2024-13"], .badDate("2024-13")),
      (["date:2024-00"], .badDate("2024-00")), (["date:2023-02-29"], .badDate("2023-02-29")),
      (["date:2024-3"], .badDate("2024-3")), (["date:2024-03-01-01"], .badDate("2024-03-01-01")),
      (["date:٢٠٢٤"], .badDate("٢٠٢٤")), (["date:.."], .badDate("..")),
      (["date:yesterday"], .badDate("yesterday")),
      (["date:2024..2023"], .reversedDates("2024..2023")),
      (["date:2022..2023..2024"], .badDate("2022..2023..2024")),
      (["after:2023..2024"], .badDate("2023..2024")), (["date:-2024"], .badDate("-2024")),
      ((0..<65).map { "w\($0)" }, .tooMany(limit: 64)),
    ] as [([String], SearchSyntaxError)])
  func refused(_ arguments: [String], _ error: SearchSyntaxError) {
    #expect(throws: error) { try SearchExpression(arguments) }
  }

  @Test("a phrase as tokens: pairs of dense characters, and each position")
  func tokens() throws {
    #expect(try tokens("Garden") == ["~garden~@0"])
    #expect(try tokens("garden*") == ["garden~@0"])
    #expect(try tokens("=garden") == ["garden@0"])
    #expect(try tokens("example.my.org") == ["~example@0", "my@1", "org~@2"])
    #expect(try tokens("\"garden shed\"") == ["garden@0", "shed@1"])
    #expect(try tokens("日") == ["日~@0"])
    #expect(try tokens("=\u{E48}\u{93F} \u{93F}ना\u{E48}日") == ["ना\u{E48}@0", "日~@1"])
    #expect(try tokens("=日本語") == ["日本@0", "本語~@1"])
    #expect(try tokens("日本 語 2024年") == ["日本@0", "本@1", "語@2", "2024@3", "年~@4"])
    #expect(try tokens("x ที่นี่*") == ["x@0", "ที่นี่~@1"])
    #expect(try tokens("go🎉🎉") == ["~go@0", "🎉@1", "🎉~@2"])
  }

  private func tokens(_ argument: String) throws -> [String] {
    guard case .phrase(let phrase, .anywhere) = try SearchExpression([argument]).parts[0].condition else {
      return []
    }
    return phrase.tokens.map { token in
      let isOpen = (
        start: token.extent == .ending || token.extent == .inside,
        end: token.extent == .beginning || token.extent == .inside
      )
      return "\(isOpen.start ? "~" : "")\(token.text)\(isOpen.end ? "~" : "")@\(token.position)"
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import SeededGenerators
import Testing

@testable import MessageFormats

@Suite("Conversations of mails")
struct MailLinksTests {
  private func links(_ headers: String) -> MailLinks {
    let mail = Array((headers.replacing("\n", with: "\r\n") + "\r\n\r\nMessage-ID: <body@x>\r\n").utf8)
    return MailLinks(mail.span.bytes)
  }

  @Test("The identifiers of a mail are read without brackets, folded or not, and only from its headers")
  func headers() {
    let all = links(
      """
      Subject: <no@id>
      MESSAGE-ID: (a comment) <c@x>
      References: <a@x>
       \t<b@x> <folded@
        x>
      In-Reply-To: <other@x>
      """)
    #expect(all.messageID == "c@x")
    #expect(all.references == ["a@x", "b@x", "folded@x"])
    let reply = links("In-Reply-To: Your message of Monday <a@x> and <b@x>\nReferences: none")
    #expect(reply == MailLinks(messageID: nil, references: ["a@x"]))
    #expect(links("Subject: x") == MailLinks(messageID: nil, references: []))
    #expect(links("Message-ID: <\nReferences: <> < > <a") == MailLinks(messageID: nil, references: []))
  }

  @Test("Of too many references the first and the last are kept")
  func limit() {
    let names = (0..<1_000).map { "<\($0)@x>" }.joined(separator: "\n ")
    let found = links("References: \(names)").references
    #expect(found.count == MailLinks.countLimit)
    #expect(found.first == "0@x" && found.last == "999@x" && found[1] == "901@x")
  }

  /// Takes mails again until none is new, as a vault is read.
  private func conversation(
    of start: Int, _ mails: [(id: Int, links: MailLinks, date: Int64)]
  ) -> [MailConversation<Int>.Row] {
    let first = mails.first { $0.id == start }!
    var conversation = MailConversation(start, first.links, date: first.date)
    var hasGrown = true
    while hasGrown {
      hasGrown = false
      for mail in mails where conversation.take(mail.id, mail.links, date: mail.date) { hasGrown = true }
    }
    return conversation.rows()
  }

  private func mail(
    _ id: Int, _ name: String?, _ references: [String] = [], date: Int64? = nil
  ) -> (id: Int, links: MailLinks, date: Int64) {
    (id, MailLinks(messageID: name, references: references), date ?? Int64(id))
  }

  @Test("Whichever mail is asked for, the conversation is the same tree, the oldest first")
  func tree() {
    let mails = [
      mail(9, "e", ["a", "d"]), mail(4, "d", ["a"]), mail(2, "b", ["a"]), mail(3, "c", ["a", "b"]),
      mail(1, "a"),
      mail(5, "alone"), mail(6, nil),
    ]
    for start in [1, 2, 3, 4, 9] {
      let rows = conversation(of: start, mails)
      #expect(rows.map(\.id) == [1, 2, 3, 4, 9])
      #expect(rows.map(\.depth) == [0, 1, 2, 1, 2])
      #expect(rows.map(\.parent) == [nil, 1, 2, 1, 4])
    }
    #expect(conversation(of: 5, mails).map(\.id) == [5])
    #expect(conversation(of: 6, mails).map(\.id) == [6])
  }

  @Test("Answers to a mail that is not here are together, and follow the nearest one that is")
  func missing() {
    let rows = conversation(
      of: 2, [mail(2, "b", ["gone"]), mail(3, "c", ["gone"]), mail(4, "d", ["gone", "b", "lost"])])
    #expect(rows.map(\.id) == [2, 4, 3])
    #expect(rows.map(\.depth) == [0, 1, 0])
  }

  @Test(
    "Mails that claim to answer each other, or themselves, are each shown once; a copy has no answers of its own"
  )
  func circles() {
    let rows = conversation(
      of: 1,
      [
        mail(1, "a", ["c"]), mail(2, "b", ["a"]), mail(3, "c", ["b"]), mail(4, "d", ["d"]),
        mail(5, "a", ["c"]),
      ])
    #expect(rows.map(\.id).sorted() == [1, 2, 3, 5])
    #expect(rows.filter { $0.parent == nil }.count >= 1)
    #expect(rows.first { $0.id == 2 }?.parent != 5)
    #expect(conversation(of: 4, [mail(4, "d", ["d"])]).map(\.depth) == [0])
  }

  @Test("The names of all mails lead to a whole conversation, whatever the order in which they came")
  func names() {
    var random = SeededGenerator(run: 31)
    let chain = (0..<300).map { mail($0, "m\($0)", $0 > 0 ? ["m\($0 - 1)"] : []) }
    let others = (300..<400).map { mail($0, "x\($0)", ["y\($0)"]) }
    for mails in [chain + others, (chain + others).reversed(), (chain + others).shuffled(using: &random)] {
      var names = MailNames<Int>()
      for mail in mails { names.insert(mail.id, mail.links) }
      #expect(names.count == 400)
      var conversation = MailConversation(299, MailLinks(messageID: "m299", references: ["m298"]), date: 299)
      var waiting = ["m299", "m298"]
      while let name = waiting.popLast() {
        for place in names.mails(naming: name) where !conversation.contains(place.id) {
          #expect(mails[place.position].id == place.id)
          let links = mails[place.position].links
          if conversation.take(place.id, links, date: Int64(place.id), position: place.position) {
            waiting += links.names
          }
        }
      }
      #expect(conversation.rows().map(\.id) == Array(0..<300))
      #expect(names.mails(naming: "nobody").isEmpty)
    }
  }

  @Test("A chain of the greatest length is taken without recursion, and no more than that")
  func large() {
    let count = MailConversation<Int>.countLimit + 5
    var conversation = MailConversation(0, MailLinks(messageID: "0", references: []), date: 0)
    for index in 1..<count {
      _ = conversation.take(
        index, MailLinks(messageID: "\(index)", references: ["\(index - 1)"]), date: Int64(index))
    }
    #expect(conversation.isFull)
    let rows = conversation.rows()
    #expect(rows.count == MailConversation<Int>.countLimit)
    #expect(rows.last?.depth == rows.count - 1)
  }
}

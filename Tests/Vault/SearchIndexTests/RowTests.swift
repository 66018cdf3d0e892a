// SPDX-License-Identifier: Apache-2.0

import MessageFormats
import Primitives
import SeededGenerators
import Testing

@testable import SearchIndex

@Suite("Rows of a segment")
struct RowTests {
  @Test("rows say what was stored, in both orders, over several groups")
  func rows() throws {
    var random = SeededGenerator(run: 21)
    let folder = try SegmentFolder()
    let messages = Corpus.messages(2_500, &random)
    let reader = try folder.open(folder.build(messages))
    for order in [SegmentReader.Order.oldestFirst, .newestFirst] {
      var expected = (order == .oldestFirst ? messages : messages.reversed())[...]
      try reader.forEachRow(order) { row in
        let message = try #require(expected.first)
        expected = expected.dropFirst()
        #expect(row.number == message.number && row.id == message.id && row.timestamp == message.timestamp)
        #expect(row.isUnreadable == (message.metadata == nil))
        #expect(!row.isCut || row.metadata != message.metadata)
        guard let metadata = message.metadata else { return true }
        #expect(row.contentByteCount == message.content.count && row.date == metadata.date)
        #expect(row.isMail == metadata.isMail && row.isText == metadata.isText)
        if !row.isCut { #expect(row.metadata == metadata) }
        return true
      }
      #expect(expected.isEmpty)
    }
    #expect(reader.unreadable.count == messages.count { $0.metadata == nil })
    for (index, message) in messages.enumerated() {
      let found = try #require(try reader.ordinal(of: message.number))
      #expect(found.ordinal == index && found.id == message.id)
    }
    let numbers = Set(messages.map(\.number))
    for number in -2...Int64(messages.last!.number + 3) where !numbers.contains(number) {
      #expect(try reader.ordinal(of: number) == nil)
    }
  }

  @Test("long titles, tags, types and senders are cut between characters, and the row says so")
  func cuts() throws {
    let folder = try SegmentFolder()
    let title = String(repeating: "é", count: 300)
    let tags = (0..<10).map { String(repeating: "t\($0)", count: 300) }
    let mail = "From: \(String(repeating: "漢", count: 100))\n\nx"
    let messages = [
      Message(
        number: 5, timestamp: 9, metadata: MessageMetadata(title: "a" + title, contentType: "text/plain"),
        content: []),
      Message(
        number: 6, timestamp: 9, metadata: MessageMetadata(tags: tags, contentType: "text/plain"), content: []
      ),
      Message(
        number: 7, timestamp: 9, metadata: MessageMetadata(contentType: MessageMetadata.mailType),
        content: Array(mail.utf8)),
      Message(
        number: 8, timestamp: 9,
        metadata: MessageMetadata(title: String(title.prefix(256)), contentType: "text/plain"),
        content: []),
    ]
    let reader = try folder.open(folder.build(messages))
    var rows: [String] = []
    try reader.forEachRow(.oldestFirst) { row in
      rows.append("\(row.title.count) \(row.tags.count) \(row.sender.count) \(row.isCut)")
      return true
    }
    #expect(rows == ["256 0 0 true", "0 6 0 true", "0 0 85 true", "256 0 0 false"])
  }

  @Test("a sender is the From header, decoded")
  func sender() throws {
    let folder = try SegmentFolder()
    let mail = "To: b@example.org\nFrom: =?utf-8?Q?J=C3=BCrgen?= <j@example.org>\nSubject: s\n\nx"
    let metadata = MessageMetadata(title: "s", contentType: MessageMetadata.mailType)
    let reader = try folder.open(
      folder.build([Message(number: 1, timestamp: 1, metadata: metadata, content: Array(mail.utf8))]))
    try reader.forEachRow(.oldestFirst) { row in
      #expect(row.sender == "Jürgen <j@example.org>")
      return true
    }
  }

  @Test("a reader that wants no more rows gets none")
  func ends() throws {
    var random = SeededGenerator(run: 22)
    let folder = try SegmentFolder()
    let reader = try folder.open(folder.build(Corpus.messages(1_500, &random)))
    var ordinals: [UInt32] = []
    try reader.forEachRow(.newestFirst, except: [1_499, 1_497]) { row in
      ordinals.append(row.ordinal)
      return ordinals.count < 3
    }
    #expect(ordinals == [1_498, 1_496, 1_495])
    ordinals = []
    try reader.forEachRow(of: [3, 1_024, 1_200], .oldestFirst) { row in
      ordinals.append(row.ordinal)
      return true
    }
    #expect(ordinals == [3, 1_024, 1_200])
  }
}

// SPDX-License-Identifier: Apache-2.0

import MessageFormats
import Primitives
import SeededGenerators
import Testing

@testable import SearchIndex

@Suite("Rows of a segment")
struct RowTests {
  @Test("rows say what was stored, over several groups")
  func rows() throws {
    var random = SeededGenerator(run: 21)
    let folder = try SegmentFolder()
    let messages = Corpus.messages(2_500, &random)
    let reader = try folder.open(folder.build(messages))
    var expected = messages[...]
    try reader.forEachRow { row in
      let message = try #require(expected.first)
      expected.removeFirst()
      #expect(row.number == message.number && row.id == message.id && row.timestamp == message.timestamp)
      #expect(row.isUnreadable == (message.metadata == nil))
      #expect(!row.isCut || row.metadata != message.metadata)
      guard let metadata = message.metadata else { return }
      #expect(row.contentByteCount == message.content.count && row.date == metadata.date)
      #expect(row.isMail == metadata.isMail && row.isText == metadata.isText)
      if !row.isCut { #expect(row.metadata == metadata) }
    }
    #expect(expected.isEmpty)
    #expect(reader.root.unreadable.count == messages.count { $0.metadata == nil })
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
    try reader.forEachRow { row in
      rows.append("\(row.title.count) \(row.tags.count) \(row.sender.count) \(row.isCut)")
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
    try reader.forEachRow { row in #expect(row.sender == "Jürgen <j@example.org>") }
  }

  @Test("rows come by groups, those that are asked for, with what the whole group spans")
  func groups() throws {
    var random = SeededGenerator(run: 22)
    let folder = try SegmentFolder()
    let messages = Corpus.messages(1_500, &random)
    let reader = try folder.open(folder.build(messages))
    let marked: [UInt32] = [1_499, 1_497]
    let found = try reader.ordinals(nil, except: marked) { _, _ in true }
    #expect(found == (0..<1_500).map { UInt32($0) }.filter { !marked.contains($0) })
    var ordinals: [UInt32] = []
    let groups = reader.groups(of: [3, 1_024, 1_200])
    for group in groups { try reader.forEachRow(of: group) { ordinals.append($0.ordinal) } }
    #expect(ordinals == [3, 1_024, 1_200])
    #expect(groups.count > 1)
    for group in groups {
      let dates = messages.filter { group.numbers.contains($0.number) }.compactMap { $0.metadata?.date }
      #expect(dates.min() == group.dates?.lowerBound && dates.max() == group.dates?.upperBound)
    }
    #expect(reader.groups(of: []).isEmpty)
  }
}

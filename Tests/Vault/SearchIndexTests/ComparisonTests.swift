// SPDX-License-Identifier: Apache-2.0
//
// The index against the search through messages, on random messages and random searches.

import Extents
import MessageFormats
import Primitives
import SeededGenerators
import Testing

@testable import SearchIndex

@Suite("Index and search through messages")
struct ComparisonTests {
  /// Compares many searches.
  /// - Returns: how many messages were found and how many not.
  @discardableResult
  private func compare(
    _ readers: [SegmentReader], _ messages: [Message], marked: Set<Int64> = [], searches: Int,
    _ random: inout SeededGenerator
  ) throws -> (found: Int, missed: Int) {
    var counts = (found: 0, missed: 0)
    let left = messages.filter { !marked.contains($0.number) }
    let marks = try readers.map { reader in
      try marked.compactMap { try reader.ordinal(of: $0)?.ordinal }.sorted()
    }
    for _ in 0..<searches {
      let arguments = Corpus.arguments(&random)
      let isAny = Bool.random(using: &random)
      guard let expression = try? SearchExpression(arguments, isAny: isAny) else { continue }
      let wanted = scanned(left, expression)
      var found: [Int64] = []
      for (reader, marked) in zip(readers, marks).reversed() {
        found += try indexed(reader, messages, expression, except: marked)
      }
      #expect(found == wanted, "\(arguments) \(isAny)")
      counts.found += wanted.count
      counts.missed += left.count - wanted.count
    }
    return counts
  }

  @Test(
    "a thousand random searches find the same messages in the same order",
    arguments: Shares("random searches", count: 3).of([1, 2, 3]))
  func random(seed: UInt64) throws {
    var random = SeededGenerator(run: seed)
    let folder = try SegmentFolder()
    let messages = Corpus.messages(150, &random)
    let reader = try folder.open(folder.build(messages))
    try reader.verify()
    let counts = try compare([reader], messages, searches: 400, &random)
    #expect(counts.found > 1_000 && counts.missed > 1_000, "\(counts)")
  }

  @Test(
    "after merges and purges searches find the same",
    arguments: Shares("merged segments", count: 2).of([4, 5]))
  func merges(seed: UInt64) throws {
    var random = SeededGenerator(run: seed)
    let folder = try SegmentFolder()
    let messages = Corpus.messages(240, &random)
    var readers: [SegmentReader] = []
    for start in stride(from: 0, to: messages.count, by: 60) {
      readers.append(try folder.open(folder.build(Array(messages[start..<start + 60]))))
    }
    try compare(readers, messages, searches: 60, &random)
    let marked = Set(messages.map(\.number).filter { _ in Int.random(in: 0..<5, using: &random) == 0 })
    try compare(readers, messages, marked: marked, searches: 60, &random)
    let marks = try readers.map { reader in
      try marked.compactMap { try reader.ordinal(of: $0)?.ordinal }.sorted()
    }
    let merged = try #require(try folder.merge(Array(zip(readers, marks)).map { (reader: $0, marked: $1) }))
    let reader = try folder.open(merged)
    try reader.verify()
    let left = messages.filter { !marked.contains($0.number) }
    #expect(reader.documentCount == left.count)
    try compare([reader], left, searches: 120, &random)
    // A merge is as large as what is built of the same messages at once.
    #expect(reader.description.blockCount == (try folder.build(left)).blockCount)
    let copy = try SegmentMerger.copy(
      reader, files: folder.files, keyVersion: 2, vaultKey: [UInt8](repeating: 7, count: 32).span.bytes)
    let copied = try SegmentReader(
      copy, files: folder.files, vaultKey: [UInt8](repeating: 7, count: 32).span.bytes)
    try copied.verify()
    try compare([copied], left, searches: 40, &random)
  }

  @Test("a message of very many words is asked itself, and keeps its row")
  func manyWords() throws {
    let folder = try SegmentFolder()
    let metadata = MessageMetadata(title: "long", contentType: "text/plain")
    let text = Array((String(repeating: "a b ", count: 300_000) + "needle").utf8)
    let messages = [
      Message(number: 1, timestamp: 1, metadata: metadata, content: text),
      Message(number: 2, timestamp: 2, metadata: metadata, content: Array("a b c".utf8)),
    ]
    let reader = try folder.open(folder.build(messages))
    try reader.verify()
    for argument in ["needle", "\"a b\"", "long", "-needle a"] {
      let expression = try SearchExpression(argument.split(separator: " ").map(String.init))
      #expect(try indexed(reader, messages, expression) == scanned(messages, expression), "\(argument)")
    }
    var asked: [Int64] = []
    _ = try reader.ordinals(try SearchExpression(["date:1970"])) { _, number in
      asked.append(number)
      return false
    }
    #expect(asked == [])
    _ = try reader.ordinals(try SearchExpression(["c"])) { _, number in
      asked.append(number)
      return false
    }
    #expect(asked == [1])
  }
}

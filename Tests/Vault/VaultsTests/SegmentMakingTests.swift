// SPDX-License-Identifier: Apache-2.0
//
// Segments of rows that are on the disk, two of which are made at once. A segment has six messages.

import MessageFormats
import Storage
import Testing

@testable import Vaults

@Suite("Segments that two threads make at once")
struct SegmentMakingTests {
  private let fixture: VaultFixture
  private let vault: Vault
  private let ids: [MessageID]

  /// Forty messages that are in no segment, some of which have left.
  init() throws {
    fixture = try VaultFixture()
    var limits = IndexLimits.small
    limits.tailCount = 1_000
    let vault = fixture.indexed(limits)
    let ids = try (1...40).map { try vault.add($0 % 3 == 0 ? "garden shed \($0)" : "garden \($0)") }
    for (index, id) in ids.enumerated() where index % 8 == 2 || 24..<27 ~= index { try vault.remove(id) }
    self.ids = ids
    self.vault = fixture.indexed()
  }

  /// Every file is named, no row is between two segments, and the index finds what opening every message finds.
  private func expectWhole() throws {
    let segments = try #require(try vault.currentRecord()).segments
    #expect(try fixture.segmentFiles().count == segments.count)
    var next: Int64 = 1
    for segment in segments {
      #expect(segment.description.numbers.lowerBound == next)
      next = segment.description.numbers.upperBound + 1
    }
    try vault.expectAsScanned()
  }

  @Test("All messages are in segments, each of as many as one has")
  func all() throws {
    var counts: [Int] = []
    #expect(
      try vault.flush { progress in
        counts.append(progress.done)
        return true
      })
    #expect(counts == [6, 12, 18, 24, 30, 33])
    #expect(try vault.currentRecord()?.segments.map(\.description.documentCount) == [6, 6, 6, 6, 6, 3])
    try expectWhole()
  }

  @Test("Stopped after any segment, the index has those before it, and goes on from there", arguments: 1...5)
  func stopped(count: Int) throws {
    var made = 0
    let isDone = try vault.flush { _ in
      made += 1
      return made < count
    }
    #expect(!isDone)
    #expect(try vault.currentRecord()?.segments.count == count)
    try expectWhole()
    #expect(try vault.flush { _ in true })
    #expect(try vault.currentRecord()?.indexed.count == 33)
    try expectWhole()
  }

  @Test("Messages that are too long for one segment are in two, before those of the other thread")
  func long() throws {
    for message in 0..<8 {
      let words = (0..<100_000).map { "word\(message)x\($0)" }.joined(separator: " ")
      _ = try vault.add(bytes(of: words), metadata: MessageMetadata(title: "long", contentType: "text/plain"))
    }
    #expect(try vault.flush { _ in true })
    let counts = try #require(try vault.currentRecord()).segments.map(\.description.documentCount)
    #expect(counts.dropLast().contains { $0 < 6 } && counts.reduce(0, +) == 41)
    try expectWhole()
  }
}

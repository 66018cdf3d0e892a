// SPDX-License-Identifier: Apache-2.0
//
// Imports in batches, and readers and writers at the same time.

import Foundation
import MessageFormats
import Storage
import Synchronization
import Testing

@testable import Vaults

@Suite("Import into a vault")
struct ImportTests {
  private let fixture: VaultFixture
  private let vault: Vault

  init() throws {
    fixture = try VaultFixture()
    vault = fixture.vault(batchOf: 3)
  }

  @Test("Every message of a source is stored, in batches that are durable one by one")
  func batches() throws {
    let texts = (1...10).map { "text \($0)" }
    var source = ListSource(texts: texts)
    var counts: [Int] = []
    let result = try vault.importMessages(from: &source) { (ids, progress) throws in
      #expect(try fixture.reopened().status().messageCount == progress.importedCount)
      for id in ids { _ = try vault.text(id) }
      counts.append(ids.count)
      return true
    }
    #expect(counts == [3, 3, 3, 1] && result.importedCount == 10 && result.skipped.isEmpty)
    #expect(result.source.bytesRead == 10)
    #expect(try vault.texts() == texts)
  }

  @Test("Tags are added to those of the message, and none twice")
  func tags() throws {
    var source = ListSource([
      (MessageMetadata(tags: ["b", "own"], contentType: "text/plain"), [1]),
      (MessageMetadata(contentType: "text/plain"), [2]),
    ])
    var tags: [[String]] = []
    try vault.importMessages(from: &source, tags: ["a", "b"]) { _, _ in true }
    _ = try vault.forEachMessage { _, metadata, _ in
      tags.append(metadata.tags)
      return true
    }
    #expect(tags == [["b", "own", "a"], ["a", "b"]])
  }

  @Test("Entries that cannot be taken are reported, and the others are")
  func skipped() throws {
    let good = MessageMetadata(contentType: "text/plain")
    let long = MessageMetadata(
      title: String(repeating: "t", count: MessageLimits.titleByteCount + 1), contentType: "text/plain")
    let full = MessageMetadata(
      tags: (0..<MessageLimits.tagCount).map { "\($0)" }, contentType: "text/plain")
    var source = ListSource([nil, (good, [1]), (long, [2]), nil, (full, [3]), (good, [4])])
    let result = try vault.importMessages(from: &source, tags: ["new"]) { _, _ in true }
    #expect(result.importedCount == 2)
    #expect(
      result.skipped == [
        .malformed(entry: 1, what: "a test"), .metadataOutOfBounds("title, tags, type or date"),
        .malformed(entry: 4, what: "a test"), .metadataOutOfBounds("title, tags, type or date"),
      ])
    try vault.checkRows()
  }

  @Test("An import that is stopped or fails keeps what was committed")
  func stopped() throws {
    var source = ListSource(texts: (1...10).map { "\($0)" })
    let result = try vault.importMessages(from: &source) { _, progress in progress.importedCount < 6 }
    #expect(result.importedCount == 6)
    struct Interruption: Error {}
    #expect(throws: Interruption.self) {
      try vault.importMessages(from: &source) { _, _ in throw Interruption() }
    }
    #expect(try vault.texts() == (1...9).map { "\($0)" })
    try vault.checkRows()
  }

  @Test("When the source fails, what it gave before is stored and told, and then the failure")
  func failingSource() throws {
    for failure in [MessageFormatError.cannotRead(errno: 5), .interrupted] {
      let count = try vault.status().messageCount
      var source = ListSource(texts: (1...5).map { "\($0)" })
      source.end = failure
      var told: [Int] = []
      #expect(throws: failure) {
        try vault.importMessages(from: &source) { ids, progress in
          told.append(ids.count)
          #expect(progress.importedCount == told.reduce(0, +))
          return true
        }
      }
      #expect(told == [3, 2])
      #expect(try vault.status().messageCount == count + 5)
    }
    try vault.checkRows()
  }

  @Test("An unreadable entry is reported, and those behind it are stored")
  func unreadableEntry() throws {
    var source = ListSource(texts: ["1", "2"])
    source.unreadable = "a/b"
    let result = try vault.importMessages(from: &source) { _, _ in true }
    #expect(result.importedCount == 2)
    #expect(result.skipped == [.entry(path: "a/b", .cannotRead(errno: 13))])
  }

  @Test("One thread reads while another imports, and each reading sees whole batches")
  func readWhileImporting() async throws {
    let home = try fixture.copyOfHome()
    let reader = Vault(
      file: try DatabaseFile.open(home: home.path), keychain: fixture.service, clock: fixture.time.clock)
    let writer = Vault(
      file: try DatabaseFile.open(home: home.path), keychain: fixture.service, clock: fixture.time.clock,
      batch: BatchLimits(messageCount: 3))
    let isDone = Atomic<Bool>(false)
    async let readings = Task.detached {
      var counts: [Int] = []
      repeat { counts.append(try reader.texts().count) } while !isDone.load(ordering: .acquiring)
      return counts
    }.value
    // The same vault in two threads at once, besides.
    async let sameVault = Task.detached {
      for _ in 0..<20 { _ = try writer.texts() }
    }.value
    var source = ListSource(texts: (0..<300).map { "\($0)" })
    try writer.importMessages(from: &source) { _, _ in true }
    isDone.store(true, ordering: .releasing)
    let counts = try await readings
    try await sameVault
    #expect(counts == counts.sorted() && counts.allSatisfy { $0 % 3 == 0 })
    #expect(try reader.texts().count == 300)
  }

  @Test("A second writer is told that the coffer is in use, and a reader is not disturbed")
  func secondWriter() throws {
    try vault.add("first")
    let other = Vault(
      file: try DatabaseFile.open(home: fixture.home.path), keychain: fixture.service,
      clock: fixture.time.clock)
    #expect(throws: StorageError.inUse) { try other.add("second") }
    #expect(try other.texts() == ["first"])
  }
}

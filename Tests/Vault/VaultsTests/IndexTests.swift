// SPDX-License-Identifier: Apache-2.0
//
// When the search index is written, what leaves it, and what is corruption with it as without it.

import Foundation
import MessageFormats
import Primitives
import SearchIndex
import Secrets
import Storage
import Testing

@testable import Vaults

@Suite("The search index of a vault")
struct IndexTests {
  private let fixture: VaultFixture
  private let vault: Vault

  init() throws {
    fixture = try VaultFixture()
    vault = fixture.indexed()
  }

  /// Adds messages and brings the index up to date.
  @discardableResult
  private func fill(_ count: Int) throws -> [MessageID] {
    let ids = try (1...count).map { try vault.add("garden \($0)", tags: $0 % 2 == 0 ? ["home"] : []) }
    try vault.updateIndex()
    return ids
  }

  private func record() throws -> SearchRecord { try #require(try vault.currentRecord()) }

  private func number(of id: MessageID) throws -> Int64 {
    try vault.read { transaction, _, _ in try #require(try MessageRow.number(of: id, transaction)) }
  }

  @Test("A short tail is not indexed, a longer one is, and an import in between")
  func flush() throws {
    try fill(3)
    #expect(try record().segments.isEmpty && fixture.segmentFiles().isEmpty)
    try fill(1)
    #expect(try record().segments.map(\.description.documentCount) == [4])
    #expect(try record().indexedThrough == 4 && fixture.segmentFiles().count == 1)
    var source = ListSource(texts: (1...9).map { "shed \($0)" })
    try vault.importMessages(from: &source) { _, _ in true }
    #expect(try record().indexed.count == 13 && record().segments.count == 1)
    try vault.expectAsScanned()
  }

  @Test("The bytes of the tail count as well")
  func tailBytes() throws {
    var limits = IndexLimits.small
    limits.tailByteCount = 2_000
    let vault = fixture.indexed(limits)
    try vault.add(String(repeating: "shed ", count: 100))
    try vault.updateIndex()
    #expect(try vault.currentRecord()?.segments.isEmpty == true)
    try vault.add(String(repeating: "shed ", count: 400))
    try vault.updateIndex()
    #expect(try vault.currentRecord()?.segments.count == 1)
  }

  @Test("A removed message is marked with its removal, and its words leave a small segment after it")
  func removal() throws {
    let ids = try fill(5)
    let former = try record().segments[0].description
    try vault.remove(ids[2])
    #expect(try record().segments[0].marks == [3] && record().indexed.count == 4)
    try vault.expectAsScanned()
    try vault.updateIndex()
    let segment = try record().segments[0]
    #expect(segment.marks.isEmpty && segment.description.documentCount == 4)
    #expect(segment.description.id != former.id && segment.description.numbers == former.numbers)
    #expect(try fixture.segmentFiles().count == 1)
    try vault.expectAsScanned()

    // What comes back is new.
    try vault.putBack(ids[2])
    #expect(try number(of: ids[2]) == 6 && record().segments[0].marks.isEmpty)
    try vault.expectAsScanned()
    for id in ids where id != ids[2] { try vault.remove(id) }
    try vault.updateIndex()
    #expect(try record().segments.isEmpty && fixture.segmentFiles().isEmpty)
    try vault.expectAsScanned()
  }

  @Test("A large segment is purged when many of its messages have left, or after a day")
  func largePurge() throws {
    var limits = IndexLimits.small
    limits.instantPurgeCount = 3
    let vault = fixture.indexed(limits)
    let ids = try (1...6).map { try vault.add("garden \($0)") }
    try vault.updateIndex()
    try vault.remove(ids[0])
    try vault.updateIndex()
    #expect(try record().segments[0].marks == [1])
    fixture.time.advance(86_399)
    try vault.updateIndex()
    #expect(try record().segments[0].marks == [1])
    fixture.time.advance(1)
    try vault.updateIndex()
    #expect(try record().segments[0].marks == [] && record().segments[0].description.documentCount == 5)
    try vault.remove(ids[1])
    try vault.remove(ids[2])
    try vault.updateIndex()
    #expect(try record().segments[0].description.documentCount == 3)
    try vault.expectAsScanned()
  }

  @Test("A new version is in the tail, the former one is marked, and lists name the message by its first")
  func edit() throws {
    let ids = try fill(5)
    let metadata = MessageMetadata(title: "shed", tags: ["home"], contentType: "text/plain")
    _ = try vault.edit(ids[1], from: nil, to: bytes(of: "ivy"), metadata: metadata)
    #expect(try record().segments[0].marks == [2])
    try vault.expectAsScanned()
    try vault.add("more")
    try vault.add("more")
    try vault.add("more")
    try vault.updateIndex()
    #expect(try record().indexedThrough == 9)
    let found = try vault.found(.init(try SearchExpression(["ivy"]))).found
    #expect(found.ids == [ids[1]])
    try vault.expectAsScanned()
    _ = try vault.restore(ids[1], number: 1)
    try vault.expectAsScanned()
  }

  @Test("A message that did not open when it was indexed is named each time, and found once it opens")
  func unreadable() throws {
    let ids = try (1...5).map { try vault.add("garden \($0)") }
    try fixture.tamper(
      "CREATE TABLE IF NOT EXISTS temp.kept AS SELECT number, sealed FROM messages",
      "UPDATE messages SET sealed = zeroblob(60) WHERE number = 2")
    try vault.updateIndex()
    let query = try SearchExpression(["garden"])
    for search in [Vault.Search(), .init(query)] {
      let found = try vault.found(search).found
      #expect(found.unreadable == [ids[1]] && found.ids.count == 4 && found.count == 4)
    }
    try vault.expectAsScanned()
  }

  @Test("A message that is damaged after it was indexed is listed and found; whoever opens it tells")
  func damagedLater() throws {
    let ids = try fill(5)
    try fixture.tamper("UPDATE messages SET sealed = zeroblob(60) WHERE number = 2")
    let search = Vault.Search(try SearchExpression(["garden"]))
    #expect(try vault.found(search).found.ids.contains(ids[1]))
    var scan = search
    scan.isScan = true
    #expect(try vault.found(scan).found.unreadable == [ids[1]])
    #expect(try vault.unreadableMessages { _, _ in } == [ids[1]])
    expectError("DATA_TAMPERED") { try vault.text(ids[1]) }
  }

  @Test(
    "A row that was taken away, renamed or made to be shown is corruption",
    arguments: [
      "DELETE FROM messages WHERE number = 2", "DELETE FROM messages WHERE number = 8",
      "UPDATE messages SET id = x'0199ac5f30007b3c8d4e5f60718293a4' WHERE number = 2",
      "UPDATE messages SET standing = 0, since = 0 WHERE number = 5",
      "UPDATE messages SET message = id, standing = 2, since = 1 WHERE number = 2",
      "UPDATE messages SET number = 100 WHERE number = 2",
    ])
  func rows(statement: String) throws {
    let ids = try fill(6)
    try vault.remove(ids[4])
    for _ in 1...3 { try vault.add("tail") }
    #expect(try record().indexed.count == 5)
    try fixture.tamper(statement)
    expectError("VAULT_CORRUPT") { try vault.found(.init()) }
    expectError("VAULT_CORRUPT") { try vault.found(.init(nil, .init(tag: "home"))) }
    // One row of the index is not looked for where nothing of it is shown.
    guard !statement.contains("number = 5") else { return }
    expectError("VAULT_CORRUPT") { try vault.found(.init(nil, .init(limit: 8))) }
    if !statement.contains("number = 8") {
      expectError("VAULT_CORRUPT") { try vault.found(.init(try SearchExpression(["garden"]))) }
    }
  }

  @Test("A rotation takes the index along, and retires the key that it had")
  func rotation() throws {
    try fill(5)
    try fill(5)
    _ = try vault.rotate { _ in true }
    #expect(try record().segments.allSatisfy { $0.description.keyVersion == 2 })
    #expect(try vault.status().keys.map { $0.retired != nil } == [true, false])
    #expect(try Set(fixture.file.searchFiles.names()) == Set(record().segments.map(\.description.id)))
    try vault.expectAsScanned()
    // One that cannot be read is made again.
    for path in try fixture.segmentFiles() { try Data(count: 100).write(to: URL(filePath: path)) }
    _ = try vault.rotate { _ in true }
    #expect(try record().segments.allSatisfy { $0.description.keyVersion == 3 })
    try vault.expectAsScanned()
    _ = try vault.rollBack { _ in true }
    #expect(try record().segments.allSatisfy { $0.description.keyVersion == 2 })
    try vault.expectAsScanned()
  }

  @Test(
    "A rotation that is stopped between two segments goes on, and both versions have their keys until then")
  func rotationStopped() throws {
    try fill(6)
    for _ in 1...10 { try vault.add("shed") }
    _ = try vault.flush { _ in true }
    var isStopped = 0
    while try vault.status().keys.contains(where: { $0.retired == nil && $0.version == 1 }) {
      var steps = 0
      _ =
        isStopped == 0
        ? try vault.rotate { _ in false }
        : try vault.resumeRotation { _ in
          steps += 1
          return steps < 2
        }
      isStopped += 1
      try vault.expectAsScanned()
      guard isStopped < 40 else { break }
    }
    #expect(isStopped > 2 && isStopped < 40)
    try vault.expectAsScanned()
  }

  @Test("What a crash has left is swept by the next writer, but not while it is not known what counts")
  func sweep() throws {
    try fill(5)
    let stray = fixture.home.path + "/search/" + String(repeating: "ab", count: 16)
    try Data([1]).write(to: URL(filePath: stray))
    // Written before the lock was taken.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: stray)
    try fixture.tamper("UPDATE vault SET sealed = zeroblob(100) WHERE part = 3")
    try vault.updateIndex()
    #expect(try fixture.segmentFiles().count == 2)
    #expect(try vault.rebuildIndex { _ in true })
    // What this writer has written itself may belong to another one that is at work.
    #expect(!FileManager.default.fileExists(atPath: stray))
    try vault.expectAsScanned()
  }

  @Test("Where segments cannot be written, messages are stored and found, and the update says why")
  func noFolder() throws {
    try Data().write(to: URL(filePath: fixture.home.path + "/search"))
    for number in 1...9 { try vault.add("garden \(number)") }
    #expect(throws: StorageError.placeTaken(.search)) { try vault.updateIndex() }
    try vault.expectAsScanned()
    var source = ListSource(texts: (1...9).map { "shed \($0)" })
    #expect(try vault.importMessages(from: &source) { _, _ in true }.importedCount == 9)
    try vault.expectAsScanned()
  }

  @Test("A reader beside a writer that takes every segment away finds the same")
  func besideWriter() throws {
    try fill(12)
    try vault.add("garden tail")
    let other = fixture.indexed()
    let query = try SearchExpression(["garden"])
    for search in [Vault.Search(), .init(query), .init(nil, .init(limit: 4))] {
      var scan = search
      scan.isScan = true
      let expected = try vault.found(scan).found
      var rounds = 0
      var ids: [MessageID] = []
      let findings = try vault.find(search) { _ in
        rounds += 1
        if rounds < 6 { _ = try other.rebuildIndex { _ in true } }
      } _: { id, _, _ in
        ids.append(id)
        return true
      }
      #expect(ids == expected.ids && findings.count == expected.count)
      try vault.add("garden tail")
    }
  }

  @Test("What leaves while a list is made is not in it, even if the vault changes at each try")
  func besideRemoval() throws {
    var rest = try fill(12)[...]
    try vault.add("garden tail")
    let other = fixture.indexed()
    var removed: Set<MessageID> = []
    var ids: Set<MessageID> = []
    _ = try vault.find(.init()) { _ in
      guard let id = rest.popFirst() else { return }
      try other.remove(id)
      removed.insert(id)
    } _: { id, _, _ in
      ids.insert(id)
      return true
    }
    #expect(removed.count >= 3 && ids.isDisjoint(with: removed) && ids.count == 13 - removed.count)
  }

  @Test("Titles, tags and types that are longer than a row has are shown whole, in every order")
  func cutRows() throws {
    for number in 1...9 {
      let title = String(repeating: "Lease ", count: number % 3 == 0 ? 90 : 1) + "\(9 - number)"
      let tags = number % 4 == 0 ? (1...20).map { String(repeating: "tag \($0) ", count: 40) } : []
      _ = try vault.add(
        bytes(of: "garden \(number)"),
        metadata: MessageMetadata(title: title, tags: tags + ["home"], contentType: "text/plain"))
    }
    try vault.updateIndex()
    #expect(try record().indexed.count == 9)
    try vault.expectAsScanned()
  }

  @Test("A row with a time that no message can have is indexed as one that does not open")
  func impossibleTime() throws {
    let ids = try (1...5).map { try vault.add("garden \($0)") }
    try fixture.tamper("UPDATE messages SET timestamp = -9223372036854775807 - 1 WHERE number = 3")
    try vault.updateIndex()
    #expect(try record().indexed.count == 5)
    #expect(try vault.found(.init()).found.unreadable == [ids[2]])
    try vault.expectAsScanned()
    #expect(try vault.rebuildIndex { _ in true })
    try vault.expectAsScanned()
  }

  @Test("A row that is not the vault's is corruption to lists and searches, and leaves the index as it is")
  func foreignRows() throws {
    try fill(9)
    for number in ["9223372036854775807", "9999999", "-5"] {
      try fixture.tamper(
        """
        INSERT INTO messages SELECT \(number), randomblob(16), message, standing, since, keyVersion, timestamp, sealed
        FROM messages WHERE number = 5
        """)
      let before = try record()
      expectError("VAULT_CORRUPT") { try fixture.indexed().found(.init()) }
      try? fixture.indexed().updateIndex()
      _ = try? fixture.indexed().rebuildIndex { _ in true }
      #expect(try record().indexedThrough <= before.indexedThrough + 1, "\(number)")
      try fixture.tamper("DELETE FROM messages WHERE number = \(number)")
      #expect(try fixture.indexed().rebuildIndex { _ in true })
      try fixture.indexed().expectAsScanned()
    }
  }

  @Test("While many messages come, segments are merged before they are too many")
  func manySegments() throws {
    var limits = IndexLimits.small
    limits.mergedFrom = 4
    let vault = fixture.indexed(limits)
    for number in 1...90 { try vault.add("garden \(number)") }
    _ = try vault.flush { _ in true }
    #expect(try record().indexed.count == 90 && record().segments.count <= 8)
    try vault.expectAsScanned()
  }

  @Test("The status tells segments, messages and what has left")
  func status() throws {
    #expect(try vault.indexStatus() == nil)
    var limits = IndexLimits.small
    limits.instantPurgeCount = 1
    limits.markShare = 1
    let vault = fixture.indexed(limits)
    let ids = try (1...5).map { try vault.add("garden \($0)") }
    try vault.updateIndex()
    try vault.remove(ids[0])
    try vault.add("tail")
    let size = try FileManager.default.attributesOfItem(atPath: fixture.segmentFiles()[0])[.size] as? Int
    let status = try #require(try vault.indexStatus(isDeep: true))
    #expect(status.segmentCount == 1 && status.indexedCount == 4 && status.messageCount == 5)
    #expect(status.markCount == 1 && status.byteCount == size && status.trouble == nil)
  }

  @Test("No word of a message is in a file as it is")
  func leak() throws {
    let secret = "unmistakeable"
    for number in 1...5 { try vault.add("\(secret) \(number)", tags: [secret]) }
    try vault.updateIndex()
    let names = try FileManager.default.subpathsOfDirectory(atPath: fixture.home.path)
    #expect(names.contains { $0.hasPrefix("search/") })
    for name in names {
      guard let data = FileManager.default.contents(atPath: fixture.home.path + "/" + name) else { continue }
      #expect(data.range(of: Data(secret.utf8)) == nil, "\(name)")
    }
  }
}

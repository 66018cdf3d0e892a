// SPDX-License-Identifier: Apache-2.0
//
// The trash: what is removed leaves every answer at once, and can be put back for 30 days.

import MessageFormats
import Primitives
import Secrets
import Testing

@testable import Vaults

@Suite("The trash of a vault")
struct TrashTests {
  private let fixture: VaultFixture
  private var vault: Vault { fixture.vault }

  init() throws { fixture = try VaultFixture() }

  @Test("A removed message is in no answer but the trash, and comes back as it was")
  func roundTrip() throws {
    let ids = try ["one", "two"].map { try vault.add($0, tags: ["t"]) }
    fixture.time.advance(5)
    try vault.remove(ids[0])
    #expect(try vault.texts() == ["two"] && vault.titles() == ["two"] && vault.texts(tag: "t") == ["two"])
    expectError("MESSAGE_IN_TRASH") { try vault.text(ids[0]) }
    expectError("MESSAGE_IN_TRASH") { try vault.remove(ids[0]) }
    expectError("MESSAGE_IN_TRASH") { try vault.history(ids[0]) }
    #expect(try vault.identifiers(endingWith: String(ids[0].description.suffix(12)), limit: 2) == [])
    let status = try vault.status()
    #expect(status.messageCount == 1 && status.trashCount == 1)
    let entry = try #require(try trash().first)
    #expect(entry == Entry(id: ids[0], title: "one", removed: TestClock.start + 5, byteCount: 3))
    try vault.checkRows()

    try vault.putBack(ids[0])
    #expect(try vault.text(ids[0]) == "one" && trash() == [])
    #expect(try vault.status().trashCount == 0 && vault.status().messageCount == 2)
    expectError("NOT_IN_TRASH") { try vault.putBack(ids[0]) }
    expectError("NOT_IN_TRASH") { try vault.putBack(MessageID()) }
    try vault.checkRows()
  }

  @Test("The versions of a message go with it and come back with it")
  func versions() throws {
    let id = try vault.add("one")
    let metadata = MessageMetadata(title: "two", contentType: "text/plain")
    _ = try vault.edit(id, from: nil, to: bytes(of: "two"), metadata: metadata)
    try vault.remove(id)
    #expect(try trash().map(\.title) == ["two"])
    try vault.putBack(id)
    #expect(try vault.history(id).versions.map(\.metadata.title) == ["one", "two"])
    try vault.remove(id)
    try vault.eraseRemoved([id])
    try vault.checkRows()
    #expect(try rowCount() == 0)
  }

  @Test("The last removed comes first")
  func order() throws {
    let ids = try ["one", "two", "three"].map { try vault.add($0) }
    for id in [ids[1], ids[2], ids[0]] {
      try vault.remove(id)
      fixture.time.advance(1)
    }
    #expect(try trash().map(\.title) == ["one", "three", "two"])
  }

  @Test("Erasing takes those that are named, or nothing when one is not in the trash")
  func erase() throws {
    let ids = try ["one", "two", "three"].map { try vault.add($0) }
    try vault.remove(ids[0])
    try vault.remove(ids[1])
    expectError("NOT_IN_TRASH") { try vault.eraseRemoved([ids[0], ids[2]]) }
    #expect(try trash().count == 2)
    try vault.eraseRemoved([ids[0]])
    #expect(try trash().map(\.title) == ["two"])
    expectError("NOT_IN_TRASH") { try vault.putBack(ids[0]) }
    expectError("MESSAGE_NOT_FOUND") { try vault.text(ids[0]) }
    try vault.checkRows()
  }

  @Test("A change after 30 days erases it, if an earlier one was so late too, and not a second earlier")
  func expiry() throws {
    let ids = try ["old", "later"].map { try vault.add($0) }
    try vault.remove(ids[0])
    fixture.time.advance(1)
    try vault.remove(ids[1])
    fixture.time.advance(Int64(Vault.trashDays) * 86_400 - 2)
    try vault.add("change")
    #expect(try trash().count == 2)
    fixture.time.advance(1)
    // Reading changes nothing.
    #expect(try trash().count == 2)
    try vault.add("change")
    #expect(try trash().count == 2)
    try vault.add("change")
    #expect(try trash().map(\.title) == ["later"])
    #expect(try rowCount() == 4)
    try vault.checkRows()
  }

  @Test("One change under a clock that is ahead erases nothing")
  func clockAhead() throws {
    let id = try vault.add("one")
    try vault.remove(id)
    fixture.time.advance(40 * 86_400)
    try vault.add("ahead")
    fixture.time.advance(-40 * 86_400)
    for _ in 0..<3 { try vault.add("change") }
    #expect(try trash().count == 1)
    try vault.putBack(id)
    #expect(try vault.text(id) == "one")
  }

  @Test("What is removed under a clock that is years behind stays in the trash for its days")
  func clockBehind() throws {
    let ids = try ["one", "two"].map { try vault.add($0) }
    fixture.time.advance(-3_650 * 86_400)
    try vault.remove(ids[0])
    fixture.time.advance(3_650 * 86_400)
    for _ in 0..<3 { try vault.add("change") }
    #expect(try trash().count == 1)
    fixture.time.advance(Int64(Vault.trashDays) * 86_400)
    for _ in 0..<2 { try vault.add("change") }
    #expect(try trash().isEmpty)
  }

  @Test("What is due is still put back, or erased, as long as the trash shows it")
  func due() throws {
    let ids = try ["one", "two", "three"].map { try vault.add($0) }
    for id in ids { try vault.remove(id) }
    fixture.time.advance(Int64(Vault.trashDays) * 86_400)
    try vault.putBack(ids[0])
    #expect(try trash().count == 2)
    try vault.eraseRemoved([ids[1]])
    #expect(try trash().map(\.title) == ["three"])
    #expect(try vault.text(ids[0]) == "one")
    try vault.checkRows()
  }

  @Test("A message in the trash that does not open is named, and can be erased")
  func damaged() throws {
    let id = try vault.add("one")
    try vault.remove(id)
    try fixture.tamper("UPDATE messages SET sealed = zeroblob(length(sealed))")
    #expect(try vault.listTrash { _, _, _, _ in true } == [id])
    #expect(try vault.unreadableMessages { _, _ in } == [id])
    try vault.eraseRemoved([id])
    #expect(try rowCount() == 0)
  }

  @Test("A message that was taken out of the trash, or put into it, behind the vault's back makes it corrupt")
  func tampered() throws {
    let ids = try ["one", "two"].map { try vault.add($0) }
    try vault.remove(ids[0])
    for assignment in ["standing = 0, since = 0", "since = since - 86400", "standing = 1"] {
      let fixture = try VaultFixture()
      let id = try fixture.vault.add("one")
      try fixture.vault.remove(id)
      try fixture.tamper("UPDATE messages SET \(assignment)")
      expectError("VAULT_CORRUPT") { try fixture.vault.listTrash { _, _, _, _ in true } }
      expectError("VAULT_CORRUPT") { try fixture.vault.texts() }
    }
    try fixture.tamper("DELETE FROM messages WHERE standing = 2")
    expectError("VAULT_CORRUPT") { try vault.listTrash { _, _, _, _ in true } }
    expectError("VAULT_CORRUPT") { try vault.putBack(ids[0]) }
  }

  private struct Entry: Equatable {
    let id: MessageID
    let title: String
    let removed: Int64
    let byteCount: Int
  }

  private func trash() throws -> [Entry] {
    var entries: [Entry] = []
    let unreadable = try vault.listTrash { id, metadata, removed, byteCount in
      entries.append(Entry(id: id, title: metadata.title, removed: removed, byteCount: byteCount))
      return true
    }
    #expect(unreadable.isEmpty)
    return entries
  }

  private func rowCount() throws -> Int64? {
    try fixture.file.read { try $0.firstRow("SELECT count(*) FROM messages") { try $0.integer(0) } }
  }
}

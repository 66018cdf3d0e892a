// SPDX-License-Identifier: Apache-2.0
//
// Rows changed through a connection of their own: every change is noticed as what it is. "No such
// message" is never the answer to damage.

import Foundation
import MessageFormats
import Primitives
import Secrets
import Storage
import Testing

@testable import Vaults

@Suite("A vault whose rows were changed behind its back")
struct TamperingTests {
  private let fixture: VaultFixture
  private let ids: [MessageID]

  init() throws {
    fixture = try VaultFixture()
    let vault = fixture.vault
    ids = try (1...5).map { try vault.add("text \($0)") }
  }

  @Test("A row that was deleted makes the vault corrupt, for its reader, a search and a count")
  func deleted() throws {
    try fixture.tamper("DELETE FROM messages WHERE id = \(sql(ids[2]))")
    try expectCorruptVault(missing: ids[2])
    expectError("VAULT_CORRUPT") { try fixture.vault.checkCount() }
    #expect(try fixture.vault.text(ids[1]) == "text 2")
  }

  @Test("A row copied under another identifier does not open, and the vault is corrupt")
  func copied() throws {
    let other = MessageID()
    try fixture.tamper(
      "INSERT INTO messages (id, keyVersion, timestamp, sealed) "
        + "SELECT \(sql(other)), keyVersion, timestamp, sealed FROM messages WHERE id = \(sql(ids[0]))")
    expectError("DATA_TAMPERED") { try fixture.vault.text(other) }
    expectError("VAULT_CORRUPT") { try fixture.vault.texts() }
    expectError("VAULT_CORRUPT") { try fixture.vault.checkRows() }
    expectError("VAULT_CORRUPT") { try fixture.vault.checkCount() }
  }

  @Test("A row duplicated under a new number, past the index, makes the vault corrupt")
  func duplicated() throws {
    try withoutIndex(
      "INSERT INTO messages SELECT number + 100, id, message, standing, since, keyVersion, timestamp, sealed "
        + "FROM messages "
        + "WHERE id = \(sql(ids[0]))")
    expectError("VAULT_CORRUPT") { try fixture.vault.texts() }
    expectError("VAULT_CORRUPT") { try fixture.vault.checkRows() }
    expectError("VAULT_CORRUPT") { try fixture.vault.text(MessageID()) }
  }

  @Test("A row deleted past its index makes the vault corrupt")
  func deletedPastIndex() throws {
    try withoutIndex("DELETE FROM messages WHERE id = \(sql(ids[3]))")
    expectError("VAULT_CORRUPT") { try fixture.vault.texts() }
    expectError("VAULT_CORRUPT") { try fixture.vault.checkRows() }
    #expect(throws: (any Error).self) { try fixture.vault.text(ids[3]) }
  }

  @Test("An identifier that was changed makes the vault corrupt")
  func renamed() throws {
    let other = MessageID()
    try fixture.tamper("UPDATE messages SET id = \(sql(other)) WHERE id = \(sql(ids[1]))")
    try expectCorruptVault(missing: ids[1])
    expectError("DATA_TAMPERED") { try fixture.vault.text(other) }
  }

  @Test("An index whose entries lead elsewhere is corruption, not another message")
  func corruptIndex() throws {
    // The table exchanges two identifiers, and the index does not follow.
    try withoutIndex(
      "UPDATE messages SET id = CASE number WHEN 1 THEN \(sql(ids[1])) ELSE \(sql(ids[0])) END "
        + "WHERE number IN (1, 2)")
    for (id, text) in zip(ids, ["text 1", "text 2"]) {
      // SQLite may take the identifier from either; the box belongs to one of them only.
      #expect((try? fixture.vault.text(id)) ?? text == text)
      #expect(try unreadable().contains(id))
    }
  }

  @Test("An index that lacks an entry is corruption, also for the message that it lacks")
  func shortIndex() throws {
    let other = MessageID()
    try withoutIndex("UPDATE messages SET id = \(sql(other)) WHERE id = \(sql(ids[4]))")
    expectError("VAULT_CORRUPT") { try fixture.vault.text(other) }
    expectError("VAULT_CORRUPT") { try fixture.vault.texts() }
  }

  @Test(
    "A box, time or version that was changed means tampering",
    arguments: [
      "sealed = zeroblob(28)", "sealed = zeroblob(length(sealed))", "timestamp = timestamp + 1",
      "timestamp = 0", "keyVersion = 2",
      "keyVersion = 0", "keyVersion = -1", "keyVersion = 9223372036854775807",
      "sealed = (SELECT sealed FROM messages AS m WHERE m.number = 2)",
    ])
  func changed(assignment: String) throws {
    try fixture.tamper("UPDATE messages SET \(assignment) WHERE number = 1")
    expectError("DATA_TAMPERED") { try fixture.vault.text(ids[0]) }
    #expect(try unreadable() == [ids[0]])
    #expect(try fixture.vault.texts().count == 4)
    #expect(try fixture.vault.status().recentFailures == 1)
    try fixture.vault.checkRows()
  }

  @Test(
    "A box that is too short to be one is a failed decryption of that message, for every reader",
    arguments: [0, 27])
  func tooShort(byteCount: Int) throws {
    try fixture.tamper("UPDATE messages SET sealed = zeroblob(\(byteCount)) WHERE number = 1")
    expectError("DECRYPTION_FAILED") { try fixture.vault.text(ids[0]) }
    do {
      _ = try fixture.vault.text(ids[0])
    } catch VaultError.decryptionFailed(let id, let underlying) {
      #expect(id == ids[0] && underlying as? CryptoError == .decryptionFailed)
    }
    #expect(try unreadable() == [ids[0]])
    #expect(try fixture.vault.texts().count == 4)
    #expect(try fixture.vault.list { _, _ in true } == [ids[0]])
    #expect(try fixture.vault.status().recentFailures == 1)
    let report = try #require(try fixture.vault.rotate { _ in true })
    #expect(report.unreadable == [ids[0]] && report.readableCount == 4)
  }

  @Test("A time that no message can have is tampering with that message alone")
  func impossibleTime() throws {
    try fixture.tamper("UPDATE messages SET timestamp = 9223372036854775807 WHERE number = 1")
    expectError("DATA_TAMPERED") { try fixture.vault.text(ids[0]) }
    #expect(try unreadable() == [ids[0]])
    #expect(try fixture.vault.texts().count == 4)
  }

  @Test("Two rows that exchanged their boxes both say so")
  func exchanged() throws {
    try fixture.tamper(
      "CREATE TEMP TABLE t AS SELECT number, sealed FROM messages",
      "UPDATE messages SET sealed = (SELECT sealed FROM t WHERE t.number = 3 - messages.number) "
        + "WHERE number IN (1, 2)")
    #expect(try unreadable() == [ids[0], ids[1]])
  }

  @Test("An older state is corruption")
  func olderState() throws {
    try fixture.tamper("INSERT INTO vault SELECT 99, sealed FROM vault WHERE part = 1")
    let late = try fixture.vault.add("late")
    try fixture.tamper(
      "UPDATE vault SET sealed = (SELECT sealed FROM vault WHERE part = 99) WHERE part = 1")
    expectError("VAULT_CORRUPT") { try fixture.vault.texts() }
    expectError("VAULT_CORRUPT") { try fixture.vault.text(MessageID()) }
    #expect(try fixture.vault.text(late) == "late")
  }

  @Test("A vault without its state does not open", arguments: [1, 2])
  func partRemoved(part: Int) throws {
    try fixture.tamper("DELETE FROM vault WHERE part = \(part)")
    expectError("VAULT_CORRUPT") { try fixture.reopened() }
    expectError("VAULT_CORRUPT") { try fixture.vault.status() }
  }

  @Test("State and failure log do not open in each other's place")
  func partsExchanged() throws {
    try fixture.tamper(
      "UPDATE vault SET part = part + 10", "UPDATE vault SET part = 13 - part WHERE part > 10")
    expectError("VAULT_CORRUPT") { try fixture.reopened() }
  }

  @Test("A vault key that is missing is corruption, not an empty vault")
  func keyRemoved() throws {
    try fixture.service.delete(forKey: "vault.master_key.v1")
    fixture.vault.clearCache()
    expectError("VAULT_CORRUPT") { try fixture.vault.texts() }
    expectError("VAULT_CORRUPT") { try fixture.vault.add("more") }
  }

  // MARK: -

  /// Changes the table while the schema has no index for it.
  private func withoutIndex(_ statement: String) throws {
    try fixture.tamper(
      "CREATE TABLE IF NOT EXISTS temp.saved AS SELECT * FROM sqlite_schema "
        + "WHERE name = 'sqlite_autoindex_messages_1'",
      "PRAGMA writable_schema = ON",
      "UPDATE sqlite_schema SET sql = replace(sql, ' UNIQUE', '') WHERE name = 'messages'",
      "DELETE FROM sqlite_schema WHERE name = 'sqlite_autoindex_messages_1'",
      "PRAGMA writable_schema = RESET",
      statement,
      "PRAGMA writable_schema = ON",
      "UPDATE sqlite_schema SET sql = replace(sql, 'id BLOB NOT NULL', 'id BLOB NOT NULL UNIQUE') "
        + "WHERE name = 'messages'",
      "INSERT INTO sqlite_schema SELECT * FROM temp.saved")
  }

  private func unreadable() throws -> [MessageID] {
    try fixture.vault.forEachMessage { _, _, _ in true }
  }

  private func expectCorruptVault(missing id: MessageID) throws {
    expectError("VAULT_CORRUPT") { try fixture.vault.text(id) }
    expectError("VAULT_CORRUPT") { try fixture.vault.remove(id) }
    expectError("VAULT_CORRUPT") { try fixture.vault.text(MessageID()) }
    expectError("VAULT_CORRUPT") { try fixture.vault.texts() }
    expectError("VAULT_CORRUPT") { try fixture.vault.titles(.init(limit: 1)) }
    expectError("VAULT_CORRUPT") { try fixture.vault.forEachMessage { _, _, _ in false } }
    expectError("VAULT_CORRUPT") { try fixture.vault.checkRows() }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Versions of messages: an edit keeps what it replaces, and the message keeps its name.

import MessageFormats
import Primitives
import Secrets
import Testing

@testable import Vaults

@Suite("Versions of a message")
struct VersionTests {
  private let fixture: VaultFixture
  private var vault: Vault { fixture.vault }

  init() throws { fixture = try VaultFixture() }

  @Test("An edited message keeps its identifier and its place, and shows the new text alone")
  func edit() throws {
    let ids = try ["one", "two", "three"].map { try vault.add($0) }
    fixture.time.advance(60)
    let edit = try vault.edit(ids[1], "two and a half")
    #expect(edit == Vault.Edit(number: 2, isBeside: false))
    let reopened = try fixture.reopened()
    #expect(try reopened.text(ids[1]) == "two and a half")
    #expect(Set(try reopened.texts()) == ["one", "two and a half", "three"])
    var listed: [MessageID] = []
    _ = try reopened.list { id, _ in
      listed.append(id)
      return true
    }
    #expect(Set(listed) == Set(ids))
    #expect(try reopened.status().messageCount == 3)
    #expect(try reopened.identifiers(endingWith: String(ids[1].description.suffix(8)), limit: 3) == [ids[1]])
    try reopened.checkRows()
    #expect(try reopened.unreadableMessages { _, _ in } == [])
  }

  @Test("Every version can be read, with its number, its time and its metadata")
  func history() throws {
    let id = try vault.add("draft", tags: ["a"])
    for text in ["second", "third"] {
      fixture.time.advance(60)
      _ = try vault.edit(id, text)
    }
    let (versions, unreadableCount) = try vault.history(id)
    #expect(unreadableCount == 0)
    #expect(versions.map(\.number) == [1, 2, 3])
    #expect(versions.map(\.stored) == [0, 60, 120].map { TestClock.start + $0 })
    #expect(versions.map(\.metadata.title) == ["draft", "second", "third"])
    #expect(versions.map(\.isShown) == [false, false, true])
    #expect(versions[2].replaces(versions[1]) && !versions[2].replaces(versions[0]))
    for (number, text) in [(1, "draft"), (2, "second"), (3, "third")] {
      let found = try vault.withVersion(id, number: number) { version, content in
        #expect(version.number == number)
        return String(decoding: array(content), as: UTF8.self)
      }
      #expect(found == text)
    }
    for number in [0, 4] {
      expectError("VERSION_NOT_FOUND") { try vault.withVersion(id, number: number) { _, _ in } }
    }
    expectError("MESSAGE_NOT_FOUND") { try vault.history(MessageID()) }
  }

  @Test("A message that was never edited has one version")
  func unedited() throws {
    let id = try vault.add("alone")
    let versions = try vault.history(id).versions
    #expect(versions.map(\.number) == [1] && versions[0].isShown)
  }

  @Test("Restoring makes a version of its own, so that nothing is lost by it")
  func restore() throws {
    let id = try vault.add("right", tags: ["tag"])
    _ = try vault.edit(id, "wrong")
    #expect(try vault.restore(id, number: 1) == Vault.Edit(number: 3, isBeside: false))
    #expect(try vault.text(id) == "right")
    #expect(try vault.history(id).versions.map(\.metadata.tags) == [["tag"], [], ["tag"]])
    expectError("VERSION_NOT_FOUND") { try vault.restore(id, number: 9) }
  }

  @Test("An edit of a version that was replaced meanwhile keeps both, and says so")
  func beside() throws {
    let id = try vault.add("base")
    let base = try vault.withVersion(id) { version, _ in version.id }
    _ = try vault.edit(id, "theirs")
    let edit = try vault.edit(id, from: base, to: bytes(of: "ours"), metadata: metadata("ours"))
    #expect(edit == Vault.Edit(number: 3, isBeside: true))
    let versions = try vault.history(id).versions
    #expect(versions.map(\.metadata.title) == ["base", "theirs", "ours"])
    #expect(versions[2].replaces(versions[0]) && !versions[2].replaces(versions[1]))
    #expect(try vault.text(id) == "ours")
  }

  @Test("A rotation encrypts every version with the new key, and the old one is retired")
  func rotation() throws {
    let id = try vault.add("one")
    _ = try vault.edit(id, "two")
    let removed = try vault.add("gone")
    try vault.remove(removed)
    let report = try #require(try vault.rotate { _ in true })
    #expect(report.messageCount == 3 && report.unreadable.isEmpty)
    #expect(try vault.status().keys.first?.retired != nil)
    #expect(try vault.withVersion(id, number: 1) { _, content in content.byteCount } == 3)
    try vault.putBack(removed)
    #expect(try vault.text(removed) == "gone")
  }

  @Test("A version that does not open leaves the others, and an earlier one can be restored")
  func damaged() throws {
    let id = try vault.add("one")
    _ = try vault.edit(id, "two")
    try fixture.tamper("UPDATE messages SET sealed = zeroblob(length(sealed)) WHERE standing = 0")
    expectError("DATA_TAMPERED") { try vault.text(id) }
    let base = try vault.history(id)
    #expect(base.versions.map(\.number) == [1] && base.unreadableCount == 1)
    expectError("DATA_TAMPERED") { try vault.withVersion(id, number: 2) { _, _ in } }
    #expect(try vault.restore(id, number: 1).number == 3)
    #expect(try vault.text(id) == "one")
    #expect(try vault.history(id).unreadableCount == 1)
    #expect(try vault.unreadableMessages { _, _ in } == [id])
  }

  @Test("An edit beyond the limits leaves the message as it was")
  func refused() throws {
    let id = try vault.add("kept")
    let large = SecretBytes(zeroed: MessageLimits.messageByteCount + 1)
    expectError("MESSAGE_TOO_LARGE") { try vault.edit(id, from: nil, to: large, metadata: metadata("x")) }
    let title = String(repeating: "t", count: MessageLimits.titleByteCount + 1)
    expectError("METADATA_OUT_OF_BOUNDS") {
      try vault.edit(id, from: nil, to: bytes(of: "x"), metadata: metadata(title))
    }
    #expect(try vault.text(id) == "kept" && vault.history(id).versions.count == 1)
    expectError("MESSAGE_NOT_FOUND") { try vault.edit(MessageID(), "x") }
  }

  @Test(
    "A mark that was changed behind the vault's back makes it corrupt",
    arguments: [
      // An earlier version is made the one that is shown.
      "standing = 1 - standing WHERE standing IN (0, 1) AND message <> x''",
      "standing = 2, since = 1 WHERE standing = 1", "since = since + 1 WHERE standing = 1",
      "standing = 9 WHERE standing = 1",
      "message = (SELECT id FROM messages WHERE message = x'') WHERE standing = 1",
      "message = x'' WHERE standing = 0 AND message <> x''",
      "message = id, since = 1 WHERE message = x''", "message = id, standing = 2 WHERE message = x''",
    ])
  func changedMark(assignment: String) throws {
    let id = try vault.add("one")
    _ = try vault.add("other")
    _ = try vault.edit(id, "two")
    try fixture.tamper("UPDATE messages SET \(assignment)")
    expectError("VAULT_CORRUPT") { try vault.texts() }
    expectError("VAULT_CORRUPT") { try vault.checkRows() }
    expectError("VAULT_CORRUPT") { try vault.history(id) }
  }

  @Test("A message without a mark that is hidden behind the vault's back makes it corrupt")
  func hidden() throws {
    let id = try vault.add("one")
    try fixture.tamper("UPDATE messages SET standing = 1")
    expectError("VAULT_CORRUPT") { try vault.texts() }
    expectError("VAULT_CORRUPT") { try vault.checkRows() }
    expectError("VAULT_CORRUPT") { try vault.text(id) }
  }

  @Test("A row that claims to be a version of another message does not open")
  func foreignVersion() throws {
    let (id, other) = (try vault.add("one"), try vault.add("other"))
    _ = try vault.edit(id, "two")
    _ = try vault.edit(other, "other two")
    try fixture.tamper(
      "CREATE TEMP TABLE t AS SELECT number, message FROM messages WHERE standing = 0",
      "UPDATE messages SET message = (SELECT message FROM t WHERE t.number <> messages.number) "
        + "WHERE standing = 0")
    expectError("DATA_TAMPERED") { try vault.text(id) }
    expectError("VAULT_CORRUPT") { try vault.checkRows() }
  }

  private func metadata(_ title: String) -> MessageMetadata {
    MessageMetadata(title: title, contentType: "text/plain")
  }
}

extension Vault {
  /// Replaces text and title, and takes the tags away.
  fileprivate func edit(_ id: MessageID, _ text: String) throws -> Edit {
    let base = try withVersion(id) { version, _ in version.id }
    return try edit(
      id, from: base, to: bytes(of: text), metadata: MessageMetadata(title: text, contentType: "text/plain"))
  }
}

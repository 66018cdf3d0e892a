// SPDX-License-Identifier: Apache-2.0
//
// Importing what is there already: left out if it is the same, stored if anything differs.

import MessageFormats
import Testing

@testable import Vaults

@Suite("Import of what is there already")
struct KnownMessagesTests {
  private let fixture: VaultFixture
  private let vault: Vault

  init() throws {
    fixture = try VaultFixture()
    vault = fixture.vault(batchOf: 3)
  }

  private func note(
    _ content: String, title: String = "a", type: String = "text/plain", date: Int64 = 1, tags: [String] = []
  ) -> ListSource.Entry {
    (MessageMetadata(title: title, tags: tags, contentType: type, date: date), Array(content.utf8))
  }

  private func mail(_ content: String, title: String = "a", date: Int64 = 1) -> ListSource.Entry {
    note(content, title: title, type: MessageMetadata.mailType, date: date)
  }

  /// How many were stored, and how many were there.
  private func imported(
    _ entries: [ListSource.Entry], tags: [String] = [], allowsDuplicates: Bool = false
  ) throws -> [Int] {
    var source = ListSource(entries)
    let progress = try vault.importMessages(
      from: &source, tags: tags, allowsDuplicates: allowsDuplicates
    ) { _, _ in true }
    return [progress.importedCount, progress.alreadyThereCount]
  }

  @Test("The same source twice is stored once, whatever the tags")
  func twice() throws {
    let entries = (1...10).map { note("text \($0)") } + [mail("From: a\n\nx")]
    #expect(try imported(entries) == [11, 0])
    #expect(try imported(entries, tags: ["new"]) == [0, 11])
    #expect(try imported(entries, allowsDuplicates: true) == [11, 0])
    try vault.checkRows()
  }

  @Test("Equal entries of one source are stored once, also in different batches")
  func within() throws {
    #expect(try imported([note("x"), note("x"), note("y"), note("z"), note("x")]) == [3, 2])
    #expect(try vault.texts() == ["x", "y", "z"])
  }

  @Test("A note that differs in content, title, type or date is stored")
  func differentNotes() throws {
    #expect(try imported([note("x", title: "ab")]) == [1, 0])
    let others = [
      note("y", title: "ab"), note("x", title: "a"), note("x", title: "ab", type: "text/csv"),
      note("x", title: "ab", date: 2), note("bx"), note(""), note("x", title: "b", type: "text/plaina"),
    ]
    #expect(try imported(others) == [others.count, 0])
    #expect(try imported([note("x", title: "ab", tags: ["t"])]) == [0, 1])
  }

  @Test("A mail is known by its bytes, one that differs in a byte is stored")
  func mails() throws {
    #expect(try imported([mail("Message-ID: <a@b>\n\nx")]) == [1, 0])
    #expect(try imported([mail("Message-ID: <a@b>\n\nx", title: "renamed", date: 2)]) == [0, 1])
    #expect(try imported([mail("Message-ID: <a@b>\n\ny"), mail("Message-ID: <a@c>\n\nx")]) == [2, 0])
    #expect(try imported([note("Message-ID: <a@b>\n\nx")]) == [1, 0])
  }

  @Test("What was edited since is not stored again, unless it lies in the trash")
  func edited() throws {
    #expect(try imported([note("x")]) == [1, 0])
    var ids: [MessageID] = []
    _ = try vault.forEachMessage { id, _, _ in
      ids.append(id)
      return true
    }
    _ = try vault.edit(ids[0], from: nil, to: bytes(of: "z"), metadata: try #require(note("z")).metadata)
    #expect(try imported([note("x"), note("z")]) == [0, 2])
    try vault.remove(ids[0])
    #expect(try imported([note("x"), note("z")]) == [2, 0])
  }

  @Test("What lies in the trash, and what does not open, is stored again")
  func gone() throws {
    #expect(try imported([note("x"), note("y")]) == [2, 0])
    var ids: [MessageID] = []
    _ = try vault.forEachMessage { id, _, _ in
      ids.append(id)
      return true
    }
    try vault.remove(ids[0])
    #expect(try imported([note("x"), note("y")]) == [1, 1])
    try fixture.tamper("UPDATE messages SET sealed = zeroblob(length(sealed)) WHERE id = \(sql(ids[1]))")
    #expect(try imported([note("x"), note("y")]) == [1, 1])
  }

  @Test("An import that was stopped goes on when it runs again, and the walk can be stopped too")
  func goesOn() throws {
    let entries = (1...10).map { note("text \($0)") }
    var source = ListSource(entries)
    try vault.importMessages(from: &source, allowsDuplicates: false) { ids, _ in ids.isEmpty }
    #expect(try vault.status().messageCount == 3)
    source = ListSource(entries)
    try vault.importMessages(from: &source, allowsDuplicates: false) { _, _ in false }
    #expect(try vault.status().messageCount == 3)
    #expect(try imported(entries) == [7, 3])
  }
}

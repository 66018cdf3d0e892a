// SPDX-License-Identifier: Apache-2.0
//
// How often a command reads the keychain and unseals the vault's rows, and that what it lends is lent after the
// transaction that read it.

import Foundation
import InMemoryKeychains
import Keychains
import MessageFormats
import Secrets
import Storage
import Synchronization
import Testing

@testable import Vaults

@Suite("An open vault is read once")
struct ReadingOnceTests {
  private let fixture: VaultFixture
  private let ids: [MessageID]

  init() throws {
    fixture = try VaultFixture()
    var ids: [MessageID] = []
    for number in 1...5 { ids.append(try fixture.vault.add("\(number)")) }
    self.ids = ids
  }

  /// What a command does with the vault that it has opened.
  enum Command: String, CaseIterable {
    case add, remove, show, list, search, export, status

    func run(_ vault: Vault, _ id: MessageID) throws {
      switch self {
      case .add: try vault.add("new")
      case .remove: try vault.remove(id)
      case .show: _ = try vault.text(id)
      case .list: #expect(try vault.titles(.init(limit: 3)).count == 3)
      case .search: _ = try vault.list(choosing: { $1.byteCount > 0 }) { _, _ in true }
      case .export: #expect(try vault.texts().count == 5)
      case .status: #expect(try vault.status().messageCount == 5)
      }
    }
  }

  @Test("The keychain is read once, and each row unsealed once", arguments: Command.allCases)
  func once(command: Command) throws {
    let keychain = CountingKeychain(fixture.keychain)
    let vault = try Vault.open(
      file: fixture.file, keychain: KeychainService(keychain: keychain, keys: fixture.keys),
      isAuthenticated: false, clock: fixture.time.clock)
    #expect(vault.lastStatus?.messageCount == 5)
    try command.run(vault, ids[0])
    #expect(keychain.readings.load(ordering: .relaxed) == 1)
    #expect(vault.stateRow.unsealCount == 1 && vault.failureRow.unsealCount == 1)
  }

  @Test("What another process has changed is unsealed again, and counts")
  func changedMeanwhile() throws {
    let vault = try fixture.reopened()
    try fixture.vault.add("6")
    #expect(try vault.texts().count == 6)
    #expect(vault.stateRow.unsealCount == 2 && vault.failureRow.unsealCount == 1)
    try vault.add("7")
    #expect(try vault.status().messageCount == 7)
    #expect(vault.stateRow.unsealCount == 2)
  }

  @Test("A key that another process has made is fetched, once")
  func rotatedMeanwhile() throws {
    let keychain = CountingKeychain(fixture.keychain)
    let vault = try Vault.open(
      file: fixture.file, keychain: KeychainService(keychain: keychain, keys: fixture.keys),
      isAuthenticated: false, clock: fixture.time.clock)
    _ = try fixture.vault.rotate { _ in true }
    #expect(try vault.text(ids[0]) == "1")
    try vault.add("6")
    #expect(keychain.readings.load(ordering: .relaxed) == 2)
  }

  @Test("What a transaction that failed has not stored is not believed")
  func undone() throws {
    struct Refused: Error {}
    let vault = try fixture.reopened()
    #expect(throws: Refused.self) {
      try vault.add(bytes(of: "x"), metadata: MessageMetadata(contentType: "text/plain")) { _ in
        throw Refused()
      }
    }
    #expect(try vault.status().messageCount == 5 && vault.texts().count == 5)
  }

  @Test("Who is lent a message may change the coffer, and empty its log")
  func outsideOfTransactions() throws {
    let vault = fixture.vault(batchOf: 2)
    try vault.withMessage(ids[0]) { _, _ in
      _ = try vault.add("6")
      #expect(try fixture.file.truncateLog())
    }
    var listed: [String] = []
    _ = try vault.list { _, metadata in
      try vault.add("late")
      listed.append(metadata.title)
      return true
    }
    #expect(listed == ["6", "5", "4", "3", "2", "1"])
  }

  @Test("A reading shows what was there when it began, and goes on under a new key")
  func readingMeanwhile() throws {
    let vault = fixture.vault(batchOf: 2)
    var texts: [String] = []
    _ = try vault.forEachMessage { id, _, content in
      texts.append(String(decoding: array(content), as: UTF8.self))
      if id == ids[0] {
        _ = try fixture.vault.rotate { _ in true }
        try fixture.vault.remove(ids[2])
        try fixture.vault.add("late")
      }
      return true
    }
    #expect(texts == ["1", "2", "4", "5"])
    #expect(try vault.texts() == ["1", "2", "4", "5", "late"])
  }

  @Test("A row that vanishes while others are read is corruption")
  func vanishes() throws {
    let vault = fixture.vault(batchOf: 2)
    expectError("VAULT_CORRUPT") {
      try vault.forEachMessage { id, _, _ in
        if id == ids[0] { try fixture.tamper("DELETE FROM messages WHERE number = 4") }
        return true
      }
    }
  }
}

/// Counts how often all items are read, for whatever purpose.
private final class CountingKeychain: Keychain {
  private let inner: InMemoryKeychain
  let readings = Atomic<Int>(0)

  init(_ inner: InMemoryKeychain) { self.inner = inner }

  func items() throws(KeychainError) -> [SealedItem] {
    readings.add(1, ordering: .relaxed)
    return try inner.items()
  }

  func update(
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError) {
    readings.add(1, ordering: .relaxed)
    try inner.update(body)
  }
}

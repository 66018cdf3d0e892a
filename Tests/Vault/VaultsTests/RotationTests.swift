// SPDX-License-Identifier: Apache-2.0
//
// A change of the vault key, stopped wherever it can be stopped: every message stays readable, and no
// key goes that a message needs.

import Foundation
import Keychains
import MessageFormats
import Secrets
import Storage
import Testing

@testable import Vaults

@Suite("Rotation of the vault key")
struct RotationTests {
  private let fixture: VaultFixture
  private let vault: Vault
  private let ids: [MessageID]
  private let expected = (1...10).map { "text \($0)" }

  init() throws {
    fixture = try VaultFixture()
    vault = fixture.vault(batchOf: 3)
    var ids: [MessageID] = []
    for text in expected { ids.append(try vault.add(text)) }
    self.ids = ids
  }

  @Test("Every message is readable before, after every batch, and after a rotation")
  func whole() throws {
    var steps: [Vault.RotationProgress] = []
    let report = try vault.rotate { (progress) throws in
      steps.append(progress)
      #expect(try vault.texts() == expected)
      #expect(try fixture.reopened().status().isRotating)
      return true
    }
    #expect(report == Vault.RotationReport(version: 2, messageCount: 10, unreadable: []))
    // Batches of 3, 3, 3 and 1 twice; the last of them ends the call.
    #expect(steps.prefix(4).allSatisfy { $0.phase == .resealing })
    #expect(steps.dropFirst(4).allSatisfy { $0.phase == .readingBack })
    #expect(steps.map(\.done) == [3, 6, 9, 0, 3, 6, 9])
    #expect(try vault.texts() == expected && versions() == [2])
    let status = try vault.status()
    #expect(!status.isRotating && status.currentKeyVersion == 2 && !status.isRotationDue)
    #expect(status.keys.map(\.retired) == [TestClock.start, nil])
  }

  @Test("A rotation that was stopped after any batch is resumed by rotate or resume", arguments: 1...7)
  func resumed(stopAfter: Int) throws {
    #expect(try stop(after: stopAfter) { try vault.rotate(progress: $0) } == nil)
    let later = try fixture.reopened()
    #expect(try later.texts() == expected && later.status().isRotating)
    let report = try stopAfter % 2 == 0 ? later.resumeRotation { _ in true } : later.rotate { _ in true }
    #expect(report?.version == 2 && report?.unreadable == [])
    #expect(try later.texts() == expected && versions() == [2])
    expectError("NO_ROTATION") { try later.resumeRotation { _ in true } }
  }

  @Test("What is added or removed while a rotation rests is part of it")
  func addedMeanwhile() throws {
    _ = try stop(after: 2) { try vault.rotate(progress: $0) }
    let added = try vault.add("added")
    try vault.remove(ids[9])
    try vault.remove(ids[0])
    #expect(try versions() == [1, 2])
    _ = try vault.resumeRotation { _ in true }
    #expect(try versions() == [2])
    #expect(try vault.text(added) == "added")
    #expect(try vault.texts() == Array(expected[1..<9]) + ["added"])
  }

  @Test("A rollback brings the former key back, after a rotation and within one", arguments: [0, 1, 3, 6])
  func rolledBack(stopAfter: Int) throws {
    if stopAfter == 0 {
      _ = try vault.rotate { _ in true }
    } else {
      _ = try stop(after: stopAfter) { try vault.rotate(progress: $0) }
    }
    #expect(try stop(after: 2) { try vault.rollBack(progress: $0) } == nil)
    #expect(try vault.texts() == expected)
    let report = try vault.resumeRotation { _ in true }
    #expect(report?.version == 1)
    #expect(try vault.texts() == expected && versions() == [1])
    #expect(try vault.status().keys.map(\.retired) == [nil, TestClock.start])
  }

  @Test("A rollback that is begun twice goes on, and does not turn round")
  func rollbackBegunTwice() throws {
    _ = try vault.rotate { _ in true }
    #expect(try stop(after: 2) { try vault.rollBack(progress: $0) } == nil)
    #expect(try vault.rollBack { _ in true }?.version == 1)
    #expect(try vault.texts() == expected && versions() == [1])
  }

  @Test("There is nothing to roll back to before the first rotation")
  func nothingToRollBack() { expectError("NOTHING_TO_ROLL_BACK") { try vault.rollBack { _ in true } } }

  @Test("A retired key is kept for 30 days, and then deleted from state and keychain")
  func retention() throws {
    _ = try vault.rotate { _ in true }
    fixture.time.advance(30 * 86_400 - 1)
    try vault.deleteExpiredKeys()
    #expect(try storedVersions() == [1, 2])
    fixture.time.advance(1)
    try vault.deleteExpiredKeys()
    #expect(try storedVersions() == [2])
    #expect(try vault.status().keys.map(\.version) == [2])
    #expect(try vault.texts() == expected)
    expectError("NOTHING_TO_ROLL_BACK") { try vault.rollBack { _ in true } }
  }

  @Test("A version is never given twice, also after its key was rolled back from and deleted")
  func versionsAreNew() throws {
    _ = try vault.rotate { _ in true }
    _ = try vault.rollBack { _ in true }
    fixture.time.advance(days: 30)
    try vault.deleteExpiredKeys()
    #expect(try storedVersions() == [1])
    #expect(try vault.rotate { _ in true }?.version == 3)
    #expect(try vault.texts() == expected)
  }

  @Test("A key that an interruption left in the keychain is deleted, and does not stop a rotation")
  func orphan() throws {
    try fixture.service.save(SecretBytes(zeroed: 32), forKey: "vault.master_key.v2")
    #expect(try vault.rotate { _ in true }?.version == 2)
    #expect(try vault.texts() == expected)
  }

  @Test("Two commands that rotate at once do not take each other's key")
  func twoAtOnce() throws {
    let fixture = fixture
    let home = try fixture.copyOfHome()
    func vault(_ file: DatabaseFile, _ keychain: any Keychain) -> Vault {
      Vault(
        file: file, keychain: KeychainService(keychain: keychain, keys: fixture.keys),
        clock: fixture.time.clock)
    }
    let first = vault(try DatabaseFile.open(home: home.path), fixture.keychain)
    let hook = HookedKeychain(fixture.keychain) {
      #expect(throws: StorageError.inUse) { try first.rotate { _ in true } }
    }
    let second = vault(try DatabaseFile.open(home: home.path), hook)
    #expect(try second.rotate { _ in true }?.version == 2)
    #expect(try first.texts() == expected && second.texts() == expected)
  }

  @Test("A message that does not open is reported and keeps its key")
  func unreadable() throws {
    try fixture.tamper("UPDATE messages SET sealed = zeroblob(length(sealed)) WHERE number = 5")
    let report = try vault.rotate { _ in true }
    #expect(report?.unreadable == [ids[4]])
    #expect(try versions() == [1, 2])
    #expect(try vault.status().keys.map(\.retired) == [nil, nil])
    fixture.time.advance(days: 60)
    try vault.deleteExpiredKeys()
    #expect(try storedVersions() == [1, 2])
    #expect(try vault.texts().count == 9)
  }

  @Test("What is damaged between sealing and reading back is found by reading back")
  func readBack() throws {
    var isDamaged = false
    let report = try vault.rotate { (progress) throws in
      if progress.phase == .readingBack, !isDamaged {
        isDamaged = true
        try fixture.tamper("UPDATE messages SET sealed = zeroblob(length(sealed)) WHERE number = 9")
      }
      return true
    }
    #expect(isDamaged && report?.unreadable == [ids[8]])
  }

  @Test("A stopped rotation has counted the failures it met")
  func stoppedCounts() throws {
    try fixture.tamper("UPDATE messages SET sealed = zeroblob(length(sealed)) WHERE number = 1")
    _ = try stop(after: 1) { try vault.rotate(progress: $0) }
    #expect(try vault.status().recentFailures == 1)
  }

  @Test("A row that vanishes within a rotation ends it as corrupt, and no key is retired")
  func vanished() throws {
    _ = try stop(after: 5) { try vault.rotate(progress: $0) }
    try fixture.tamper("DELETE FROM messages WHERE number = 2")
    expectError("VAULT_CORRUPT") { try vault.resumeRotation { _ in true } }
    #expect(try vault.status().keys.map(\.retired) == [nil, nil])
  }

  @Test("A rotation is due after 365 days, not after 364")
  func due() throws {
    fixture.time.advance(days: 364)
    #expect(try vault.status().isRotationDue == false)
    fixture.time.advance(days: 1)
    #expect(try vault.status().isRotationDue)
    _ = try vault.rotate { _ in true }
    #expect(try vault.status().isRotationDue == false)
  }

  // MARK: -

  private func stop(
    after count: Int,
    _ run: ((Vault.RotationProgress) throws -> Bool) throws -> Vault.RotationReport?
  ) throws -> Vault.RotationReport? {
    var done = 0
    return try run { _ in
      done += 1
      return done < count
    }
  }

  /// The versions that rows are sealed under.
  private func versions() throws -> [Int64] {
    try fixture.file.read { transaction in
      var versions: [Int64] = []
      try transaction.forEachRow("SELECT DISTINCT keyVersion FROM messages ORDER BY keyVersion") {
        versions.append(try $0.integer(0))
        return true
      }
      return versions
    }
  }

  private func storedVersions() throws -> [Int] { try vault.storedKeyVersions().sorted() }
}

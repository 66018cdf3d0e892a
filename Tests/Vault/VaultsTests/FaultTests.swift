// SPDX-License-Identifier: Apache-2.0
//
// Every call of SQLite that changes the disk is made to fail once, and to fail from then on. The
// operation that meets the failure succeeds or says so; afterwards the coffer opens, every message that
// was acknowledged reads back, and the count is right. A clean run before says how many calls there are.
//
// The VFS is the default one for the whole process while this suite runs, so one of its tests runs at a
// time; it counts only in the folder of the run, so other suites are not disturbed.

import Extents
import CFaultVFS
import Foundation
import Keychains
import MessageFormats
import Secrets
import Storage
import TemporaryHomes
import Testing

@testable import Vaults

@Suite("A disk that fails at any call", .serialized)
struct FaultTests {
  @Test("Making a coffer", arguments: Fault.all)
  func create(fault: Fault) throws {
    try everyPoint("create", fault) { folder in
      do {
        try folder.create()
      } catch {
        // No coffer, or a whole one: opening it may have failed after the name was there.
        if !DatabaseFile.exists(home: folder.home.path) {
          fault_vfs_disarm()
          try folder.create()
        }
        throw error
      }
    }
  }

  @Test("Adding a message", arguments: Fault.all)
  func add(fault: Fault) throws {
    try everyPoint("add", fault, before: { try $0.create(messages: 3) }) { folder in
      let (_, vault) = try folder.open()
      folder.mayAppear = ["new"]
      try vault.add("new")
      folder.acknowledge(["new"])
    }
  }

  @Test("Importing ten messages", arguments: Fault.all)
  func importing(fault: Fault) throws {
    try everyPoint("import", fault, before: { try $0.create(messages: 3) }) { folder in
      let (_, vault) = try folder.open()
      let texts = (0..<10).map { "imported \($0)" }
      folder.mayAppear = texts
      var source = ListSource(texts: texts)
      try vault.importMessages(from: &source) { (_, progress) throws in
        folder.acknowledge(Array(texts[..<progress.importedCount]))
        return true
      }
    }
  }

  @Test("Removing a message", arguments: Fault.all)
  func remove(fault: Fault) throws {
    try everyPoint("remove", fault, before: { try $0.create(messages: 3) }) { folder in
      let (_, vault) = try folder.open()
      folder.mayVanish = ["1"]
      var first: MessageID?
      _ = try vault.forEachMessage { id, _, _ in
        first = id
        return false
      }
      try vault.remove(try #require(first))
      folder.acknowledge(removed: "1")
    }
  }

  @Test("Rotating the vault key", arguments: Fault.all)
  func rotate(fault: Fault) throws {
    try everyPoint("rotate", fault, before: { try $0.create(messages: 7) }) { folder in
      let (_, vault) = try folder.open()
      _ = try vault.rotate { _ in true }
    } after: { (folder, vault) throws in
      #expect(try vault.rotate { _ in true }?.unreadable == [])
    }
  }

  @Test("Saving a keychain item", arguments: Fault.all)
  func keychain(fault: Fault) throws {
    try everyPoint("keychain save", fault, before: { try $0.create(messages: 1) }) { folder in
      let file = try DatabaseFile.open(home: folder.home.path)
      let service = KeychainService(keychain: FileKeychain(file), keys: folder.keys)
      try service.saveString("value", forKey: "test")
      folder.isItemSaved = true
    } after: { (folder, _) throws in
      let file = try DatabaseFile.open(home: folder.home.path)
      let service = KeychainService(keychain: FileKeychain(file), keys: folder.keys)
      let item = try service.loadString(forKey: "test")
      #expect(item == "value" || (item == nil && !folder.isItemSaved))
    }
  }

  @Test("Saving the keybag", arguments: Fault.all)
  func keybag(fault: Fault) throws {
    let kdf = SlotKDF.pbkdf2(iterations: 1_000)
    var (keybag, unlocked) = try Keybag.create(credential("first passphrase"), kdf: kdf, now: 0)
    let first = keybag
    try keybag.addSlot(credential("second passphrase"), kdf: kdf, keys: unlocked.keys, now: 0)
    let second = keybag
    try everyPoint(
      "keybag save", fault,
      before: { folder in
        try folder.create(messages: 1)
        try DatabaseFile.open(home: folder.home.path).write { try first.save($0) }
      }
    ) { folder in
      let file = try DatabaseFile.open(home: folder.home.path)
      try file.write { try second.save($0) }
      folder.isItemSaved = true
    } after: { (folder, _) throws in
      let stored = try DatabaseFile.open(home: folder.home.path).read(Keybag.load)
      #expect(stored == second || (stored == first && !folder.isItemSaved))
    }
  }

  @Test("A message that was tampered with is called so, although the failure cannot be counted")
  func uncounted() throws {
    #expect(fault_vfs_register() == 0)
    defer { fault_vfs_unregister() }
    for fault in Fault.all where fault.isLasting {
      let fixture = try VaultFixture()
      let id = try fixture.vault.add("x")
      try fixture.tamper("UPDATE messages SET sealed = zeroblob(60)")
      fault_vfs_arm(fixture.home.path, 1, fault.kind, 1)
      expectError("DATA_TAMPERED") { try fixture.vault.text(id) }
      fault_vfs_disarm()
      #expect(try fixture.vault.status().recentFailures == 0)
    }
  }

  // MARK: -

  /// Counts the calls of `operation`, then runs it once for each with that call failing.
  private func everyPoint(
    _ name: String, _ fault: Fault, before: (FaultFolder) throws -> Void = { _ in },
    _ operation: (FaultFolder) throws -> Void,
    after: (FaultFolder, Vault) throws -> Void = { _, _ in }
  ) throws {
    #expect(fault_vfs_register() == 0)
    defer { fault_vfs_unregister() }
    func run(_ point: Int) throws -> (count: Int, isFailed: Bool) {
      let folder = try FaultFolder()
      try before(folder)
      var failure: (any Error)?
      fault_vfs_arm(folder.home.path, point, fault.kind, fault.isLasting ? 1 : 0)
      do { try operation(folder) } catch { failure = error }
      let count = fault_vfs_count()
      fault_vfs_disarm()
      if let failure { checkSorted(failure, name, point) }
      do { try folder.check(after) } catch {
        Issue.record("\(name): after call \(point) failed (\(String(describing: failure))): \(error)")
      }
      return (count, failure != nil)
    }
    let clean = try run(0)
    #expect(!clean.isFailed && clean.count > 0)
    let points = Shares("failing calls of the disk: \(name)", count: 4).of(
      1...clean.count)
    var failures = 0
    for point in points where try run(point).isFailed { failures += 1 }
    print("faults: \(name), \(fault.testDescription): \(clean.count) points, \(failures) seen by the caller")
    // In a share there may be none that matters.
    #expect(failures > 0 || points.count < clean.count)
  }

  /// A full or broken disk is called full or broken, never a damaged coffer.
  private func checkSorted(_ error: any Error, _ name: String, _ point: Int) {
    switch error {
    case StorageError.full, StorageError.inputOutput: return
    case KeychainError.storage(.full), KeychainError.storage(.inputOutput): return
    case VaultError.keychainNotAvailable: return
    default: break
    }
    Issue.record("\(name): call \(point) gave \(error)")
  }

  private func credential(_ text: String) throws -> SlotCredential {
    SlotCredential(try Passphrase(utf8: bytes(of: text)))
  }
}

/// A kind of failure, and whether it lasts.
struct Fault: CustomTestStringConvertible, Sendable {
  let kind: Int32
  let isLasting: Bool

  static let all = [FAULT_FULL, FAULT_WRITE, FAULT_SYNC].flatMap { kind in
    [false, true].map { Fault(kind: Int32(kind), isLasting: $0) }
  }

  var testDescription: String {
    ["full", "write error", "sync error"][Int(kind)] + (isLasting ? " from then on" : " once")
  }
}

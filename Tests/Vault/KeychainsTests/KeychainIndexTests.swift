// SPDX-License-Identifier: Apache-2.0
//
// Stores that were changed behind the service's back, and writers that meet in one store.

import Extents
import Foundation
@testable import Keychains
import Storage
import PrivateBus
import Testing

@Suite("Keychain index and atomic writing", .keyringMayDie)
struct KeychainIndexTests {
  private func filled(_ store: Store) throws -> Shelf {
    let shelf = try store.make()
    try shelf.service().save(Data("one".utf8), forKey: "one")
    try shelf.service().save(Data("two".utf8), forKey: "two")
    try shelf.service().save(
      Data("shut".utf8), forKey: "shut", accessibility: .whenUnlockedThisDeviceOnly)
    return shelf
  }

  /// Nothing of the class can be read or written, and nothing is taken for missing.
  private func expectInvalid(_ shelf: Shelf, _ what: Comment) {
    let service = shelf.service()
    #expect(throws: KeychainError.invalidData, what) { try service.load(forKey: "one") }
    #expect(throws: KeychainError.invalidData, what) { try service.load(forKey: "two") }
    #expect(throws: KeychainError.invalidData, what) { try service.load(forKey: "none") }
    #expect(throws: KeychainError.invalidData, what) { try service.accounts() }
    #expect(throws: KeychainError.invalidData, what) { try service.save(Data(), forKey: "new") }
  }

  @Test("A removed item is known to be missing", arguments: Store.allCases)
  func removed(store: Store) throws {
    let shelf = try filled(store)
    try shelf.tamper(.delete(account: "one"))
    expectInvalid(shelf, "removed")
    #expect(try shelf.service().load(forKey: "shut") == Data("shut".utf8))
  }

  @Test("A renamed item, and two that change places, are known", arguments: Store.allCases)
  func renamed(store: Store) throws {
    let shelf = try filled(store)
    var one = try #require(try shelf.item("one"))
    var two = try #require(try shelf.item("two"))
    let before = one
    one.account = "three"
    try shelf.tamper(.delete(account: "one"), .set(one))
    expectInvalid(shelf, "renamed")
    (one.account, two.account) = ("two", "one")
    try shelf.tamper(.delete(account: "three"), .set(one), .set(two))
    expectInvalid(shelf, "exchanged")
    two.account = "two"
    try shelf.tamper(.set(before), .set(two))
    #expect(try shelf.service().load(forKey: "one") == Data("one".utf8))
  }

  @Test("An item put back to its own earlier value is known", arguments: Store.allCases)
  func putBack(store: Store) throws {
    let shelf = try filled(store)
    let earlier = try #require(try shelf.item("one"))
    try shelf.service().save(Data("new".utf8), forKey: "one")
    try shelf.tamper(.set(earlier))
    expectInvalid(shelf, "put back")
  }

  @Test("A deleted item that comes back is known", arguments: Store.allCases)
  func cameBack(store: Store) throws {
    let shelf = try filled(store)
    let earlier = try #require(try shelf.item("one"))
    try shelf.service().delete(forKey: "one")
    try shelf.tamper(.set(earlier))
    expectInvalid(shelf, "came back")
  }

  @Test("An item of another class or another coffer is known", arguments: Store.allCases)
  func copied(store: Store) throws {
    let shelf = try filled(store)
    let one = try #require(try shelf.item("one"))
    var shut = try #require(try shelf.item("shut"))
    shut.account = "one"
    shut.accessibility = .afterFirstUnlockThisDeviceOnly
    try shelf.tamper(.set(shut))
    expectInvalid(shelf, "from another class")
    try shelf.tamper(.set(try #require(try filled(store).item("one"))))
    expectInvalid(shelf, "from another coffer")
    var moved = one
    moved.accessibility = .whenUnlockedThisDeviceOnly
    try shelf.tamper(.set(moved))
    expectInvalid(shelf, "class number changed")
  }

  @Test("A change of any byte of an item or of an index is known", arguments: Store.allCases)
  func everyByte(store: Store) throws {
    let shelf = try filled(store)
    for account in ["one", "app.rial.keychain.index.2"] {
      let item = try #require(try shelf.item(account))
      for offset in Shares("keychain index, changed bytes", count: 4).of(0..<item.sealed.count) {
        var changed = item
        changed.sealed[offset] ^= 0x01
        try shelf.tamper(.set(changed))
        #expect(throws: KeychainError.invalidData) { try shelf.service().load(forKey: "one") }
      }
      try shelf.tamper(.set(item))
    }
    let loaded = try shelf.service().load(forKey: "one")
    #expect(loaded == Data("one".utf8))
  }

  @Test("A store without its indexes, or emptied, is not an empty keychain", arguments: Store.allCases)
  func emptied(store: Store) throws {
    let shelf = try filled(store)
    try shelf.tamper(.delete(account: "app.rial.keychain.index.2"))
    expectInvalid(shelf, "no index")
    for item in try shelf.keychain.items() { try shelf.tamper(.delete(account: item.account)) }
    expectInvalid(shelf, "nothing at all")
  }

  // MARK: Atomic batches

  @Test("A batch whose body throws changes nothing", arguments: Store.allCases)
  func throwing(store: Store) throws {
    let shelf = try filled(store)
    let before = try shelf.keychain.items()
    #expect(throws: KeychainError.encodingFailed) {
      try shelf.keychain.update { _ throws(KeychainError) in throw .encodingFailed }
    }
    #expect(try shelf.keychain.items() == before)
  }

  @Test("A batch sees what it replaces, and applies its steps in order", arguments: Store.allCases)
  func batch(store: Store) throws {
    let shelf = try filled(store)
    let expected = try shelf.keychain.items()
    let item = SealedItem(
      account: "x", accessibility: .whenUnlockedThisDeviceOnly, sealed: Data([1]))
    try shelf.keychain.update { current in
      #expect(current == expected)
      return [.set(item), .delete(account: "x"), .delete(account: "none"), .set(item)]
    }
    #expect(try shelf.item("x") == item)
  }

  @Test("Eight writers at once lose nothing", arguments: Store.allCases)
  func concurrentWriters(store: Store) async throws {
    let shelf = try store.make()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          let service = shelf.service()
          for number in 0..<10 {
            try service.save(
              Data([UInt8(number)]), forKey: "\(writer).\(number)",
              accessibility: number % 2 == 0
                ? .whenUnlockedThisDeviceOnly : .afterFirstUnlockThisDeviceOnly)
            let loaded = try service.load(forKey: "\(writer).\(number)")
            #expect(loaded == Data([UInt8(number)]))
          }
        }
      }
      try await group.waitForAll()
    }
    let accounts = try shelf.service().accounts()
    #expect(accounts.count == 80)
  }

  // MARK: The file

  @Test("Items survive closing and opening the file")
  func reopening() throws {
    let shelf = try filled(.file)
    let home = try #require(shelf.home)
    shelf.file?.close()
    let file = try DatabaseFile.open(home: home.path)
    let service = KeychainService(keychain: FileKeychain(file), keys: shelf.keys)
    #expect(try service.load(forKey: "one") == Data("one".utf8))
    #expect(try service.accounts() == ["one", "shut", "two"])
  }

  @Test("What the file says of itself reaches the caller as it is")
  func fileErrors() throws {
    for error in [
      StorageError.outdated(.keychain), .corrupt(part: .page), .inputOutput(code: 10), .full, .staleLog,
    ] {
      #expect(throws: KeychainError.storage(error)) { try FileKeychain.sorting { throw error } }
    }
    #expect(throws: KeychainError.locked) { try FileKeychain.sorting { throw KeychainError.locked } }
    #expect(throws: KeychainError.unsorted(type: "CancellationError")) {
      try FileKeychain.sorting { throw CancellationError() }
    }
    #expect(KeychainError.storage(.outdated(.keychain)).isDamage && !KeychainError.storage(.full).isDamage)
  }

  @Test("A class number that does not exist is damage")
  func impossibleClass() throws {
    for number in [0, 3, 258, -1] as [Int64] {
      let shelf = try filled(.file)
      try shelf.file?.write {
        _ = try $0.execute("UPDATE keychain SET accessibility = ? WHERE account = 'one'", .integer(number))
      }
      #expect(throws: KeychainError.invalidData) { try shelf.service().load(forKey: "two") }
    }
  }

  @Test("While another writes, saving and deleting say so")
  func inUse() throws {
    let shelf = try filled(.file)
    let other = try DatabaseFile.open(home: try #require(shelf.home).path)
    let service = KeychainService(keychain: FileKeychain(other), keys: shelf.keys)
    #expect(try service.load(forKey: "one") == Data("one".utf8))
    #expect(throws: KeychainError.storage(.inUse)) { try service.save(Data(), forKey: "one") }
    #expect(throws: KeychainError.storage(.inUse)) { try service.delete(forKey: "one") }
    #expect(try service.load(forKey: "one") == Data("one".utf8))
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// A keychain in a store outside of the file: what was put back there behind the file's back, and a batch that was
// cut off between store and file.

import Foundation
import NumberedItemStores
import Primitives
import Secrets
import Storage
import TemporaryHomes
import Testing

@testable import Keychains

@Suite("A keychain in a service, bound to the file")
struct BoundServiceKeychainTests {
  @Test("What batches store is read back, and the file follows each of them")
  func batches() throws {
    let place = try BoundPlace()
    #expect(try place.service.accounts() == [])
    for number in 1...3 { try place.save("item \(number)") }
    try place.service.delete(forKey: "item 2")
    #expect(try place.service.accounts() == ["item 1", "item 3"])
    #expect(try place.service.load(forKey: "item 3") == Data("item 3".utf8))
    // As another command finds it.
    #expect(try place.reopened().accounts() == ["item 1", "item 3"])
    #expect(try place.noted() == 1)
  }

  @Test("Items that were put back as a whole are refused, read or changed")
  func putBack() throws {
    let place = try BoundPlace()
    try place.save("first")
    let former = try place.store.items()
    try place.save("second")
    try place.store.update { current throws(KeychainError) in
      current.map { .delete(account: $0.account) } + former.map { .set($0) }
    }
    #expect(throws: KeychainError.invalidData) { try place.service.accounts() }
    #expect(throws: KeychainError.invalidData) { try place.save("third") }
  }

  @Test("Items that are gone altogether are refused, and not taken for a new keychain")
  func gone() throws {
    let place = try BoundPlace()
    try place.save("first")
    try place.store.update { current throws(KeychainError) in
      current.map { .delete(account: $0.account) }
    }
    #expect(throws: KeychainError.invalidData) { try place.service.accounts() }
    #expect(throws: KeychainError.invalidData) { try place.service.prepare() }
  }

  @Test("A batch that was cut off before or after it happened leaves a keychain that opens and goes on")
  func interrupted() throws {
    for happens in [false, true] {
      let place = try BoundPlace()
      try place.save("first")
      let cut = KeychainService(
        keychain: BoundServiceKeychain(CutKeychain(below: place.store, happens: happens), file: place.file),
        keys: place.keys)
      #expect(throws: KeychainError.self) {
        try cut.save(Data("second".utf8), forKey: "second")
      }
      #expect(try place.noted() == 2)
      #expect(try place.reopened().accounts() == (happens ? ["first", "second"] : ["first"]))
      try place.save("third")
      #expect(try place.noted() == 1)
      #expect(
        try place.reopened().accounts() == (happens ? ["first", "second", "third"] : ["first", "third"]))
    }
  }

  @Test("The file's note put back by itself is known as an earlier state")
  func notePutBack() throws {
    let place = try BoundPlace()
    try place.save("first")
    let former = try place.file.read { transaction in
      try transaction.firstRow("SELECT sealed FROM keychain") { try $0.bytes(0) }
    }
    try place.save("second")
    try place.file.write { _ = try $0.execute("UPDATE keychain SET sealed = ?", .bytes(former ?? Data())) }
    #expect(throws: KeychainError.storage(.outdated(.keychain))) { try place.service.accounts() }
    #expect(try place.file.outdatedParts() == [.keychain])
  }
}

/// A bound file, and a store beside it.
private final class BoundPlace {
  let home: TemporaryHome
  let file: DatabaseFile
  let store: JournallingKeychain
  let keys: ClassKeys
  let service: KeychainService

  init() throws {
    let bound = try BoundFile()
    home = bound.home
    file = bound.file
    keys = bound.keys
    file.bind(bound.binding)
    store = JournallingKeychain(store: NumberedItemStore(), coffer: bound.coffer) {}
    service = KeychainService(keychain: BoundServiceKeychain(store, file: file), keys: keys)
    try service.prepare()
  }

  func reopened() -> KeychainService {
    KeychainService(keychain: BoundServiceKeychain(store, file: file), keys: keys)
  }

  func save(_ name: String) throws { try service.save(Data(name.utf8), forKey: name) }

  /// How many digests the file says that the store may show.
  func noted() throws -> Int {
    try file.read { try $0.firstRow("SELECT sealed FROM keychain") { Int(try $0.bytes(0).first ?? 0) } } ?? 0
  }
}

/// A store that fails a batch before it, or after it happened.
private struct CutKeychain: Keychain {
  let below: any Keychain
  let happens: Bool

  func items() throws(KeychainError) -> [SealedItem] { try below.items() }

  func update(
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError) {
    if happens { try below.update(body) } else { _ = try body(try below.items()) }
    throw .saveFailed(-5)
  }
}

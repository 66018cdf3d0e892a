// SPDX-License-Identifier: Apache-2.0
//
// What a keychain over a store without transactions takes for damage, what it clears away, and that readers and
// writers do not meet halfway.

import NumberedItemStores
import Foundation
import SpecExamples
import Storage
import Synchronization
import Testing

@testable import Keychains

@Suite("Keychain over a store without transactions")
struct JournallingKeychainTests {
  // MARK: What is there

  @Test("The first batch leaves the row and the manifest of the specification, byte for byte")
  func example() throws {
    let page = try SpecExample(page: "keychain.md")
    let coffer = JournalCoffer()
    try coffer.update([page.text("name"): page.bytes("sealed-item")])
    #expect(coffer.store.rows == [try page.bytes("row")])
    #expect(coffer.store.manifests == [try page.bytes("manifest")])
    #expect(coffer.store.records.count == 2)
  }

  @Test("After a batch there is one manifest, and a row for each item")
  func nothingBehind() throws {
    let coffer = JournalCoffer()
    try coffer.update(["one": [1], "two": [2]])
    #expect(coffer.store.records.count == 3)
    try coffer.update(["one": [11], "three": [3]])
    #expect(coffer.store.records.count == 4)
    try coffer.update(["one": nil as [UInt8]?, "two": nil as [UInt8]?, "three": nil as [UInt8]?])
    #expect(coffer.store.records.count == 1)
    #expect(try coffer.contents().isEmpty)
  }

  @Test("A batch that changes nothing writes nothing")
  func unchanged() throws {
    let coffer = JournalCoffer()
    try coffer.update(["one": nil as [UInt8]?])
    #expect(coffer.store.records.isEmpty)
    try coffer.update(["one": [1]])
    let records = coffer.store.records
    coffer.store.restart(.nothing)
    try coffer.update(["one": [1], "two": nil as [UInt8]?])
    #expect(coffer.store.records == records)
    #expect(coffer.store.callCount == 1)
  }

  @Test("Items that a batch does not touch keep their records")
  func untouched() throws {
    let coffer = JournalCoffer()
    try coffer.update(["one": [1], "two": [2]])
    let before = Set(coffer.store.records.map(\.place))
    try coffer.update(["two": [22]])
    #expect(before.intersection(coffer.store.records.map(\.place)).count == 1)
  }

  // MARK: Damage

  @Test("A record with any byte changed, cut anywhere, longer or missing is damage, and is not written over")
  func damaged() throws {
    let coffer = JournalCoffer()
    // Nothing but additions: the former state has all its rows, and must not come back all the same.
    try coffer.update(["one": [1, 2, 3]])
    try coffer.update(["two": [4]])
    let good = coffer.store.records
    #expect(good.count == 3)
    func expectInvalid(_ records: [StoredRecord], _ what: String) {
      coffer.store.records = records
      #expect(throws: KeychainError.invalidData, "\(what)") { try coffer.contents() }
      #expect(throws: KeychainError.invalidData, "\(what)") { try coffer.update(["one": [9]]) }
      #expect(coffer.store.records == records, "\(what): written over")
    }
    for index in good.indices {
      let bytes = good[index].bytes
      func expectChanged(_ changed: [UInt8], _ what: String) {
        var records = good
        records[index] = StoredRecord(place: good[index].place, bytes: changed)
        expectInvalid(records, "record \(index), \(what)")
      }
      for offset in bytes.indices {
        var changed = bytes
        changed[offset] ^= 0x01
        expectChanged(changed, "byte \(offset)")
      }
      for count in bytes.indices { expectChanged(Array(bytes[..<count]), "cut to \(count)") }
      expectChanged(bytes + [0], "longer")
      var records = good
      records.remove(at: index)
      expectInvalid(records, "record \(index) missing")
    }
    coffer.store.records = good.reversed()
    #expect(try coffer.contents() == ["one": [1, 2, 3], "two": [4]])
  }

  @Test("Rows without a manifest are damage, a single row too")
  func noManifest() throws {
    let coffer = JournalCoffer()
    for rows in [
      [JournalRecord.row(name: [0x61])],
      [JournalRecord.row(name: [0x61]), JournalRecord.row(name: [0x62])],
    ] {
      coffer.store.values = rows
      #expect(throws: KeychainError.invalidData) { try coffer.contents() }
    }
  }

  @Test("A part of a first manifest is nothing yet; anything longer is damage")
  func partOfFirst() throws {
    let whole = JournalRecord.manifest(of: [])
    for count in whole.indices {
      let coffer = JournalCoffer()
      coffer.store.values = [Array(whole[..<count])]
      #expect(try coffer.contents().isEmpty)
      try coffer.update(["one": [1]])
      #expect(try coffer.contents() == ["one": [1]])
      #expect(coffer.store.records.count == 2)
    }
    let coffer = JournalCoffer()
    coffer.store.values = [[UInt8](repeating: 0, count: whole.count + 1)]
    #expect(throws: KeychainError.invalidData) { try coffer.contents() }
    coffer.store.values = [[], []]
    #expect(throws: KeychainError.invalidData) { try coffer.contents() }
  }

  @Test("Fields that no writer writes are damage, under digests that fit")
  func impossible() throws {
    typealias Record = JournalRecord
    let coffer = JournalCoffer()
    let rows = [Record.row(name: [0x61]), Record.row(name: [0x62])]
    let digests = rows.map(Record.digest).sorted { $0.lexicographicallyPrecedes($1) }
    coffer.store.values = rows + [Record.manifest(digests: digests)]
    #expect(try coffer.contents() == ["a": [9], "b": [9]])
    func expectInvalid(_ values: [[UInt8]], _ what: String) {
      coffer.store.values = values
      #expect(throws: KeychainError.invalidData, "\(what)") { try coffer.contents() }
    }
    for (manifest, what) in [
      (Record.manifest(version: 2, digests: digests), "version"),
      (Record.manifest(UUID(), digests: digests), "another coffer's"),
      (Record.manifest(revision: 0, digests: digests), "revision"),
      (Record.manifest(digests: digests.reversed()), "order"),
      (Record.manifest(digests: [digests[0], digests[0]]), "a row twice"),
      (Record.manifest(count: 1, digests: digests), "count"),
      (Record.manifest(count: 3, digests: digests), "count"),
      (Record.manifest(count: .max, digests: digests), "count"),
      (Record.manifest(digests: digests, after: [0]), "longer"),
    ] {
      expectInvalid(rows + [manifest], what)
      // An older manifest beside it does not help: this is not a part of one.
      expectInvalid(rows + [manifest, Record.manifest(revision: 1, of: [rows[0]])], what)
    }
    for (row, what) in [
      (Record.row(version: 2, name: [0x61]), "version"),
      (Record.row(UUID(), name: [0x61]), "another coffer's"),
      (Record.row(accessibility: 3, name: [0x61]), "class"), (Record.row(name: [0xFF]), "name"),
      (Record.row(name: [0x61], nameByteCount: .max), "length"),
      (Record.row(name: [0x61], after: [0]), "longer"),
      (Record.row(name: [0x62], sealed: [8]), "a name twice"), (Record.manifest(of: []), "a manifest"),
    ] {
      expectInvalid([row, rows[1], Record.manifest(revision: 2, of: [row, rows[1]])], what)
    }
  }

  @Test("Of two manifests the higher revision counts, and two of one revision are damage")
  func revisions() throws {
    let coffer = JournalCoffer()
    try coffer.update(["one": [1]])
    let first = coffer.store.values
    try coffer.update(["one": [11], "two": [2]])
    coffer.store.values += first
    #expect(try coffer.contents() == ["one": [11], "two": [2]])
    try coffer.update(["two": nil as [UInt8]?])
    #expect(coffer.store.records.count == 2)
    let row = JournalRecord.row(name: [0x61])
    coffer.store.values = [
      row, JournalRecord.manifest(revision: 3, of: [row]), JournalRecord.manifest(revision: 3, of: []),
    ]
    #expect(throws: KeychainError.invalidData) { try coffer.contents() }
  }

  @Test("A record that is there twice is one record, and cleared away")
  func twice() throws {
    let coffer = JournalCoffer()
    try coffer.update(["one": [1]])
    coffer.store.values += coffer.store.values
    #expect(try coffer.contents() == ["one": [1]])
    try coffer.update(["two": [2]])
    #expect(try coffer.contents() == ["one": [1], "two": [2]])
    #expect(coffer.store.records.count == 3)
  }

  @Test("A record that the store lists twice, at one place, is not cleared away")
  func listedTwice() throws {
    let coffer = JournalCoffer()
    try coffer.update(["one": [1]])
    let state = try JournalState(coffer.store.records + coffer.store.records, coffer: JournalCoffer.example)
    #expect(state.leftovers.isEmpty && state.rows.count == 1)
    // Beside a real copy, that one alone.
    let copies = coffer.store.records.map {
      StoredRecord(place: .init("copy of \($0.place.name)"), bytes: $0.bytes)
    }
    for records in [coffer.store.records + copies, copies + coffer.store.records] {
      let state = try JournalState(records + records, coffer: JournalCoffer.example)
      #expect(Set(state.leftovers) == Set(records.suffix(2).map(\.place)))
    }
  }

  @Test("What an interrupted batch has left is never read, and cleared away by the next")
  func leftovers() throws {
    let coffer = JournalCoffer()
    try coffer.update(["one": [1]])
    coffer.store.values += [JournalRecord.row(name: Array("one".utf8), sealed: [7]), [1, 2, 3], []]
    #expect(try coffer.contents() == ["one": [1]])
    try coffer.update(["two": [2]])
    #expect(try coffer.contents() == ["one": [1], "two": [2]])
    #expect(coffer.store.records.count == 3)
  }

  @Test("When the revisions are used up, nothing more is written")
  func lastRevision() throws {
    let coffer = JournalCoffer()
    let row = JournalRecord.row(name: [0x61])
    coffer.store.values = [row, JournalRecord.manifest(revision: .max, of: [row])]
    #expect(try coffer.contents() == ["a": [9]])
    #expect(throws: KeychainError.invalidData) { try coffer.update(["a": [8]]) }
    #expect(try coffer.contents() == ["a": [9]])
  }

  // MARK: Stores that fail

  @Test(
    "A store that does not keep what it took: the batch fails, and what was there stays", arguments: 1...8)
  func forgetful(_ target: Int) throws {
    let store = ForgetfulItemStore(changing: target)
    let coffer = JournalCoffer(store.kept)
    let keychain = JournallingKeychain(store: store, coffer: JournalCoffer.example) {}
    // The first batch adds a manifest, a row and a manifest; each after it a row and a manifest.
    var contents: Contents = [:]
    var failures = 0
    for number in UInt8(1)...4 {
      do {
        try keychain.update { _ in [.set(coffer.item("one", [number]))] }
        contents = ["one": [number]]
      } catch {
        #expect(error == .saveFailed(-EIO))
        failures += 1
      }
      #expect(try coffer.contents() == contents)
    }
    #expect(failures == 1)
    #expect(contents == ["one": [4]] || target == 8)
  }

  @Test("A keychain that grows past the limit is refused, and stays as it was")
  func limit() throws {
    let coffer = JournalCoffer()
    let half = [UInt8](repeating: 1, count: JournallingKeychain.byteLimit / 2)
    try coffer.update(["one": half])
    #expect(throws: KeychainError.storage(.full)) { try coffer.update(["two": half]) }
    #expect(try coffer.contents() == ["one": half])
    #expect(coffer.store.records.count == 2)
  }

  @Test("While another process holds the writer's lock, the store is not asked")
  func writers() throws {
    let store = NumberedItemStore()
    let keychain = JournallingKeychain(store: store, coffer: UUID()) { () throws(StorageError) in throw .inUse
    }
    #expect(throws: KeychainError.storage(.inUse)) {
      try keychain.update { _ in [.delete(account: "one")] }
    }
    #expect(throws: KeychainError.storage(.inUse)) { try keychain.remove() }
    #expect(store.callCount == 0)
  }

  // MARK: At the same time

  @Test(
    "Two keychains of one coffer in one process write one after the other, and a reader sees whole batches")
  func threads() throws {
    let store = NumberedItemStore()
    let id = UUID()
    let isAtEnd = Mutex(false)
    let halves = Mutex(0)
    let reader = Thread {
      let coffer = JournalCoffer(store, id: id)
      while !isAtEnd.withLock({ $0 }) {
        let contents = try? coffer.contents()
        if contents == nil || contents?["left"] != contents?["right"] { halves.withLock { $0 += 1 } }
      }
    }
    reader.start()
    DispatchQueue.concurrentPerform(iterations: 2) { _ in
      let coffer = JournalCoffer(store, id: id)
      for _ in 0..<100 {
        try? coffer.keychain.update { current in
          let next = (current.first.map { $0.sealed[0] } ?? 0) + 1
          return [.set(coffer.item("left", [next])), .set(coffer.item("right", [next]))]
        }
      }
    }
    isAtEnd.withLock { $0 = true }
    #expect(halves.withLock { $0 } == 0)
    #expect(try JournalCoffer(store, id: id).contents() == ["left": [200], "right": [200]])
  }
}

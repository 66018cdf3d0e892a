// SPDX-License-Identifier: Apache-2.0
//
// What the suites of the journalling keychain share: a coffer whose records are in memory, records by hand, and
// a store that does not keep what it takes.

import NumberedItemStores
import Foundation
import Keychains
import Primitives
import Synchronization

/// What a keychain holds, by name.
typealias Contents = [String: [UInt8]]

/// A coffer whose keychain is in a store that knows no transactions.
struct JournalCoffer {
  static let example = UUID(uuidString: "00112233-4455-6677-8899-aabbccddeeff")!

  let store: NumberedItemStore
  let keychain: JournallingKeychain

  init(_ store: NumberedItemStore = NumberedItemStore(), id: UUID = example) {
    self.store = store
    keychain = JournallingKeychain(store: store, coffer: id) {}
  }

  /// - Parameter changes: nil deletes.
  func update(_ changes: [String: [UInt8]?]) throws(KeychainError) {
    let steps = changes.sorted { $0.key < $1.key }.map { name, bytes -> KeychainChange in
      bytes.map { .set(item(name, $0)) } ?? .delete(account: name)
    }
    try keychain.update { _ in steps }
  }

  func contents() throws(KeychainError) -> Contents {
    Contents(uniqueKeysWithValues: try keychain.items().map { ($0.account, Array($0.sealed)) })
  }

  func item(_ name: String, _ bytes: [UInt8]) -> SealedItem {
    SealedItem(account: name, accessibility: .afterFirstUnlockThisDeviceOnly, sealed: Data(bytes))
  }
}

extension NumberedItemStore {
  /// The bytes of all records, in order, and with new places when they are set.
  var values: [[UInt8]] {
    get { records.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) } }
    set {
      records = newValue.enumerated().map {
        StoredRecord(place: StoredRecord.Place("by hand \($0)"), bytes: $1)
      }
    }
  }

  var manifests: [[UInt8]] { values.filter { $0.starts(with: Array("CofferKM".utf8)) } }
  var rows: [[UInt8]] { values.filter { $0.starts(with: Array("CofferKR".utf8)) } }
}

/// Records as the specification says, and as it does not.
enum JournalRecord {
  static func row(
    version: UInt8 = 1, _ coffer: UUID = JournalCoffer.example, accessibility: UInt8 = 2, name: [UInt8],
    nameByteCount: UInt32? = nil, sealed: [UInt8] = [9], after: [UInt8] = []
  ) -> [UInt8] {
    Array("CofferKR".utf8) + [version] + bytes(coffer) + [accessibility]
      + bigEndian(nameByteCount ?? UInt32(name.count)) + name + bigEndian(UInt32(sealed.count)) + sealed
      + after
  }

  static func manifest(
    version: UInt8 = 1, _ coffer: UUID = JournalCoffer.example, revision: UInt64 = 1, count: UInt32? = nil,
    digests: [[UInt8]], after: [UInt8] = []
  ) -> [UInt8] {
    let content =
      Array("CofferKM".utf8) + [version] + bytes(coffer) + bigEndian(revision)
      + bigEndian(count ?? UInt32(digests.count)) + digests.joined() + after
    return content + digest(content)
  }

  /// A manifest of rows, in the order that it wants.
  static func manifest(revision: UInt64 = 1, of rows: [[UInt8]]) -> [UInt8] {
    manifest(revision: revision, digests: rows.map(digest).sorted { $0.lexicographicallyPrecedes($1) })
  }

  static func digest(_ bytes: [UInt8]) -> [UInt8] { Array(CryptoService.sha256Data(Data(bytes))) }

  private static func bytes(_ id: UUID) -> [UInt8] { withUnsafeBytes(of: id.uuid) { Array($0) } }

  private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }
}

/// A store that changes one of the records that it is given.
final class ForgetfulItemStore: ItemStore {
  let kept = NumberedItemStore()
  private let target: Int
  private let added = Mutex(0)

  /// - Parameter target: which record it changes, from 1.
  init(changing target: Int) { self.target = target }

  func open(
    _ failure: @escaping @Sendable (Int32) -> KeychainError
  ) throws(KeychainError) -> any ItemStoreSession {
    Session(store: self, session: try kept.open(failure))
  }

  private struct Session: ItemStoreSession {
    let store: ForgetfulItemStore
    let session: any ItemStoreSession

    func records() throws(KeychainError) -> [StoredRecord] { try session.records() }

    func add(_ bytes: [UInt8]) throws(KeychainError) {
      let number = store.added.withLock { added in
        added += 1
        return added
      }
      try session.add(number == store.target ? Array(bytes.dropLast()) : bytes)
    }

    func remove(_ place: StoredRecord.Place) throws(KeychainError) { try session.remove(place) }

    func synchronise() throws(KeychainError) { try session.synchronise() }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// A whole keychain as one run of bytes (Specs/keychain.md, "Secret Service"), for stores that can replace
// one value at once and know no transactions. The digest tells damage early; it is no authentication: that
// is what sealed values and their indexes are for.

internal import Foundation
internal import Primitives

/// Every item of a keychain as of one moment.
struct KeychainSnapshot: Equatable {
  /// Counts the changes, from 1; 0 stands for a keychain that was never written.
  private(set) var revision: UInt64 = 0
  /// By the bytes of their names, ascending, each name once.
  private(set) var items: [SealedItem] = []

  /// The keychain before its first item.
  init() {}

  /// The keychain after a batch.
  /// - Throws: `KeychainError.invalidData` when the revisions are used up: nobody makes 2^64 changes.
  func applying(_ changes: [KeychainChange]) throws(KeychainError) -> KeychainSnapshot {
    guard revision < .max else { throw .invalidData }
    var byName = [Data: SealedItem](uniqueKeysWithValues: items.map { (Data($0.account.utf8), $0) })
    for change in changes {
      switch change {
      case .set(let item): byName[Data(item.account.utf8)] = item
      case .delete(let account): byName[Data(account.utf8)] = nil
      }
    }
    var after = KeychainSnapshot()
    after.revision = revision + 1
    after.items = byName.values.sorted { Self.isBefore($0.account, $1.account) }
    return after
  }

  /// The snapshot of the keychain that belongs to `coffer`.
  func bytes(coffer: UUID) -> [UInt8] {
    var bytes = Self.magic + [Self.version]
    bytes.append(contentsOf: Self.bytes(of: coffer))
    bytes.append(bigEndian: revision)
    bytes.append(bigEndian: UInt32(items.count))
    for item in items {
      bytes.append(item.accessibility.rawValue)
      bytes.append(bigEndian: UInt32(item.account.utf8.count))
      bytes.append(contentsOf: item.account.utf8)
      bytes.append(bigEndian: UInt32(item.sealed.count))
      bytes.append(contentsOf: item.sealed)
    }
    return bytes + SHA256.hash(unsafe bytes.span.bytes)
  }

  /// Reads a snapshot.
  /// - Throws: `KeychainError.invalidData` for anything but what ``bytes(coffer:)`` gives for this coffer.
  init(_ bytes: [UInt8], coffer: UUID) throws(KeychainError) {
    do {
      try self.init(bytes: bytes, coffer: coffer)
    } catch {
      throw .invalidData
    }
  }

  private init(bytes: [UInt8], coffer: UUID) throws {
    guard bytes.count >= Self.leastByteCount else { throw KeychainError.invalidData }
    let content = Array(bytes.dropLast(SHA256.byteCount))
    guard SHA256.hash(unsafe content.span.bytes) == Array(bytes.suffix(SHA256.byteCount)) else {
      throw KeychainError.invalidData
    }
    let span = unsafe content.span.bytes
    var cursor = ByteCursor()
    guard try cursor.readBytes(span, count: Self.magic.count) == Self.magic,
      try cursor.readByte(span) == Self.version,
      try cursor.readBytes(span, count: 16) == Self.bytes(of: coffer)
    else { throw KeychainError.invalidData }
    revision = UInt64(bitPattern: try cursor.readInt64(span))
    let count = try cursor.readUInt32(span)
    guard revision > 0 else { throw KeychainError.invalidData }
    for _ in 0..<count {
      let item = try Self.readItem(span, &cursor)
      if let last = items.last, !Self.isBefore(last.account, item.account) { throw KeychainError.invalidData }
      items.append(item)
    }
    guard cursor.isAtEnd(of: span) else { throw KeychainError.invalidData }
  }

  private static func readItem(_ span: RawSpan, _ cursor: inout ByteCursor) throws -> SealedItem {
    let accessibility = AccessibilityClass(rawValue: try cursor.readByte(span))
    let name = try cursor.readBytes(span, count: try cursor.readUInt32(span))
    let sealed = try cursor.readBytes(span, count: try cursor.readUInt32(span))
    guard let accessibility, let account = String(validating: name, as: UTF8.self) else {
      throw KeychainError.invalidData
    }
    return SealedItem(account: account, accessibility: accessibility, sealed: Data(sealed))
  }

  private static func isBefore(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  private static func bytes(of id: UUID) -> [UInt8] {
    unsafe withUnsafeBytes(of: id.uuid) { unsafe Array($0) }
  }

  private static let magic = Array("CofferKS".utf8)
  private static let version: UInt8 = 1
  /// magic ‖ version ‖ coffer ‖ revision ‖ count ‖ digest
  private static let leastByteCount = 8 + 1 + 16 + 8 + 4 + SHA256.byteCount
}

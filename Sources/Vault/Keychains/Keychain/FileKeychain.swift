// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import Storage

/// The default keychain: sealed rows in the coffer's own file. A batch is one transaction.
public final class FileKeychain: Keychain {
  private let file: DatabaseFile

  /// The keychain in this file.
  public init(_ file: DatabaseFile) { self.file = file }

  /// Every item, at one moment.
  /// - Throws: `KeychainError.storage`; `.invalidData` for a class that does not exist.
  public func items() throws(KeychainError) -> [SealedItem] {
    try Self.sorting { try file.read(.keychain, Self.items) }
  }

  /// Makes all the changes, or none. See ``Keychain``.
  public func update(
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError) {
    try Self.sorting {
      try file.write(.keychain) { transaction in
        try Self.apply(body(Self.items(transaction)), transaction)
      }
    }
  }

  /// The same within a transaction that is under way on the file.
  /// - Throws: `KeychainError`, or `StorageError.outdated`, before anything is written; else what keeps it from
  ///   being written.
  func update(
    in transaction: borrowing Transaction,
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws {
    try file.join(.keychain, transaction) { transaction in
      let current: [SealedItem]
      do { current = try Self.items(transaction) } catch StorageError.corrupt {
        throw KeychainError.invalidData
      }
      try Self.apply(body(current), transaction)
    }
  }

  private static func items(_ transaction: borrowing Transaction) throws -> [SealedItem] {
    var items: [SealedItem] = []
    try transaction.forEachRow("SELECT account, accessibility, sealed FROM keychain ORDER BY account") {
      row in
      let stored = try row.integer(1)
      guard let accessibility = UInt8(exactly: stored).flatMap(AccessibilityClass.init(rawValue:))
      else { throw KeychainError.invalidData }
      items.append(
        SealedItem(account: try row.text(0), accessibility: accessibility, sealed: try row.bytes(2)))
      return true
    }
    return items
  }

  private static func apply(_ changes: [KeychainChange], _ transaction: borrowing Transaction) throws {
    for change in changes {
      switch change {
      case .set(let item):
        try transaction.execute(
          """
          INSERT INTO keychain (account, accessibility, sealed) VALUES (?, ?, ?)
          ON CONFLICT DO UPDATE SET accessibility = excluded.accessibility, sealed = excluded.sealed
          """,
          .text(item.account), .integer(Int64(item.accessibility.rawValue)), .bytes(item.sealed))
      case .delete(let account):
        try transaction.execute("DELETE FROM keychain WHERE account = ?", .text(account))
      }
    }
  }

  /// Runs work on the file, and sorts its errors.
  static func sorting<R>(_ body: () throws -> R) throws(KeychainError) -> R {
    do {
      return try body()
    } catch let error as KeychainError {
      throw error
    } catch let error as StorageError {
      throw .storage(error)
    } catch {
      throw .unsorted(type: "\(type(of: error))")
    }
  }
}

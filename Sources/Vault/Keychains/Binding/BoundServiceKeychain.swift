// SPDX-License-Identifier: Apache-2.0
//
// A keychain outside of the coffer's file, bound to the file (Specs/binding.md, "A keychain in a service").
// The table `keychain` has one row then: the digests of the indexes that the service may have.
//
//   count (1) ‖ count × SHA-256 (32)
//
// A batch in a service and a transaction in the file are two steps. So the file first records the digest of
// the next state beside the present one, then the batch happens, then the former digest is removed. A process
// that ends on the way leaves two digests, one of which is right.

internal import Foundation
internal import Primitives
internal import Secrets
public import Storage

/// A keychain in a service, bound to the coffer's file so that earlier states are recognised.
public struct BoundServiceKeychain: Keychain {
  private let service: any Keychain
  private let file: DatabaseFile

  /// Binds a keychain to a coffer's file. Neither is read yet.
  public init(_ service: any Keychain, file: DatabaseFile) {
    self.service = service
    self.file = file
  }

  /// Every item, at one moment.
  /// - Throws: `KeychainError.invalidData` also when the items are not those that were stored last.
  public func items() throws(KeychainError) -> [SealedItem] {
    // Another process may change the service between the two readings; then it has also changed the row.
    var known = try expected()
    while true {
      let items = try service.items()
      if Self.fits(items, known) { return items }
      let again = try expected()
      guard again != known else { throw .invalidData }
      known = again
    }
  }

  /// Makes all the changes, or none. See ``Keychain``.
  /// - Throws: `KeychainError.invalidData` also when the current items are not those that were stored last.
  public func update(
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError) {
    var next: [UInt8]?
    try service.update { current throws(KeychainError) in
      guard Self.fits(current, try expected()) else { throw .invalidData }
      let changes = try body(current)
      if changes.isEmpty { return [] }
      let digest = Self.digest(Self.items(current, after: changes))
      next = digest
      try note(current.isEmpty ? [digest] : [Self.digest(current), digest])
      return changes
    }
    // The batch has happened. If the former digest stays, the next batch removes it.
    if let next { try? note([next]) }
  }

  // MARK: The row

  private static let account = KeychainIndex.reservedPrefix + "service"

  private func expected() throws(KeychainError) -> [[UInt8]] {
    try FileKeychain.sorting {
      try file.read(.keychain) { transaction in
        let row = try transaction.firstRow(
          "SELECT sealed FROM keychain WHERE account = ?", .text(Self.account)
        ) { Array(try $0.bytes(0)) }
        guard let row else { return [] }
        guard let count = row.first, row.count == 1 + Int(count) * SHA256.byteCount else {
          throw KeychainError.invalidData
        }
        return (0..<Int(count)).map { Array(row[(1 + $0 * SHA256.byteCount)...].prefix(SHA256.byteCount)) }
      }
    }
  }

  private func note(_ digests: [[UInt8]]) throws(KeychainError) {
    try FileKeychain.sorting {
      try file.write(.keychain) { transaction in
        _ = try transaction.execute(
          """
          INSERT INTO keychain (account, accessibility, sealed) VALUES (?, 2, ?)
          ON CONFLICT DO UPDATE SET sealed = excluded.sealed
          """, .text(Self.account), .bytes(Data([UInt8(digests.count)] + digests.joined())))
      }
    }
  }

  // MARK: Digests

  private static func fits(_ items: [SealedItem], _ expected: [[UInt8]]) -> Bool {
    items.isEmpty && expected.isEmpty || expected.contains(digest(items))
  }

  /// Over the indexes, which are over all items: length of account (4) ‖ account ‖ length (4) ‖ sealed value.
  private static func digest(_ items: [SealedItem]) -> [UInt8] {
    var bytes: [UInt8] = []
    for item in items.filter(\.isIndex).sorted(by: { $0.account < $1.account }) {
      bytes.append(bigEndian: UInt32(item.account.utf8.count))
      bytes += item.account.utf8
      bytes.append(bigEndian: UInt32(item.sealed.count))
      bytes += item.sealed
    }
    return SHA256.hash(bytes.rawSpan)
  }

  private static func items(_ items: [SealedItem], after changes: [KeychainChange]) -> [SealedItem] {
    var items = items
    for change in changes {
      switch change {
      case .set(let item):
        items.removeAll { $0.isNamed(item.account) }
        items.append(item)
      case .delete(let account): items.removeAll { $0.isNamed(account) }
      }
    }
    return items
  }
}

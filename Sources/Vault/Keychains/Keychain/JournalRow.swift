// SPDX-License-Identifier: Apache-2.0
//
// One item as a record (Specs/keychain.md, "Stores without transactions"). A row has no name: the manifest
// knows it by the digest of its bytes.

internal import Foundation
internal import Primitives
internal import Secrets

struct JournalRow: Equatable {
  let item: SealedItem
  let bytes: [UInt8]
  /// SHA-256 of the bytes.
  let digest: [UInt8]

  /// The row of an item in the keychain of `coffer`.
  init(_ item: SealedItem, coffer: UUID) {
    self.item = item
    var bytes = Self.start(coffer)
    bytes.append(item.accessibility.rawValue)
    bytes.append(bigEndian: UInt32(item.account.utf8.count))
    bytes.append(contentsOf: item.account.utf8)
    bytes.append(bigEndian: UInt32(item.sealed.count))
    bytes.append(contentsOf: item.sealed)
    self.bytes = bytes
    digest = SHA256.hash(bytes.rawSpan)
  }

  /// Reads a row that a manifest names.
  /// - Throws: `KeychainError.invalidData` for anything but a row of this coffer.
  init(_ bytes: [UInt8], digest: [UInt8], coffer: UUID) throws(KeychainError) {
    do { item = try Self.item(bytes, coffer) } catch { throw .invalidData }
    self.bytes = bytes
    self.digest = digest
  }

  /// Whether a record begins as rows do.
  static func isStarted(_ bytes: [UInt8]) -> Bool { bytes.starts(with: magic) }

  private static func item(_ bytes: [UInt8], _ coffer: UUID) throws -> SealedItem {
    let span = bytes.rawSpan
    let start = start(coffer)
    var cursor = ByteCursor()
    guard try cursor.readBytes(span, count: start.count) == start else { throw KeychainError.invalidData }
    let accessibility = AccessibilityClass(rawValue: try cursor.readByte(span))
    let name = try cursor.readBytes(span, count: try cursor.readUInt32(span))
    let sealed = try cursor.readBytes(span, count: try cursor.readUInt32(span))
    guard let accessibility, let account = String(validating: name, as: UTF8.self), cursor.isAtEnd(of: span)
    else { throw KeychainError.invalidData }
    return SealedItem(account: account, accessibility: accessibility, sealed: Data(sealed))
  }

  private static func start(_ coffer: UUID) -> [UInt8] { magic + [version] + coffer.bytes }

  private static let magic = Array("CofferKR".utf8)
  private static let version: UInt8 = 1
}

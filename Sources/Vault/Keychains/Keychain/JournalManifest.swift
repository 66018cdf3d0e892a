// SPDX-License-Identifier: Apache-2.0
//
// The record that says which rows are the keychain (Specs/keychain.md, "Stores without transactions"). Adding
// one is the moment in which a batch happens. The digest detects incomplete and damaged records;
// authentication is the task of sealed values and their indexes.

internal import Foundation
internal import Primitives
internal import Secrets

struct JournalManifest: Equatable {
  /// Counts the manifests of a keychain, from 1.
  let revision: UInt64
  /// The digests of the rows, ascending, each once.
  let rows: [[UInt8]]

  /// - Parameter rows: digests of different rows, in any order.
  init(revision: UInt64, rows: some Sequence<[UInt8]>) {
    self.revision = revision
    self.rows = rows.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// The manifest of the keychain that belongs to `coffer`.
  func bytes(coffer: UUID) -> [UInt8] {
    var bytes = Self.magic + [Self.version] + coffer.bytes
    bytes.append(bigEndian: revision)
    bytes.append(bigEndian: UInt32(rows.count))
    for row in rows { bytes.append(contentsOf: row) }
    return bytes + SHA256.hash(bytes.rawSpan)
  }

  /// Reads a record; nil when it is not a complete manifest.
  /// - Throws: `KeychainError.invalidData` for a complete one that no writer of this coffer makes.
  init?(_ bytes: [UInt8], coffer: UUID) throws(KeychainError) {
    guard bytes.count >= Self.leastByteCount, bytes.starts(with: Self.magic) else { return nil }
    let content = Array(bytes.dropLast(SHA256.byteCount))
    guard SHA256.hash(content.rawSpan) == Array(bytes.suffix(SHA256.byteCount)) else { return nil }
    do { try self.init(content: content, coffer) } catch { throw .invalidData }
  }

  private init(content: [UInt8], _ coffer: UUID) throws {
    let span = content.rawSpan
    let start = Self.magic + [Self.version] + coffer.bytes
    var cursor = ByteCursor()
    guard try cursor.readBytes(span, count: start.count) == start else { throw KeychainError.invalidData }
    revision = UInt64(bitPattern: try cursor.readInt64(span))
    guard revision > 0 else { throw KeychainError.invalidData }
    let count = try cursor.readUInt32(span)
    var rows: [[UInt8]] = []
    for _ in 0..<count {
      let row = try cursor.readBytes(span, count: SHA256.byteCount)
      if let last = rows.last, !last.lexicographicallyPrecedes(row) { throw KeychainError.invalidData }
      rows.append(row)
    }
    guard cursor.isAtEnd(of: span) else { throw KeychainError.invalidData }
    self.rows = rows
  }

  private static let magic = Array("CofferKM".utf8)
  private static let version: UInt8 = 1
  /// magic ‖ version ‖ coffer ‖ revision ‖ count ‖ digest: a manifest of no rows.
  static let leastByteCount = 8 + 1 + 16 + 8 + 4 + SHA256.byteCount
}

extension UUID {
  /// The 16 bytes.
  var bytes: [UInt8] { unsafe withUnsafeBytes(of: uuid) { unsafe Array($0) } }
}

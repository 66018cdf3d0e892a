// SPDX-License-Identifier: Apache-2.0
//
// Interprets the records of a store, all of one moment. The reader, and the writer before, between and after
// its steps, use only this interpretation (Specs/keychain.md, "Stores without transactions").

internal import Foundation
internal import Primitives
internal import Secrets

struct JournalState {
  /// The valid manifest; nil before the first one.
  let manifest: JournalManifest?
  /// The rows that it names, by the bytes of their items' names.
  let rows: [JournalRow]
  /// Records that are not needed, former manifests first.
  let leftovers: [StoredRecord.Place]
  /// The digests of all records.
  let digests: Set<[UInt8]>

  var items: [SealedItem] { rows.map(\.item) }

  /// - Throws: `KeychainError.invalidData` unless these are the records of a keychain of `coffer`, perhaps
  ///   with leftovers of an interrupted batch.
  init(_ records: [StoredRecord], coffer: UUID) throws(KeychainError) {
    var byDigest: [[UInt8]: StoredRecord] = [:]
    var repeated: [StoredRecord.Place] = []
    var manifests: [(manifest: JournalManifest, digest: [UInt8])] = []
    for record in records {
      let digest = SHA256.hash(record.bytes.rawSpan)
      if let known = byDigest[digest] {
        // A service may have added a record twice, or list one record twice.
        if known.place != record.place { repeated.append(record.place) }
        continue
      }
      byDigest[digest] = record
      guard let manifest = try JournalManifest(record.bytes, coffer: coffer) else { continue }
      manifests.append((manifest, digest))
    }
    digests = Set(byDigest.keys)
    manifests.sort { $0.manifest.revision > $1.manifest.revision }
    if let next = manifests.dropFirst().first, next.manifest.revision == manifests[0].manifest.revision {
      throw .invalidData
    }
    manifest = manifests.first?.manifest
    if manifest == nil { try Self.requireNothing(records) }
    rows = try Self.rows(manifest, byDigest, coffer)
    let former = manifests.dropFirst().map(\.digest)
    let needed = Set(rows.map(\.digest) + manifests.prefix(1).map(\.digest))
    let others = byDigest.keys.filter { !needed.contains($0) && !former.contains($0) }
    let kept = Set(needed.compactMap { byDigest[$0]?.place })
    leftovers = ((former + others).compactMap { byDigest[$0]?.place } + repeated)
      .filter { !kept.contains($0) }
  }

  /// Without a manifest nothing was ever stored here: there are no records, or only an incomplete first
  /// manifest, which names no rows.
  private static func requireNothing(_ records: [StoredRecord]) throws(KeychainError) {
    guard let record = records.first else { return }
    guard records.count == 1, record.bytes.count <= JournalManifest.leastByteCount,
      !JournalRow.isStarted(record.bytes)
    else { throw .invalidData }
  }

  private static func rows(
    _ manifest: JournalManifest?, _ records: [[UInt8]: StoredRecord], _ coffer: UUID
  ) throws(KeychainError) -> [JournalRow] {
    var rows: [JournalRow] = []
    for digest in manifest?.rows ?? [] {
      guard let record = records[digest] else { throw .invalidData }
      rows.append(try JournalRow(record.bytes, digest: digest, coffer: coffer))
    }
    rows.sort { isBefore($0.item.account, $1.item.account) }
    for (row, next) in zip(rows, rows.dropFirst()) where row.item.isNamed(next.item.account) {
      throw .invalidData
    }
    guard byteCount(rows) <= JournallingKeychain.byteLimit else { throw .invalidData }
    return rows
  }

  /// The rows after a batch.
  func rows(after changes: [KeychainChange], coffer: UUID) -> [JournalRow] {
    var byName = [Data: JournalRow](uniqueKeysWithValues: rows.map { (Data($0.item.account.utf8), $0) })
    for change in changes {
      switch change {
      case .set(let item): byName[Data(item.account.utf8)] = JournalRow(item, coffer: coffer)
      case .delete(let account): byName[Data(account.utf8)] = nil
      }
    }
    return byName.values.sorted { Self.isBefore($0.item.account, $1.item.account) }
  }

  static func byteCount(_ rows: [JournalRow]) -> Int { rows.reduce(0) { $0 + $1.bytes.count } }

  private static func isBefore(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}

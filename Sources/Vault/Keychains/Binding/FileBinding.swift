// SPDX-License-Identifier: Apache-2.0
//
// The binding record in its row (Specs/binding.md, "Row"): sealed under a key derived from the class key
// *after first unlock*, so that a locked coffer can record the changes of new captures.
//
//   revision (8) ‖ digest of the slots (32) ‖ length (2) ‖ handle of the counter ‖ sealed value ‖ revision (8)
//
// The fields in the clear are for callers without a key. They show whether the log belongs to the file,
// whether the slots are those that were stored last (before anybody is asked for a passphrase), and which
// counter in the chip to delete with the coffer. The sealed value repeats all of them.

public import Foundation
internal import Primitives
public import Secrets
public import Storage
internal import Synchronization

/// Watches the parts of one coffer's file.
public final class FileBinding: PartBinding {
  let key: SharedSecretBytes
  private let context: [UInt8]
  /// The last row that was opened, so that an unchanged one need not be opened again.
  private let last = Mutex<(row: [UInt8], record: BindingRecord)?>(nil)

  /// - Parameters:
  ///   - coffer: the coffer's id.
  ///   - keys: must have the key of the class *after first unlock*.
  /// - Throws: `KeychainError.locked` without it.
  public init(coffer: UUID, keys: ClassKeys) throws(KeychainError) {
    guard let classKey = keys.afterFirstUnlock else { throw .locked }
    key = SharedSecretBytes(classKey.withBytes { HKDF.secret(from: $0, info: "coffer binding v1") })
    context = Array("coffer binding v1".utf8) + coffer.bytes
  }

  /// Makes the record of a new file, from what is in it.
  public func create(_ transaction: borrowing Transaction) throws {
    var record = BindingRecord(revision: 1, digests: [:])
    for part in BoundPart.allCases { record.digests[part] = try Self.digest(part, transaction) }
    try save(record, transaction)
  }

  // MARK: PartBinding

  /// Compares a part of the file with its digest in the record.
  /// - Throws: `StorageError.outdated` when they differ; `.corrupt` when there is no record that opens.
  public func verify(_ part: BoundPart, _ transaction: borrowing Transaction) throws {
    guard try load(transaction).digests[part] == Self.digest(part, transaction) else {
      throw StorageError.outdated(part)
    }
  }

  /// Enters the digest of a part that was changed into the record.
  /// - Throws: `StorageError.corrupt` when there is no record that opens.
  public func record(_ part: BoundPart, _ transaction: borrowing Transaction) throws {
    var record = try load(transaction)
    record.digests[part] = try Self.digest(part, transaction)
    record.revision += 1
    try save(record, transaction)
  }

  // MARK: The counter

  /// The counter in the chip that belongs to this file; nil when there is none.
  public func counter(_ transaction: borrowing Transaction) throws -> CounterMark? {
    try load(transaction).counter
  }

  /// Records the counter and its next value; nil for none.
  public func setCounter(_ counter: CounterMark?, _ transaction: borrowing Transaction) throws {
    var record = try load(transaction)
    record.counter = counter
    record.revision += 1
    try save(record, transaction)
  }

  /// The counter's authorization: 32 bytes, derived from the key of the record.
  public func counterAuthorization() -> SharedSecretBytes {
    SharedSecretBytes(key.withBytes { HKDF.secret(from: $0, info: "coffer binding v1 counter") })
  }

  /// The handle of the counter in the chip, without any key; nil when there is none.
  public static func counterHandle(_ transaction: borrowing Transaction) throws -> [UInt8]? {
    let handle = try Row(transaction).counter
    return handle.isEmpty ? nil : handle
  }

  // MARK: The row

  /// Compares the slots with their digest in the clear.
  ///
  /// It needs no key: it shows accidental changes, but proves nothing.
  /// - Throws: `StorageError.outdated(.slots)`; `.corrupt` when there is no record.
  public static func checkSlots(_ transaction: borrowing Transaction) throws {
    guard try Row(transaction).slots == digest(.slots, transaction) else {
      throw StorageError.outdated(.slots)
    }
  }

  /// The fields of the row.
  private struct Row {
    let bytes: [UInt8]
    let revision: [UInt8]
    let slots: [UInt8]
    let counter: [UInt8]
    let sealed: [UInt8]

    /// - Throws: `StorageError.corrupt` when there is no row, or it is not well-formed.
    init(_ transaction: borrowing Transaction) throws {
      let bytes = try transaction.firstRow("SELECT record FROM binding") { Array(try $0.bytes(0)) }
      guard let bytes, bytes.prefix(8) == bytes.suffix(8) else {
        throw StorageError.corrupt(part: .binding)
      }
      self.bytes = bytes
      let span = bytes.rawSpan
      var cursor = ByteCursor()
      do {
        revision = try cursor.readBytes(span, count: 8)
        slots = try cursor.readBytes(span, count: SHA256.byteCount)
        counter = try cursor.readBytes(span, count: try cursor.readUInt16(span))
        sealed = try cursor.readBytes(span, count: max(bytes.count - 8 - cursor.offset, 0))
      } catch {
        throw StorageError.corrupt(part: .binding)
      }
    }
  }

  private func load(_ transaction: borrowing Transaction) throws -> BindingRecord {
    let row = try Row(transaction)
    if let record = last.withLock({ $0?.row == row.bytes ? $0?.record : nil }) { return record }
    let record = SealedValue.read(row.sealed.rawSpan, key: key, context: context) {
      BindingRecord($0)
    }
    guard let record, row.revision == Self.bytes(record.revision), row.slots == record.digests[.slots],
      row.counter == record.counter?.handle ?? []
    else { throw StorageError.corrupt(part: .binding) }
    last.withLock { $0 = (row.bytes, record) }
    return record
  }

  private func save(_ record: BindingRecord, _ transaction: borrowing Transaction) throws {
    var sealer = SealedValue()
    let bytes = record.bytes
    let sealed = key.withBytes { sealer.seal(bytes.rawSpan, key: $0, context: context) }
    // Every coffer has slots before it has anything else.
    guard let slots = record.digests[.slots] else { throw StorageError.corrupt(part: .record) }
    var row = Self.bytes(record.revision) + slots
    let handle = record.counter?.handle ?? []
    row.append(bigEndian: UInt16(handle.count))
    row += handle + sealed + Self.bytes(record.revision)
    try transaction.execute(
      "INSERT INTO binding (only, record) VALUES (1, ?) ON CONFLICT DO UPDATE SET record = excluded.record",
      .bytes(Data(row)))
  }

  private static func bytes(_ revision: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: revision)
    return bytes
  }

  /// part (1) ‖ the part's anchors, hashed; nil when it has none.
  private static func digest(_ part: BoundPart, _ transaction: borrowing Transaction) throws -> [UInt8]? {
    var hash = SHA256()
    hash.update([part.rawValue].rawSpan)
    var isEmpty = true
    try transaction.forEachAnchor(of: part) {
      hash.update($0)
      isEmpty = false
    }
    return isEmpty ? nil : hash.finish()
  }
}

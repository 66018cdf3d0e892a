// SPDX-License-Identifier: Apache-2.0
//
// The steps of every change to the table: a record is added, replaced or deleted, and the state follows. The caller loads
// the state before the first step and saves it after the last.

internal import Foundation
internal import Primitives
internal import Secrets
internal import Storage

extension CaptureStore {
  /// A row as a change needs it.
  struct SealedRow {
    let opened: Row
    let mark: [UInt8]
    let sealedRecord: [UInt8]
  }

  /// The row of a capture.
  /// - Parameters:
  ///   - hidden: whether a hidden capture is one, too.
  ///   - state: the one that this transaction has not saved yet; nil for the stored one.
  /// - Throws: `CaptureError.notFound` only when all rows are those that were stored: one could have been taken away, or
  ///   an earlier record put back that was hidden.
  static func sealedRow(
    of id: CaptureID, _ transaction: borrowing Transaction, keys: CaptureKeys, hidden: Bool = false,
    state: CaptureState? = nil
  ) throws -> SealedRow {
    if let row = try sealedRowIfAny(of: id, transaction, keys: keys), hidden || !row.opened.record.isHidden {
      return row
    }
    _ = try rows(transaction, keys: keys, state: state)
    throw CaptureError.notFound
  }

  /// The row of a capture, hidden or not; nil also when it was taken away.
  static func sealedRowIfAny(
    of id: CaptureID, _ transaction: borrowing Transaction, keys: CaptureKeys
  ) throws -> SealedRow? {
    try transaction.firstRow(
      "SELECT number, id, mark, record, queue FROM captures WHERE id = ?", id.column
    ) { row in
      SealedRow(
        opened: try Self.row(row, keys: keys), mark: Array(try row.bytes(2)),
        sealedRecord: Array(try row.bytes(3)))
    }
  }

  /// Adds a capture that is not there.
  /// - Parameter rows: the sealed parts that the record has in rows.
  static func insert(
    _ id: CaptureID, _ record: CaptureRecord, mark: [UInt8], upload: UploadStatus,
    rows: [(CapturePart, [UInt8])], _ state: inout CaptureState, _ transaction: borrowing Transaction,
    keys: CaptureKeys
  ) throws {
    let sealed = record.sealed(id, mark: mark, key: keys.record)
    try transaction.execute(
      "INSERT INTO captures (id, mark, record, queue) VALUES (?, ?, ?, ?)", id.column, .bytes(Data(mark)),
      .bytes(Data(sealed)), .bytes(Data(upload.sealed(id, key: keys.record))))
    let number = try transaction.firstRow("SELECT last_insert_rowid()") { try $0.integer(0) } ?? 0
    for (part, bytes) in rows {
      try transaction.execute(
        "INSERT INTO captureParts (capture, part, sealed) VALUES (?, ?, ?)", .integer(number),
        .integer(Int64(part.rawValue)), .bytes(Data(bytes)))
    }
    var hash = keys.memberHash()
    let member = CaptureState.member(id, sealedRecord: sealed.rawSpan)
    hash.add(member.rawSpan, to: &state.captures)
    state.byteCount += record.storedByteCount
  }

  /// Seals another record of the same capture.
  static func replace(
    _ row: SealedRow, with record: CaptureRecord, _ state: inout CaptureState,
    _ transaction: borrowing Transaction, keys: CaptureKeys
  ) throws {
    let id = row.opened.id
    let sealed = record.sealed(id, mark: row.mark, key: keys.record)
    var hash = keys.memberHash()
    let old = CaptureState.member(id, sealedRecord: row.sealedRecord.rawSpan)
    hash.remove(old.rawSpan, from: &state.captures)
    let new = CaptureState.member(id, sealedRecord: sealed.rawSpan)
    hash.add(new.rawSpan, to: &state.captures)
    state.byteCount += record.storedByteCount - row.opened.record.storedByteCount
    try transaction.execute(
      "UPDATE captures SET record = ? WHERE number = ?", .bytes(Data(sealed)), .integer(row.opened.number))
  }

  /// Takes a capture out of the tables.
  static func delete(
    _ row: SealedRow, _ state: inout CaptureState, _ transaction: borrowing Transaction, keys: CaptureKeys
  ) throws {
    var hash = keys.memberHash()
    let member = CaptureState.member(row.opened.id, sealedRecord: row.sealedRecord.rawSpan)
    hash.remove(member.rawSpan, from: &state.captures)
    state.byteCount -= row.opened.record.storedByteCount
    try transaction.execute("DELETE FROM captureParts WHERE capture = ?", .integer(row.opened.number))
    try transaction.execute("DELETE FROM captures WHERE number = ?", .integer(row.opened.number))
  }
}

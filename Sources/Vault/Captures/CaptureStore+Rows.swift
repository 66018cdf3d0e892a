// SPDX-License-Identifier: Apache-2.0
//
// Reading the table: opening its rows, and comparing all with the state, which tells what was taken away or put back.

internal import Foundation
internal import Primitives
internal import Secrets
internal import Storage

extension CaptureStore {
  /// A row of the table, opened.
  struct Row {
    let number: Int64
    let id: CaptureID
    let record: CaptureRecord
    let upload: UploadStatus
  }

  /// The contents of the table.
  struct Scan {
    /// The rows that open, the oldest first.
    var rows: [Row] = []
    /// The captures whose rows do not open.
    var damaged: [CaptureID] = []
    /// Whether the rows match the state: the same number, each unchanged.
    var isComplete = true
  }

  /// Opens every row, and compares all with the state.
  /// - Parameter state: the one that a transaction under way has not saved yet; nil for the stored one.
  static func scan(
    _ transaction: borrowing Transaction, keys: CaptureKeys, state: CaptureState? = nil
  ) throws -> Scan {
    var scan = Scan()
    var digest = SetDigest()
    var hash = keys.memberHash()
    try transaction.forEachRow("SELECT number, id, mark, record, queue FROM captures ORDER BY number") {
      row in
      guard let id = try row.withBytes(1, { CaptureID($0) }) else {
        scan.isComplete = false
        return true
      }
      try row.withBytes(3) { sealed in
        let member = CaptureState.member(id, sealedRecord: sealed)
        hash.add(member.rawSpan, to: &digest)
      }
      do { scan.rows.append(try Self.row(row, keys: keys)) } catch CaptureError.corrupt {
        scan.damaged.append(id)
        scan.isComplete = false
      }
      return true
    }
    do {
      let state = try state ?? CaptureState.load(transaction, keys: keys)
      if state.captures != digest { scan.isComplete = false }
    } catch CaptureError.corrupt {
      scan.isComplete = false
    }
    return scan
  }

  /// Every capture, the oldest first.
  /// - Throws: `CaptureError.corrupt(nil)` when a row is not what was sealed, or rows were added or removed.
  static func rows(
    _ transaction: borrowing Transaction, keys: CaptureKeys, state: CaptureState? = nil
  ) throws -> [Row] {
    let scan = try scan(transaction, keys: keys, state: state)
    guard scan.isComplete else { throw CaptureError.corrupt(nil) }
    return scan.rows
  }

  static func row(_ row: borrowing StorageRow, keys: CaptureKeys) throws -> Row {
    guard let id = try row.withBytes(1, { CaptureID($0) }) else { throw CaptureError.corrupt(nil) }
    let mark = Array(try row.bytes(2))
    let record = try row.withBytes(3) { bytes throws(CaptureError) in
      try CaptureRecord(sealed: bytes, id, mark: mark, key: keys.record)
    }
    let upload = try row.withBytes(4) { bytes throws(CaptureError) in
      try UploadStatus(sealed: bytes, id, key: keys.record)
    }
    return Row(number: try row.integer(0), id: id, record: record, upload: upload)
  }

  static func save(
    _ upload: UploadStatus, _ id: CaptureID, _ transaction: borrowing Transaction, keys: CaptureKeys
  ) throws {
    let sealed = upload.sealed(id, key: keys.record)
    let changed = try transaction.execute(
      "UPDATE captures SET queue = ? WHERE id = ?", .bytes(Data(sealed)), id.column)
    guard changed == 1 else { throw CaptureError.corrupt(nil) }
  }

  /// The capture of that id.
  /// - Parameter hidden: whether a hidden one is one, too.
  /// - Throws: `CaptureError.notFound` only when all rows are those that were stored.
  func find(_ id: CaptureID, keys: CaptureKeys, hidden: Bool = false) throws -> Row {
    try file.read(.captures) { transaction in
      try Self.sealedRow(of: id, transaction, keys: keys, hidden: hidden).opened
    }
  }
}

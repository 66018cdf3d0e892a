// SPDX-License-Identifier: Apache-2.0
//
// Changing what a capture is called. Its record is sealed again; record and state change in one transaction, so a crash
// leaves the former label or the new one.

internal import Foundation
public import Primitives
internal import Secrets
public import Storage

extension CaptureStore {
  /// Changes title, note or tags of a capture.
  ///
  /// - Parameters:
  ///   - id: the capture.
  ///   - change: changes the label. It sees the present one, within the transaction.
  ///   - alongside: what else is written in the same transaction. What it throws undoes all of it.
  /// - Returns: whether the label is another one now; if not, nothing is written.
  /// - Throws: `CaptureError.labelTooLarge`, `.notFound`, `.corrupt`, `.locked`.
  public func changeLabel(
    of id: CaptureID, _ change: (inout CaptureLabel) throws -> Void,
    alongside: (borrowing Transaction) throws -> Void = { _ in }
  ) throws -> Bool {
    // Confirms that a capture that is not there was not taken away.
    let former = try summary(of: id).label
    var wanted = former
    try change(&wanted)
    guard wanted != former else { return false }
    let keys = try prepareWriting()
    try file.write(.captures) { transaction in
      guard let row = try Self.row(of: id, transaction, keys: keys) else { throw CaptureError.notFound }
      var record = row.opened.record
      try change(&record.label)
      try record.label.checkBounds()
      let sealed = record.sealed(id, mark: row.mark, key: keys.record)
      var state = try CaptureState.load(transaction, keys: keys)
      var hash = keys.memberHash()
      let old = CaptureState.member(id, sealedRecord: row.sealedRecord.rawSpan)
      hash.remove(old.rawSpan, from: &state.captures)
      let new = CaptureState.member(id, sealedRecord: sealed.rawSpan)
      hash.add(new.rawSpan, to: &state.captures)
      try transaction.execute(
        "UPDATE captures SET record = ? WHERE number = ?", .bytes(Data(sealed)), .integer(row.opened.number))
      try state.save(transaction, keys: keys)
      try alongside(transaction)
    }
    return true
  }

  private static func row(
    of id: CaptureID, _ transaction: borrowing Transaction, keys: CaptureKeys
  ) throws -> (opened: Row, mark: [UInt8], sealedRecord: [UInt8])? {
    try transaction.firstRow(
      "SELECT number, id, mark, record, queue FROM captures WHERE id = ?", id.column
    ) { row in
      (
        opened: try Self.row(row, keys: keys), mark: Array(try row.bytes(2)),
        sealedRecord: Array(try row.bytes(3))
      )
    }
  }
}

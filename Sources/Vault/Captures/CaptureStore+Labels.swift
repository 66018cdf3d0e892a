// SPDX-License-Identifier: Apache-2.0
//
// Changing what a capture is called. Its record is sealed again; record and state change in one transaction, so a crash
// leaves the former label or the new one.

public import Primitives
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
      let row = try Self.sealedRow(of: id, transaction, keys: keys)
      var record = row.opened.record
      try change(&record.label)
      try record.label.checkBounds()
      var state = try CaptureState.load(transaction, keys: keys)
      try Self.replace(row, with: record, &state, transaction, keys: keys)
      try state.save(transaction, keys: keys)
      try alongside(transaction)
    }
    return true
  }
}

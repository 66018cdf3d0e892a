// SPDX-License-Identifier: Apache-2.0
//
// Where large parts are (Specs/captures.md, "Sharing"). Blobs are on the disk before the record that names them, and are
// removed after the record that does not.

public import Primitives
internal import Storage

extension CaptureStore {
  /// Frees the blobs of a capture whose stream is elsewhere, as the caller has verified: its large parts become remote.
  ///
  /// - Parameter id: the capture, which may be hidden.
  /// - Returns: how many bytes the parts have that are not here any more; 0 when there was none.
  /// - Throws: `CaptureError.notFound`, `.corrupt(nil)`, `.locked`.
  public func release(_ id: CaptureID) throws -> Int {
    let keys = try prepareWriting()
    let former = try file.write(.captures) { transaction in
      try change(id, transaction, keys: keys) { if !$0.isSmall { $0.place = .remote } }
    }
    for name in former.blobs { file.blobs.remove(name) }
    return former.storedByteCount - former.parts.reduce(0) { $0 + ($1.isSmall ? $1.byteCount : 0) }
  }

  /// Changes the places of a capture's parts.
  /// - Returns: the former record.
  func change(
    _ id: CaptureID, _ transaction: borrowing Transaction, keys: CaptureKeys,
    _ change: (inout PartEntry) -> Void
  ) throws -> CaptureRecord {
    let row = try Self.sealedRow(of: id, transaction, keys: keys, hidden: true)
    var record = row.opened.record
    for index in record.parts.indices { change(&record.parts[index]) }
    guard record != row.opened.record else { return record }
    var state = try CaptureState.load(transaction, keys: keys)
    try Self.replace(row, with: record, &state, transaction, keys: keys)
    try state.save(transaction, keys: keys)
    return row.opened.record
  }
}

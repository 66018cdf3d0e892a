// SPDX-License-Identifier: Apache-2.0
//
// What a backup has to know of captures.

public import Storage

extension CaptureStore {
  /// Reads the keys now, because that is not possible within a transaction.
  /// - Returns: false when there are no captures yet.
  /// - Throws: `CaptureError.encryptionKeyNotFound`, `.locked`.
  public func prepareReading() throws -> Bool { try keysIfAny() != nil }

  /// The blobs of all captures that this transaction sees, after ``prepareReading()``.
  /// - Throws: `CaptureError.corrupt` when the rows are not those that were stored.
  public func blobs(
    _ transaction: borrowing Transaction
  ) throws -> (captureCount: Int, names: [BlobName]) {
    let rows = try Self.rows(transaction, keys: keys())
    return (rows.count, rows.flatMap(\.record.blobs))
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// What synchronisation asks of the captures: what there is, its first parts and streams, and to take over what other
// devices did (Specs/captures.md, "Sharing"). Here a hidden capture is one like any other.

public import Primitives
public import Secrets
public import Storage

/// One line of a list of all captures.
public struct SharedRow: Sendable {
  /// The capture.
  public let id: CaptureID
  /// What the owner calls it.
  public let label: CaptureLabel
  /// Whether another device has removed it.
  public let isHidden: Bool
  /// Whether no part is remote.
  public let isWhole: Bool
  /// Bytes of all parts.
  public let byteCount: Int
  /// Where it is in the upload queue.
  public let upload: UploadStatus
}

/// A change that another device made.
public enum SharedChange: Sendable {
  /// A capture that is not here. Its large parts become remote, its upload *uploaded*.
  case insert(SharedCapture, CaptureLabel)
  /// Title, note and tags.
  case setLabel(CaptureID, CaptureLabel)
  /// A removal, or its end.
  case setHidden(CaptureID, Bool)
  /// The end of a capture, with all its parts.
  case erase(CaptureID)
}

extension CaptureStore {
  /// A digest of all records: another one whenever a capture was added, removed, relabelled, hidden, shown again, filled
  /// or released. No row is opened. Empty when there is no capture key, and so never was a capture.
  /// - Throws: `CaptureError.corrupt(nil)`, `.encryptionKeyNotFound`, `.locked`.
  public func recordsDigest() throws -> [UInt8] {
    guard let keys = try keysIfAny() else { return [] }
    return try file.read(.captures) { try CaptureState.load($0, keys: keys).digest }
  }

  /// Every capture, hidden ones as well, the oldest first.
  /// - Throws: `CaptureError.corrupt(nil)` when rows are missing or changed: what is not there then means nothing.
  public func sharedRows() throws -> [SharedRow] {
    guard let keys = try keysIfAny() else { return [] }
    return try file.read(.captures) { try Self.rows($0, keys: keys) }.map { row in
      SharedRow(
        id: row.id, label: row.record.label, isHidden: row.record.isHidden, isWhole: row.record.isWhole,
        byteCount: row.record.byteCount, upload: row.upload)
    }
  }

  /// The first part of a capture. It is checked as another device checks it, so that none is sent that all would refuse.
  /// - Throws: `CaptureError.notFound`, `.locked`; `.corrupt`, naming the part.
  public func shared(_ id: CaptureID) throws -> SharedCapture {
    let (row, keys) = try found(id, hidden: true)
    let parts = row.record.parts
    var writer = SecretWriter(
      byteCount: parts.reduce(SharedCapture.headByteCount) {
        $0 + SharedCapture.fieldsByteCount + ($1.isSmall ? $1.byteCount : 0)
      })
    writer.append(SharedCapture.head(id, created: row.record.created, partCount: parts.count))
    for entry in parts {
      writer.append(entry.fields)
      guard entry.isSmall else { continue }
      try open(entry, row, keys: keys) {
        writer.append($0)
        return true
      }
    }
    return try SharedCapture(checking: writer.finish())
  }

  /// Bytes of the stream of a capture, each chunk authenticated.
  ///
  /// - Parameters:
  ///   - id: the capture.
  ///   - range: within the stream's bytes, of which there are ``SharedCapture/streamByteCount``.
  /// - Throws: `CaptureError.elsewhere` when a part of the capture is remote; `.corrupt`, naming the part; `.notFound`.
  public func stream(of id: CaptureID, _ range: Range<Int>) throws -> SharedSecretBytes {
    let (row, keys) = try found(id, hidden: true)
    guard row.record.isWhole else { throw CaptureError.elsewhere }
    let large = row.record.largeParts
    precondition(
      range.lowerBound >= 0 && range.upperBound <= large.reduce(0) { $0 + $1.byteCount },
      "the range is within the stream")
    var bytes = SecretBytes(zeroed: range.count)
    var start = 0
    for entry in large {
      let wanted = range.clamped(to: start..<start + entry.byteCount)
      if !wanted.isEmpty {
        let chunk = (wanted.lowerBound - start) / PartCipher.chunkByteCount
        var place = start + chunk * PartCipher.chunkByteCount
        try bytes.withMutableBytes { bytes in
          try open(entry, row, keys: keys, fromChunk: chunk) { opened in
            let found = wanted.clamped(to: place..<place + opened.byteCount)
            bytes.copy(
              opened.extracting(found.lowerBound - place..<found.upperBound - place),
              to: found.lowerBound - range.lowerBound)
            place += opened.byteCount
            return place < wanted.upperBound
          }
        }
      }
      start += entry.byteCount
    }
    return SharedSecretBytes(bytes)
  }

  /// Reads or makes the keys and cleans up after a crash, because that is not possible within a transaction.
  /// - Throws: `CaptureError.encryptionKeyNotFound`, `.corrupt(nil)`, `.locked`; `StorageError.inUse`.
  public func prepareSharing() throws { _ = try prepareWriting() }

  /// Makes changes of other devices, in this order, within a transaction that is under way on another part of the file,
  /// after ``prepareSharing()``. If that transaction fails, call ``settleAfterFailure()``.
  ///
  /// - Returns: ``recordsDigest()`` after it; and the blobs to be removed once the transaction is committed.
  /// - Throws: `CaptureError.corrupt(nil)` for a capture that is already here, `.notFound` for one that is not,
  ///   `.labelTooLarge`, `.locked`. The transaction must then not be committed.
  public func apply(
    _ changes: [SharedChange], joining transaction: borrowing Transaction
  ) throws -> (digest: [UInt8], blobs: [BlobName]) {
    let keys = try keysInMemory()
    return try file.join(.captures, transaction) { transaction in
      var state = try CaptureState.load(transaction, keys: keys)
      var blobs: [BlobName] = []
      for change in changes {
        switch change {
        case .insert(let capture, let label):
          try insert(capture, label, &state, transaction, keys: keys)
        case .setLabel(let id, let label):
          try label.checkBounds()
          let row = try Self.sealedRow(of: id, transaction, keys: keys, hidden: true, state: state)
          // Texts of different bytes may be equal.
          guard row.opened.record.label.bytes != label.bytes else { continue }
          var record = row.opened.record
          record.label = label
          try Self.replace(row, with: record, &state, transaction, keys: keys)
        case .setHidden(let id, let isHidden):
          let row = try Self.sealedRow(of: id, transaction, keys: keys, hidden: true, state: state)
          guard row.opened.record.isHidden != isHidden else { continue }
          var record = row.opened.record
          record.isHidden = isHidden
          try Self.replace(row, with: record, &state, transaction, keys: keys)
        case .erase(let id):
          let row = try Self.sealedRow(of: id, transaction, keys: keys, hidden: true, state: state)
          try Self.delete(row, &state, transaction, keys: keys)
          blobs += row.opened.record.blobs
        }
      }
      try state.save(transaction, keys: keys)
      return (state.digest, blobs)
    }
  }

  private func insert(
    _ capture: SharedCapture, _ label: CaptureLabel, _ state: inout CaptureState,
    _ transaction: borrowing Transaction, keys: CaptureKeys
  ) throws {
    try label.checkBounds()
    guard try Self.sealedRowIfAny(of: capture.id, transaction, keys: keys) == nil else {
      throw CaptureError.corrupt(nil)
    }
    var sealing = CaptureSealing(
      id: capture.id, keys: keys, blobs: file.blobs, longest: PartEntry.rowByteCountLimit)
    for entry in capture.parts where entry.isSmall {
      try capture.withPart(entry) { try sealing.add(entry.part, PartSource(SecretBytes(copying: $0))) }
    }
    guard let photo = capture.parts.first else { throw CaptureError.corrupt(.photo) }
    try Self.insert(
      capture.id, CaptureRecord(created: capture.created, parts: capture.parts, label: label),
      mark: keys.mark(photoHash: photo.hash), upload: .received(clock.now()), rows: sealing.rows, &state,
      transaction, keys: keys)
  }

  /// Removes the blobs of captures that a committed transaction erased, and what the log still has of their rows.
  public func removeBlobs(_ names: [BlobName]) {
    for name in names { file.blobs.remove(name) }
    _ = try? file.truncateLog()
  }

  /// Cleans up after a transaction that failed: it may still be in the log, and would appear after a crash.
  public func settleAfterFailure() { settle([]) }
}

extension CaptureState {
  /// count (8) ‖ sum (32)
  fileprivate var digest: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: Int64(captures.count))
    return bytes + captures.sum
  }
}

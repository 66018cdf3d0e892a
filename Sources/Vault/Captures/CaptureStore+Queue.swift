// SPDX-License-Identifier: Apache-2.0
//
// The upload queue. The uploader is the caller's: this module has no network code. An uploader in this process gets
// ciphertext only; another program reports what it does.

public import Foundation
internal import Logging
public import Primitives
internal import Secrets
internal import Storage

/// Sends a sealed capture somewhere.
public protocol CaptureUploader {
  /// - Throws: anything; the capture is tried again later.
  func upload(_ capture: SealedCapture) throws
}

/// A capture as it is stored: sealed.
public struct SealedCapture {
  /// The capture.
  public let id: CaptureID
  /// The sealed record, without which the parts are of no use.
  public let record: Data
  fileprivate let parts: [PartEntry]
  fileprivate let store: CaptureStore
  fileprivate let number: Int64

  /// Lends the sealed bytes of each part, piece by piece.
  /// - Throws: `CaptureError.elsewhere`, before the first one.
  public func forEachPart(_ body: (CapturePart, RawSpan) throws -> Void) throws {
    guard parts.allSatisfy({ $0.place != .remote }) else { throw CaptureError.elsewhere }
    for entry in parts { try store.withSealed(entry, number: number) { try body(entry.part, $0) } }
  }
}

extension CaptureStore {
  /// What one pass over the queue did.
  public struct UploadOutcome: Equatable, Sendable {
    /// Captures that were uploaded.
    public var uploaded = 0
    /// Captures whose upload failed, and is tried again later.
    public var postponed = 0
    /// Captures whose upload failed for the last time.
    public var failed = 0
    /// Uploaded long enough ago to be removed.
    public var removed = 0
  }

  /// Uploads everything that is due now, one after the other, and removes what was uploaded seven days ago.
  public func upload(with uploader: some CaptureUploader) throws -> UploadOutcome {
    let keys = try prepareWriting()
    var outcome = UploadOutcome()
    for row in try file.read(.captures, { try Self.scan($0, keys: keys).rows }) where !row.record.isHidden {
      var upload = row.upload
      if isRemovable(upload) {
        try remove(row.id)
        outcome.removed += 1
        continue
      }
      guard upload.isDue(clock.now()) else { continue }
      upload.begin(clock.now())
      try file.write(.captures) { try Self.save(upload, row.id, $0, keys: keys) }
      do {
        try uploader.upload(try sealed(row))
        upload.succeed()
        outcome.uploaded += 1
      } catch {
        upload.fail(clock.now(), jitter: clock.jitter())
        if upload.state == .failed { outcome.failed += 1 } else { outcome.postponed += 1 }
        Self.log.warning("an upload did not succeed")
      }
      try file.write(.captures) { try Self.save(upload, row.id, $0, keys: keys) }
    }
    return outcome
  }

  /// Lets the captures whose upload has failed wait again.
  /// - Returns: how many there were.
  public func retryFailedUploads() throws -> Int {
    let keys = try prepareWriting()
    let failed = try file.read(.captures) { try Self.scan($0, keys: keys).rows }.filter {
      $0.upload.state == .failed && !$0.record.isHidden
    }
    try file.write(.captures) { transaction in
      for row in failed {
        var upload = row.upload
        upload.retry()
        try Self.save(upload, row.id, transaction, keys: keys)
      }
    }
    return failed.count
  }

  /// Whether a capture with that status is to be uploaded now.
  public func isDue(_ upload: UploadStatus) -> Bool { upload.isDue(clock.now()) }

  /// Takes over the report of another program that uploads: it begins, has succeeded or has failed; `.pending` lets the
  /// capture wait again, without any attempts.
  ///
  /// - Returns: the new status.
  /// - Throws: `CaptureError.uploadNotDue` for a beginning that is not due, or a failure of a finished upload;
  ///   `.notFound`, `.corrupt`.
  @discardableResult
  public func report(_ state: UploadStatus.State, of id: CaptureID) throws -> UploadStatus {
    let keys = try prepareWriting()
    var upload = try find(id, keys: keys).upload
    // The time may have run out since this process wrote first.
    upload.recover(clock.now())
    try upload.report(state, clock.now(), jitter: clock.jitter())
    try file.write(.captures) { try Self.save(upload, id, $0, keys: keys) }
    return upload
  }

  /// Takes over what a synchronisation says of its uploads of several captures, in one transaction: one begins, which is
  /// always due; has succeeded; has failed, and may be tried again; or waits. Hidden captures have one, too; those that
  /// are gone are passed over.
  public func noteUploads(_ state: UploadStatus.State, of ids: Set<CaptureID>) throws {
    let keys = try prepareWriting()
    let now = clock.now()
    try file.write(.captures) { transaction in
      for id in ids {
        let row: Row
        do {
          guard let found = try Self.sealedRowIfAny(of: id, transaction, keys: keys) else { continue }
          row = found.opened
        } catch CaptureError.corrupt { continue }
        var upload = row.upload
        try upload.note(state, now, jitter: clock.jitter())
        if upload != row.upload { try Self.save(upload, id, transaction, keys: keys) }
      }
    }
  }

  /// The captures that were uploaded seven days ago or earlier, the oldest first.
  /// - Throws: `CaptureError.corrupt(nil)` when one was changed, removed or added.
  public func removableCaptures() throws -> [CaptureID] {
    try list().filter { isRemovable($0.upload) }.map(\.id).reversed()
  }

  /// The captures that a synchronisation uploaded seven days ago or earlier and that are here as a whole, the oldest first.
  /// - Throws: `CaptureError.corrupt(nil)` when one was changed, removed or added.
  public func releasableCaptures() throws -> [CaptureID] {
    try list().filter { $0.isWhole && $0.upload.releaseTime.map { $0 <= clock.now() } ?? false }.map(\.id)
      .reversed()
  }

  private func isRemovable(_ upload: UploadStatus) -> Bool {
    upload.removalTime.map { $0 <= clock.now() } ?? false
  }

  private func sealed(_ row: Row) throws -> SealedCapture {
    let record = try file.read(.captures) { transaction in
      try transaction.firstRow("SELECT record FROM captures WHERE number = ?", .integer(row.number)) {
        try $0.bytes(0)
      }
    }
    guard let record else { throw CaptureError.corrupt(nil) }
    return SealedCapture(
      id: row.id, record: record, parts: row.record.parts, store: self, number: row.number)
  }

  fileprivate func withSealed(_ entry: PartEntry, number: Int64, _ body: (RawSpan) throws -> Void) throws {
    switch entry.place {
    case .row:
      let sealed = try file.read(.captures) { transaction in
        try transaction.firstRow(
          "SELECT sealed FROM captureParts WHERE capture = ? AND part = ?", .integer(number),
          .integer(Int64(entry.part.rawValue))
        ) { try $0.bytes(0) }
      }
      guard let sealed else { throw CaptureError.corrupt(entry.part) }
      try body(sealed.bytes)
    case .remote: throw CaptureError.elsewhere
    case .blob(let name):
      var reader = try file.blobs.open(name)
      var piece = [UInt8](repeating: 0, count: PartCipher.chunkByteCount)
      while true {
        let count: Int
        do {
          var span = piece.mutableSpan
          var output = unsafe span.mutableBytes
          count = try reader.read(into: &output)
        }
        if count == 0 { break }
        try body(piece.rawSpan.extracting(first: count))
      }
    }
  }
}

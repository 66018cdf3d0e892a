// SPDX-License-Identifier: Apache-2.0
//
// Adding and removing captures. Blobs are on the disk before the row that names them. A failure leaves nothing;
// a crash can leave blobs, which the next writer removes.

internal import Foundation
public import Primitives
internal import Secrets
public import Storage
internal import Synchronization

/// A capture to be stored.
public struct NewCapture {
  /// The photo or film.
  public var photo: PartSource
  /// The depth map.
  public var depth: PartSource?
  /// A JSON object.
  public var metadata: PartSource?
  /// A small JPEG.
  public var thumbnail: PartSource?
  /// What the owner calls it.
  public var label = CaptureLabel()
  /// Whether a photo that is already stored may be stored again.
  public var allowsDuplicate = false

  /// A capture of these parts.
  public init(photo: PartSource, depth: PartSource? = nil, metadata: PartSource? = nil) {
    self.photo = photo
    self.depth = depth
    self.metadata = metadata
  }
}

extension CaptureStore {
  /// The result of adding a capture.
  public struct Added: Equatable, Sendable {
    /// The new capture.
    public let id: CaptureID
    /// Bytes of all parts of all captures that are on this device.
    public let storedByteCount: Int

    /// Whether to warn the user that captures take up much space.
    public var isStorageWarningDue: Bool { storedByteCount >= CaptureStore.warningByteCount }
  }

  /// Seals a capture, signs its parts, and stores it. When this returns, it is on the disk.
  ///
  /// - Parameters:
  ///   - capture: its parts.
  ///   - signer: signs the manifest.
  ///   - alongside: what else is written in the same transaction. What it throws undoes all of it.
  /// - Throws: `CaptureError.duplicate`, `.tooLarge`, `.labelTooLarge`, `.cannotRead`, `.malformedMetadata`,
  ///   `.encryptionKeyNotFound`, `.locked`; what `signer` throws; `StorageError.full`.
  public func add(
    _ capture: NewCapture, signer: any CaptureSigner,
    alongside: (borrowing Transaction) throws -> Void = { _ in }
  ) throws -> Added {
    // One at a time: otherwise the cleanup could remove a blob that no row names yet, and the same photo added
    // twice at once would not be noticed.
    try adding.withLock { _ in try addAlone(capture, signer, alongside) }
  }

  private func addAlone(
    _ capture: NewCapture, _ signer: any CaptureSigner, _ alongside: (borrowing Transaction) throws -> Void
  ) throws -> Added {
    try capture.label.checkBounds()
    let keys = try prepareWriting()
    let id = CaptureID()
    let created = clock.now()
    var sealing = CaptureSealing(id: id, keys: keys, blobs: file.blobs)
    var isCommitting = false
    do {
      try sealing.add(.photo, capture.photo)
      let mark = keys.mark(photoHash: sealing.entries[0].hash)
      if !capture.allowsDuplicate, let former = try find(mark: mark, keys: keys) {
        throw CaptureError.duplicate(of: former)
      }
      if let depth = capture.depth { try sealing.add(.depth, depth) }
      if let metadata = capture.metadata { try sealing.addMetadata(metadata) }
      if let thumbnail = capture.thumbnail { try sealing.add(.thumbnail, thumbnail) }
      let told = CaptureManifest(id, created: created, signer: signer, parts: sealing.entries)
      let manifest = told.bytes
      // A manifest that could not be read again would make the capture worthless.
      guard CaptureManifest(manifest) == told else { throw CaptureError.badSignature }
      let signature = try signer.sign(digest: SHA256.hash(manifest.rawSpan))
      try sealing.add(.manifest, bytes: manifest)
      try sealing.add(.assertion, bytes: signer.publicKey + signature)
      let record = sealing.record(created, capture.label)
      if !record.blobs.isEmpty { try file.blobs.synchronise() }
      isCommitting = true
      let byteCount = try insert(id, record, mark: mark, rows: sealing.rows, keys: keys, alongside)
      return Added(id: id, storedByteCount: byteCount)
    } catch {
      // The blobs may be removed only when it is certain that no row names them.
      discard(sealing.blobNames, mayBeNamed: isCommitting)
      throw error
    }
  }

  /// Removes a capture with all its parts.
  ///
  /// - Parameters:
  ///   - id: the capture.
  ///   - alongside: what else is written in the same transaction. What it throws undoes all of it.
  public func remove(
    _ id: CaptureID, alongside: (borrowing Transaction) throws -> Void = { _ in }
  ) throws {
    let keys = try prepareWriting()
    let blobs = try file.write(.captures) { transaction in
      let row = try Self.sealedRow(of: id, transaction, keys: keys)
      var state = try CaptureState.load(transaction, keys: keys)
      try Self.delete(row, &state, transaction, keys: keys)
      try state.save(transaction, keys: keys)
      try alongside(transaction)
      return row.opened.record.blobs
    }
    removeBlobs(blobs)
  }

  /// The first capture whose photo has this mark; one that does not open counts, hidden ones do not.
  private func find(mark: [UInt8], keys: CaptureKeys) throws -> CaptureID? {
    try file.read(.captures) { transaction in
      var found: CaptureID?
      try transaction.forEachRow(
        "SELECT number, id, mark, record, queue FROM captures WHERE mark = ? ORDER BY number",
        .bytes(Data(mark))
      ) { row in
        do { if try Self.row(row, keys: keys).record.isHidden { return true } } catch CaptureError.corrupt {}
        found = try row.withBytes(1) { CaptureID($0) }
        return found == nil
      }
      return found
    }
  }

  /// - Returns: bytes of all parts of all captures that are on this device.
  private func insert(
    _ id: CaptureID, _ record: CaptureRecord, mark: [UInt8], rows: [(CapturePart, [UInt8])],
    keys: CaptureKeys, _ alongside: (borrowing Transaction) throws -> Void
  ) throws -> Int {
    try file.write(.captures) { transaction in
      // Another writer may have removed them, if somebody has deleted our lock file.
      guard try file.blobs.contain(record.blobs) else { throw StorageError.inUse }
      var state = try CaptureState.load(transaction, keys: keys)
      try Self.insert(
        id, record, mark: mark, upload: UploadStatus(), rows: rows, &state, transaction, keys: keys)
      try state.save(transaction, keys: keys)
      try alongside(transaction)
      return state.byteCount
    }
  }
}

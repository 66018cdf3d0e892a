// SPDX-License-Identifier: Apache-2.0
//
// Large parts come to this device, and leave it (Specs/captures.md, "Sharing"). Blobs are on the disk before the record
// that names them, and are removed after the record that does not.

public import Primitives
public import Secrets
internal import Storage
internal import Synchronization

extension CaptureStore {
  /// Makes a capture whole: seals the parts of its stream, and names them in its record once all have the hashes of the
  /// record. Until then, and after a failure, the capture is as it was. Does nothing when it is whole.
  ///
  /// - Parameters:
  ///   - id: the capture, which may be hidden.
  ///   - piece: gives the stream in order, in pieces of any length; nil at its end. What it throws ends the work.
  /// - Throws: `CaptureError.corrupt`, naming the part, when the stream is not the capture's; `.notFound`, `.locked`;
  ///   `StorageError.full`, `.inUse`.
  public func fill(_ id: CaptureID, from piece: () throws -> SharedSecretBytes?) throws {
    // One at a time, as captures are added.
    try adding.withLock { _ in
      try withoutActuallyEscaping(piece) { try fillAlone(id, PieceReader($0)) }
    }
  }

  private func fillAlone(_ id: CaptureID, _ stream: PieceReader) throws {
    let keys = try prepareWriting()
    let record = try find(id, keys: keys, hidden: true).record
    guard !record.isWhole else { return }
    var sealing = CaptureSealing(id: id, keys: keys, blobs: file.blobs)
    var isCommitting = false
    do {
      for entry in record.largeParts { try sealing.add(entry, of: stream) }
      guard try stream.isAtEnd() else { throw CaptureError.corrupt(record.largeParts.last?.part) }
      try file.blobs.synchronise()
      isCommitting = true
      try file.write(.captures) { transaction in
        // Another writer may have removed them, if somebody has deleted our lock file.
        guard try file.blobs.contain(sealing.blobNames) else { throw StorageError.inUse }
        _ = try change(id, transaction, keys: keys) { former in
          guard let sealed = sealing.entries.first(where: { $0.part == former.part }) else { return }
          former.place = sealed.place
        }
      }
    } catch {
      discard(sealing.blobNames, mayBeNamed: isCommitting)
      throw error
    }
  }

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
  private func change(
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

extension CaptureSealing {
  /// Seals the next part of a stream.
  /// - Throws: `CaptureError.corrupt`, naming the part, when these are not its bytes.
  fileprivate mutating func add(_ entry: PartEntry, of stream: PieceReader) throws {
    let source = PartSource(stream, byteCount: entry.byteCount)
    do {
      entry.part == .metadata ? try addMetadata(source) : try add(entry.part, source)
    } catch CaptureError.cannotRead, CaptureError.malformedMetadata {
      throw CaptureError.corrupt(entry.part)
    }
    guard entries.last?.hash == entry.hash else { throw CaptureError.corrupt(entry.part) }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Captures of which large parts come to this device: their blobs are written one after the other, and several captures are
// named in one transaction, since each waits for the disk some times.

internal import Logging
public import Primitives
public import Secrets
internal import Storage
internal import Synchronization

/// Captures that are being made whole. Until a transaction names their parts, they are as they were. Other processes write
/// meanwhile: the writer's lock is taken when parts are named.
public struct CaptureFilling: ~Copyable {
  private struct Sealed {
    let entries: [PartEntry]
    let claims: [BlobClaim]
  }

  private let store: CaptureStore
  private let keys: CaptureKeys
  /// What is sealed and not named yet.
  private var sealed: [CaptureID: Sealed] = [:]
  private var byteCount = 0

  /// Bytes of parts, and captures, after which parts are named. A blob has an open file until then.
  private static let byteCountLimit = 64 << 20
  private static let countLimit = 32

  fileprivate init(_ store: CaptureStore) throws {
    self.store = store
    keys = try store.file.withWriting(tries: 60) { try store.prepareWriting() }
  }

  /// Seals the parts of a capture's stream. Does nothing when it is whole. Call ``nameIfDue()`` after it.
  ///
  /// - Parameters:
  ///   - id: the capture, which may be hidden.
  ///   - piece: gives the stream in order, in pieces of any length; nil at its end. What it throws ends the work.
  /// - Throws: `CaptureError.corrupt`, naming the part, when the stream is not the capture's; `.notFound`, `.locked`;
  ///   `StorageError.full`, `.inUse`. The others that were added stay.
  public mutating func add(_ id: CaptureID, from piece: () throws -> SharedSecretBytes?) throws {
    guard sealed[id] == nil else { return }
    try withoutActuallyEscaping(piece) { try add(id, PieceReader($0)) }
  }

  /// Names what is sealed, if that is much: until then it is lost when the process ends.
  /// - Throws: `StorageError.full`, `.inUse`; `CaptureError.corrupt`, `.locked`. Nothing of what was to be named stays.
  public mutating func nameIfDue() throws {
    if byteCount >= Self.byteCountLimit || sealed.count >= Self.countLimit { try nameParts() }
  }

  private mutating func add(_ id: CaptureID, _ stream: PieceReader) throws {
    let record = try store.find(id, keys: keys, hidden: true).record
    guard !record.isWhole else { return }
    var sealing = CaptureSealing(id: id, keys: keys, blobs: store.file.blobs)
    do {
      for entry in record.largeParts { try sealing.add(entry, of: stream) }
      guard try stream.isAtEnd() else { throw CaptureError.corrupt(record.largeParts.last?.part) }
    } catch {
      store.discard(sealing.blobNames, mayBeNamed: false)
      throw error
    }
    sealed[id] = Sealed(entries: sealing.entries, claims: sealing.claims)
    byteCount += sealing.entries.reduce(0) { $0 + $1.byteCount }
  }

  /// Names what is sealed. A capture that another process removed meanwhile, or made whole, stays as that left it.
  fileprivate mutating func nameParts() throws {
    guard !sealed.isEmpty else { return }
    let filled = sealed
    (sealed, byteCount) = ([:], 0)
    let blobs = filled.values.flatMap(\.entries.blobs)
    // Until they are named, the blobs are claimed.
    defer { withExtendedLifetime(filled) {} }
    var isNaming = false
    do {
      try store.file.blobs.synchronise()
      try store.file.withWriting(tries: 60) {
        do {
          isNaming = true
          let named = try name(filled)
          for name in blobs where !named.contains(name) { store.file.blobs.remove(name) }
        } catch {
          // While others cannot write.
          store.discard(blobs, mayBeNamed: true)
          throw error
        }
      }
    } catch {
      if !isNaming { store.discard(blobs, mayBeNamed: false) }
      throw error
    }
  }

  /// - Returns: the blobs that are named now.
  private func name(_ filled: [CaptureID: Sealed]) throws -> Set<BlobName> {
    try store.file.write(.captures) { transaction in
      // Another writer may have removed them, if somebody has deleted our lock file.
      guard try store.file.blobs.contain(filled.values.flatMap(\.entries.blobs)) else {
        throw StorageError.inUse
      }
      var named: Set<BlobName> = []
      for (id, sealed) in filled {
        do {
          _ = try store.change(id, transaction, keys: keys) { former in
            // Another process may have taken another capture in under this id meanwhile.
            guard former.place == .remote,
              let part = sealed.entries.first(where: {
                ($0.part, $0.hash, $0.byteCount) == (former.part, former.hash, former.byteCount)
              })
            else { return }
            former.place = part.place
            named.formUnion([part].blobs)
          }
        } catch CaptureError.notFound {}
      }
      return named
    }
  }
}

extension CaptureStore {
  /// Makes captures whole: those that `body` adds, each once all of its parts have the hashes of its record. Those that were
  /// added before an error stay.
  ///
  /// - Throws: what `body` throws; `StorageError.full`, `.inUse`.
  public func filling<R>(_ body: (inout CaptureFilling) throws -> R) throws -> R {
    // One at a time, as captures are added.
    try adding.withLock { _ in
      var filling = try CaptureFilling(self)
      let result: R
      do { result = try body(&filling) } catch {
        do { try filling.nameParts() } catch {
          // The first error says more; the captures are as they were.
          Self.log.error("parts that had come are not kept")
        }
        throw error
      }
      try filling.nameParts()
      return result
    }
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

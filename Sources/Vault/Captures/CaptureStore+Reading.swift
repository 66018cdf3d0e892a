// SPDX-License-Identifier: Apache-2.0
//
// Listing, opening and verifying captures.

internal import Foundation
internal import Keychains
public import Primitives
internal import Secrets
internal import Storage

extension CaptureStore {
  /// One line of a list.
  public struct Summary: Equatable, Sendable {
    /// The capture.
    public let id: CaptureID
    /// Seconds since 1970, UTC.
    public let created: Int64
    /// Bytes of all parts.
    public let byteCount: Int
    /// Where it is in the upload queue.
    public let upload: UploadStatus
    /// What the owner calls it.
    public let label: CaptureLabel
    /// Whether all of its parts are on this device.
    public let isWhole: Bool
    /// Bytes of the parts that are on this device.
    public let storedByteCount: Int
  }

  /// The details of one capture that are known without opening the photo.
  public struct Info: Equatable, Sendable {
    /// One part of it.
    public struct Part: Equatable, Sendable {
      /// Which part.
      public let part: CapturePart
      /// Bytes of the plaintext.
      public let byteCount: Int
      /// SHA-256 of the plaintext, 64 hexadecimal digits.
      public let sha256: String
    }
    /// Its line in a list.
    public let summary: Summary
    /// All parts, in the order of their numbers.
    public let parts: [Part]
    /// What the device signed.
    public let manifest: CaptureManifest
    /// Whether the label is the present one. If captures were changed, removed or added behind the store's back, it may
    /// be an earlier one that was put back.
    public let isLabelCurrent: Bool
  }

  /// Who signed a capture.
  public enum Signer: String, Sendable {
    /// The key that this device is registered with now.
    case thisDevice = "this_device"
    /// A key that this device had before it was forgotten, or another device's.
    case formerDevice = "former_device"
  }

  /// All captures but hidden ones, the newest first.
  /// - Throws: `CaptureError.corrupt(nil)` when one was changed, removed or added; ``listing()`` then gives those
  ///   that are left.
  public func list() throws -> [Summary] {
    let listing = try listing()
    guard listing.isComplete else { throw CaptureError.corrupt(nil) }
    return listing.captures
  }

  /// The contents of the store, also when it is damaged.
  public struct Listing: Equatable, Sendable {
    /// The readable captures, newest first.
    public var captures: [Summary] = []
    /// Captures whose row is damaged.
    public var damaged: [CaptureID] = []
    /// Whether the captures are exactly those that were stored: none was changed, removed or added.
    public var isComplete = true
  }

  /// All readable captures, and whether these are all.
  public func listing() throws -> Listing {
    guard let keys = try keysIfAny() else { return Listing() }
    let scan = try file.read(.captures) { try Self.scan($0, keys: keys) }
    // By the recorded time, since a clock may have been set back. Within one second, the last added comes first, by its
    // identifier: a row's number says when it came to this device.
    let newestFirst = scan.rows.filter { !$0.record.isHidden }.sorted {
      ($0.record.created, $0.id) > ($1.record.created, $1.id)
    }
    return Listing(
      captures: newestFirst.map(Self.summary), damaged: scan.damaged, isComplete: scan.isComplete)
  }

  /// The line of one capture in a list.
  /// - Throws: `CaptureError.notFound`, `.corrupt`.
  public func summary(of id: CaptureID) throws -> Summary { Self.summary(try found(id).0) }

  /// The details of a capture.
  /// - Throws: `CaptureError.notFound`, `.corrupt`.
  public func info(_ id: CaptureID) throws -> Info {
    let (row, keys) = try found(id)
    let manifest = try manifest(row, keys: keys)
    let isComplete = try file.read(.captures) { try Self.scan($0, keys: keys).isComplete }
    return Info(
      summary: Self.summary(row),
      parts: row.record.parts.map {
        Info.Part(part: $0.part, byteCount: $0.byteCount, sha256: Hexadecimal.text($0.hash))
      }, manifest: manifest, isLabelCurrent: isComplete)
  }

  /// Lends a part's bytes to `body` in chunks, each of them authenticated. `body` returns false to stop.
  ///
  /// - Returns: false when the capture has no such part.
  /// - Throws: `CaptureError.corrupt` naming the part, after the chunks before the damage were lent; `.elsewhere`.
  @discardableResult
  public func withPart(
    _ part: CapturePart, of id: CaptureID, _ body: (RawSpan) throws -> Bool
  ) throws -> Bool {
    let (row, keys) = try found(id)
    guard let entry = row.record.entry(part) else { return false }
    try open(entry, row, keys: keys, body)
    return true
  }

  /// Opens every part, compares its hash, and checks the signature.
  ///
  /// - Parameters:
  ///   - id: the capture.
  ///   - isStopped: asked before each piece; true ends the work with `CaptureError.interrupted`.
  /// - Throws: `CaptureError.corrupt` naming the part; `.badSignature`; `.elsewhere`, if nothing is wrong with the parts
  ///   that are here.
  public func verify(
    _ id: CaptureID, isStopped: () -> Bool = { false }
  ) throws -> (manifest: CaptureManifest, signer: Signer) {
    let (row, keys) = try found(id)
    let verified = try verify(row, keys: keys, isStopped: isStopped)
    guard row.record.isWhole else { throw CaptureError.elsewhere }
    return verified
  }

  /// The same, for the parts that are here.
  func verify(
    _ row: Row, keys: CaptureKeys, isStopped: () -> Bool
  ) throws -> (manifest: CaptureManifest, signer: Signer) {
    let manifest = try manifest(row, keys: keys)
    for entry in row.record.parts where entry.place != .remote {
      try open(entry, row, keys: keys) { _ in
        if isStopped() { throw CaptureError.interrupted }
        return true
      }
    }
    let assertion = try small(.assertion, row, keys: keys)
    guard assertion.count > P256.publicKeyByteCount else { throw CaptureError.corrupt(.assertion) }
    guard manifest.isSigned(by: assertion) else { throw CaptureError.badSignature }
    let own = try keychain.loadDeviceState()?.attestationKeyId
    return (manifest, own == manifest.keyID ? .thisDevice : .formerDevice)
  }

  // MARK: Steps

  /// The keys; nil when there are no captures and never were.
  /// - Throws: `CaptureError.corrupt(nil)` for a key without a state; `.encryptionKeyNotFound`, `.locked`.
  func keysIfAny() throws -> CaptureKeys? {
    do {
      let keys = try keys()
      guard try hasState() else { throw CaptureError.corrupt(nil) }
      return keys
    } catch CaptureError.encryptionKeyNotFound {
      guard try isEmpty() else { throw CaptureError.encryptionKeyNotFound }
      return nil
    }
  }

  /// - Parameter hidden: whether a hidden capture is one, too.
  func found(_ id: CaptureID, hidden: Bool = false) throws -> (Row, CaptureKeys) {
    guard let keys = try keysIfAny() else { throw CaptureError.notFound }
    return (try find(id, keys: keys, hidden: hidden), keys)
  }

  static func summary(_ row: Row) -> Summary {
    Summary(
      id: row.id, created: row.record.created, byteCount: row.record.byteCount, upload: row.upload,
      label: row.record.label, isWhole: row.record.isWhole, storedByteCount: row.record.storedByteCount)
  }

  /// Opens a part and, if all of it was wanted, compares its hash with the record's.
  ///
  /// - Parameter chunk: the one to begin at, of a part in a blob; nil for all of them.
  /// - Throws: `CaptureError.corrupt`; `.elsewhere`, also when the capture was released meanwhile; `.notFound` when it was
  ///   removed meanwhile.
  func open(
    _ entry: PartEntry, _ row: Row, keys: CaptureKeys, fromChunk chunk: Int? = nil,
    _ body: (RawSpan) throws -> Bool
  ) throws {
    do { try openStored(entry, row, keys: keys, chunk, body) } catch CaptureError.corrupt(entry.part) {
      // Blobs are overwritten when no row names them any more.
      let now = try find(row.id, keys: keys, hidden: true)
      throw now.record.entry(entry.part) == entry ? CaptureError.corrupt(entry.part) : .elsewhere
    }
  }

  private func openStored(
    _ entry: PartEntry, _ row: Row, keys: CaptureKeys, _ chunk: Int?, _ body: (RawSpan) throws -> Bool
  ) throws {
    var cipher = PartCipher(key: keys.parts(row.id), id: row.id, longest: entry.byteCount)
    let hash: [UInt8]?
    switch entry.place {
    case .row:
      let sealed = try file.read(.captures) { transaction in
        try transaction.firstRow(
          "SELECT sealed FROM captureParts WHERE capture = ? AND part = ?", .integer(row.number),
          .integer(Int64(entry.part.rawValue))
        ) { try $0.bytes(0) }
      }
      guard let sealed, sealed.count == PartCipher.sealedByteCount(entry.byteCount) else {
        throw CaptureError.corrupt(entry.part)
      }
      var reader = DataReader(sealed)
      hash = try cipher.open(
        entry.part, byteCount: entry.byteCount, from: { reader.read(into: &$0) }, to: body)
    case .remote: throw CaptureError.elsewhere
    case .blob(let name):
      do {
        let reader = try file.blobs.open(name)
        var magic = [UInt8](repeating: 0, count: CaptureSealing.blobMagic.count)
        guard
          try reader.byteCount() == magic.count + PartCipher.sealedByteCount(entry.byteCount),
          try Self.read(reader, &magic) == magic.count, magic == CaptureSealing.blobMagic
        else { throw CaptureError.corrupt(entry.part) }
        var offset = magic.count + (chunk ?? 0) * (PartCipher.chunkByteCount + PartCipher.overheadByteCount)
        hash = try cipher.open(
          entry.part, byteCount: entry.byteCount, fromChunk: chunk,
          from: {
            let count = try reader.read(at: offset, into: &$0)
            offset += count
            return count
          }, to: body)
      } catch StorageError.corrupt {
        throw CaptureError.corrupt(entry.part)
      }
    }
    guard hash == nil || hash == entry.hash else { throw CaptureError.corrupt(entry.part) }
  }

  private static func read(_ reader: borrowing BlobFiles.Reader, _ bytes: inout [UInt8]) throws -> Int {
    var span = bytes.mutableSpan
    var output = unsafe span.mutableBytes
    return try reader.read(at: 0, into: &output)
  }

  /// A part that is not secret, as a whole.
  func small(_ part: CapturePart, _ row: Row, keys: CaptureKeys) throws -> [UInt8] {
    guard let entry = row.record.entry(part) else { throw CaptureError.corrupt(part) }
    var bytes: [UInt8] = []
    try open(entry, row, keys: keys) {
      bytes.append($0)
      return true
    }
    return bytes
  }

  /// The manifest, which must name this capture and these parts.
  func manifest(_ row: Row, keys: CaptureKeys) throws -> CaptureManifest {
    guard let manifest = CaptureManifest(try small(.manifest, row, keys: keys)),
      manifest.isOf(row.id, created: row.record.created, parts: row.record.parts)
    else { throw CaptureError.corrupt(.manifest) }
    return manifest
  }
}

extension CaptureStore {
  /// The fields that the camera wrote into the photo. They are read from its first chunk each time: the photo is
  /// signed, so a second copy of them would be of no use.
  ///
  /// - Returns: nil when the photo is not a JPEG file.
  /// - Throws: `CaptureError.notFound`, `.corrupt`, `.elsewhere`.
  public func exifFields(of id: CaptureID) throws -> ExifFields? {
    var fields: ExifFields?
    try withPart(.photo, of: id) { chunk in
      fields = ExifFields(photo: chunk)
      return false
    }
    return fields
  }
}

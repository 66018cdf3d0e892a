// SPDX-License-Identifier: Apache-2.0
//
// Seals the parts of one capture, into blobs or into bytes for rows.

internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Storage

struct CaptureSealing: ~Copyable {
  private(set) var entries: [PartEntry] = []
  /// Sealed parts that are small enough for a row.
  private(set) var rows: [(CapturePart, [UInt8])] = []
  /// Of the blobs.
  private(set) var claims: [BlobClaim] = []
  private var cipher: PartCipher
  private let blobs: BlobFiles

  static let blobMagic = Array("COFBLOB1".utf8)

  /// - Parameter longest: bytes of the longest part to be added.
  init(
    id: CaptureID, keys: CaptureKeys, blobs: BlobFiles, longest: Int = PartCipher.chunkByteCount
  ) {
    cipher = PartCipher(key: keys.parts(id), id: id, longest: longest)
    self.blobs = blobs
  }

  /// The blobs that were made.
  var blobNames: [BlobName] { entries.blobs }

  borrowing func record(_ created: Int64, _ label: CaptureLabel) -> CaptureRecord {
    CaptureRecord(created: created, parts: entries, label: label)
  }

  /// - Throws: `CaptureError.tooLarge`; `.cannotRead`, also when the file changed while it was read.
  mutating func add(_ part: CapturePart, _ source: PartSource) throws {
    let byteCount = source.byteCount
    guard byteCount <= part.byteCountLimit else {
      throw CaptureError.tooLarge(part, byteCountLimit: part.byteCountLimit)
    }
    let hash: [UInt8]
    let place: PartEntry.Place
    if byteCount <= PartEntry.rowByteCountLimit {
      var sealed: [UInt8] = []
      sealed.reserveCapacity(PartCipher.sealedByteCount(byteCount))
      hash = try cipher.seal(part, byteCount: byteCount, from: source.read) { sealed.append($0) }
      rows.append((part, sealed))
      place = .row
    } else {
      guard let name = BlobName(bytes: SystemRandom.publicBytes(count: BlobName.byteCount)) else {
        preconditionFailure("a name has as many bytes as a name has")
      }
      var writer = try blobs.create(name: name)
      try writer.write(Self.blobMagic.rawSpan)
      hash = try cipher.seal(part, byteCount: byteCount, from: source.read) { try writer.write($0) }
      claims.append(try writer.finish())
      place = .blob(name)
    }
    entries.append(PartEntry(part: part, byteCount: byteCount, hash: hash, place: place))
    guard source.isAtEnd else { throw CaptureError.cannotRead(part) }
  }

  mutating func add(_ part: CapturePart, bytes: [UInt8]) throws {
    try add(part, PartSource(SecretBytes(copying: bytes.rawSpan)))
  }

  /// Metadata is read as a whole, since it must be a JSON object.
  mutating func addMetadata(_ source: PartSource) throws {
    let limit = CapturePart.metadata.byteCountLimit
    guard source.byteCount <= limit else { throw CaptureError.tooLarge(.metadata, byteCountLimit: limit) }
    var bytes = SecretBytes(zeroed: source.byteCount)
    let count = try bytes.withMutableBytes { try source.read(into: &$0) }
    guard count == source.byteCount, source.isAtEnd else { throw CaptureError.cannotRead(.metadata) }
    guard bytes.withBytes({ JSONObject.isWellFormed($0) }) else { throw CaptureError.malformedMetadata }
    try add(.metadata, PartSource(bytes))
  }
}

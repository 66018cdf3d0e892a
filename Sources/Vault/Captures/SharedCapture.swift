// SPDX-License-Identifier: Apache-2.0
//
// The first part of a capture that travels to other devices (Specs/captures.md, "Sharing"). Whoever sent it may be a bad
// member of the account: there is no value of this type that was not checked as a whole.

internal import MessageFormats
public import Primitives
public import Secrets

/// A capture as other devices get it at once: everything but its label and its large parts.
public struct SharedCapture: Sendable {
  /// The capture.
  public let id: CaptureID
  /// Seconds since 1970, UTC.
  public let created: Int64
  /// version 1 (1) ‖ id (16) ‖ created (8) ‖ parts (1) ‖ for each: part (1) ‖ length (8) ‖ SHA-256 (32) ‖ the part's bytes
  /// if they are at most 65,536.
  public let bytes: SharedSecretBytes
  /// In the order of their numbers; the large ones are *remote*.
  let parts: [PartEntry]
  /// Where in ``bytes`` the small parts are.
  private let places: [CapturePart: Range<Int>]

  /// Bytes of all parts.
  public var byteCount: Int { parts.reduce(0) { $0 + $1.byteCount } }

  /// Bytes of the stream: of all parts of more than 65,536 bytes; 0 without one.
  public var streamByteCount: Int { parts.reduce(0) { $0 + ($1.isSmall ? 0 : $1.byteCount) } }

  /// Reads ``bytes``; nil for anything that is not exactly one capture: other lengths, order or limits than a record's;
  /// a part with another hash, metadata that is not a JSON object, a manifest that does not name exactly these parts, or
  /// an assertion that is not its signature.
  public init?(_ bytes: RawSpan) {
    guard bytes.byteCount <= Self.byteCountLimit else { return nil }
    do { try self.init(checking: SecretBytes(copying: bytes)) } catch { return nil }
  }

  /// Takes over ``bytes``.
  /// - Throws: `CaptureError.corrupt`, with the part if one is not what it must be.
  init(checking bytes: consuming SecretBytes) throws(CaptureError) {
    let fields = try bytes.withBytes { bytes throws(CaptureError) in try Fields(bytes) }
    (id, created, parts, places) = (fields.id, fields.created, fields.parts, fields.places)
    self.bytes = SharedSecretBytes(bytes)
  }

  /// Lends the bytes of a small part.
  func withPart<R>(_ entry: PartEntry, _ body: (RawSpan) throws -> R) throws -> R {
    guard let place = places[entry.part] else { throw CaptureError.elsewhere }
    return try bytes.withBytes { try body($0.extracting(place)) }
  }

  /// Before the first part: version, id, time and number.
  static func head(_ id: CaptureID, created: Int64, partCount: Int) -> [UInt8] {
    var bytes: [UInt8] = [1]
    id.withBytes { bytes.append($0) }
    bytes.append(bigEndian: created)
    bytes.append(UInt8(partCount))
    return bytes
  }

  /// Bytes of ``head(_:created:partCount:)``.
  static let headByteCount = 26
  /// Bytes of what a part has before its own.
  static let fieldsByteCount = 41
  /// More can no capture have.
  private static let byteCountLimit =
    headByteCount + CapturePart.allCases.count * (fieldsByteCount + PartEntry.rowByteCountLimit)

  /// What was read and checked.
  private struct Fields {
    let id: CaptureID
    let created: Int64
    private(set) var parts: [PartEntry] = []
    private(set) var places: [CapturePart: Range<Int>] = [:]

    init(_ bytes: RawSpan) throws(CaptureError) {
      var cursor = ByteCursor()
      do {
        guard try cursor.readByte(bytes) == 1,
          let id = CaptureID(
            bytes.extracting(try cursor.readRange(bytes, count: CaptureID.byteCount)))
        else { throw CaptureError.corrupt(nil) }
        self.id = id
        created = try cursor.readInt64(bytes)
        for _ in 0..<(try cursor.readByte(bytes)) {
          guard let entry = try PartEntry(bytes, &cursor, after: parts.last) else {
            throw CaptureError.corrupt(nil)
          }
          parts.append(entry)
          if entry.isSmall { places[entry.part] = try cursor.readRange(bytes, count: entry.byteCount) }
        }
      } catch {
        throw .corrupt(nil)
      }
      guard cursor.isAtEnd(of: bytes), CaptureRecord.requiredParts.isSubset(of: parts.map(\.part)) else {
        throw .corrupt(nil)
      }
      try check(bytes)
    }

    private func check(_ bytes: RawSpan) throws(CaptureError) {
      for entry in parts {
        guard let place = places[entry.part] else { continue }
        let part = bytes.extracting(place)
        guard SHA256.hash(part) == entry.hash, entry.part != .metadata || JSONObject.isWellFormed(part) else {
          throw .corrupt(entry.part)
        }
      }
      // Their limit is that of parts in rows.
      guard
        let manifest = places[.manifest].flatMap({ CaptureManifest(Array(copying: bytes.extracting($0))) }),
        manifest.isOf(id, created: created, parts: parts)
      else { throw .corrupt(.manifest) }
      guard let assertion = places[.assertion].map({ Array(copying: bytes.extracting($0)) }),
        manifest.isSigned(by: assertion)
      else { throw .corrupt(.assertion) }
    }
  }
}

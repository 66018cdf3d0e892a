// SPDX-License-Identifier: Apache-2.0
//
// The record of a capture, readable without opening its parts (Specs/captures.md, "Record"), and the state of its
// upload ("Queue"). Both are sealed values under the record key.

internal import Foundation
internal import Primitives
internal import Secrets
internal import Storage

/// One part in the record.
struct PartEntry: Equatable, Sendable {
  enum Place: Equatable, Sendable {
    case row
    case blob(BlobName)
    /// On other devices only.
    case remote
  }

  let part: CapturePart
  let byteCount: Int
  let hash: [UInt8]
  var place: Place

  static let rowByteCountLimit = 65_536

  /// Whether it is stored in a row, where it is stored.
  var isSmall: Bool { byteCount <= Self.rowByteCountLimit }

  /// part (1) ‖ length (8) ‖ SHA-256 (32)
  var fields: [UInt8] {
    var bytes: [UInt8] = [part.rawValue]
    bytes.append(bigEndian: UInt64(byteCount))
    return bytes + hash
  }

  /// Reads ``fields``; nil for a part that may not follow `former`, or is longer than it may be. The place of a large
  /// part is *remote* until the caller knows better.
  init?(_ bytes: RawSpan, _ cursor: inout ByteCursor, after former: PartEntry?) throws(TruncatedField) {
    guard let part = CapturePart(rawValue: try cursor.readByte(bytes)),
      former.map({ $0.part.rawValue < part.rawValue }) ?? true
    else { return nil }
    let count = Int(try cursor.readInt64(bytes))
    guard (0...part.byteCountLimit).contains(count) else { return nil }
    let hash = try cursor.readBytes(bytes, count: SHA256.byteCount)
    self.init(
      part: part, byteCount: count, hash: hash,
      place: count <= Self.rowByteCountLimit ? .row : .remote)
  }

  init(part: CapturePart, byteCount: Int, hash: [UInt8], place: Place) {
    (self.part, self.byteCount, self.hash, self.place) = (part, byteCount, hash, place)
  }
}

struct CaptureRecord: Equatable, Sendable {
  /// Seconds since 1970, UTC.
  let created: Int64
  /// In the order of their numbers.
  var parts: [PartEntry]
  var label: CaptureLabel
  /// Whether another device has removed it.
  var isHidden = false

  func entry(_ part: CapturePart) -> PartEntry? { parts.first { $0.part == part } }

  var byteCount: Int { parts.reduce(0) { $0 + $1.byteCount } }

  /// Bytes of the parts that are on this device.
  var storedByteCount: Int { parts.reduce(0) { $0 + ($1.place == .remote ? 0 : $1.byteCount) } }

  /// Whether no part is remote.
  var isWhole: Bool { parts.allSatisfy { $0.place != .remote } }

  /// The parts that are stored in rows, in the order of their numbers.
  var partsInRows: [CapturePart] { parts.filter { $0.place == .row }.map(\.part) }

  /// The parts that are too long for rows, in the order of their numbers: those of the stream.
  var largeParts: [PartEntry] { parts.filter { !$0.isSmall } }

  /// The parts that every capture has.
  static let requiredParts: Set<CapturePart> = [.photo, .manifest, .assertion]

  static let markByteCount = 32

  func sealed(_ id: CaptureID, mark: [UInt8], key: SharedSecretBytes) -> [UInt8] {
    var sealer = SealedValue()
    return key.withBytes { sealer.seal(bytes.rawSpan, key: $0, context: Self.context(id, mark)) }
  }

  /// As it is sealed.
  var bytes: [UInt8] {
    var bytes: [UInt8] = isHidden || !isWhole ? [2, isHidden ? 1 : 0] : [1]
    bytes.append(bigEndian: created)
    bytes.append(UInt8(parts.count))
    for part in parts {
      bytes += part.fields
      switch part.place {
      case .row: bytes.append(0)
      case .blob(let name): bytes += [1] + name.bytes
      case .remote: bytes.append(2)
      }
    }
    return bytes + label.bytes
  }

  /// - Throws: `CaptureError.corrupt(nil)`
  init(sealed: RawSpan, _ id: CaptureID, mark: [UInt8], key: SharedSecretBytes) throws(CaptureError) {
    guard mark.count == Self.markByteCount,
      let record = SealedValue.read(sealed, key: key, context: Self.context(id, mark), { Self(bytes: $0) })
    else { throw .corrupt(nil) }
    self = record
  }

  init(created: Int64, parts: [PartEntry], label: CaptureLabel = CaptureLabel()) {
    self.created = created
    self.parts = parts
    self.label = label
  }

  /// Reads ``bytes``; nil for anything else.
  init?(bytes: RawSpan) {
    var cursor = ByteCursor()
    do {
      let version = try cursor.readByte(bytes)
      switch version {
      case 1: break
      case 2:
        let flags = try cursor.readByte(bytes)
        guard flags <= 1 else { return nil }
        isHidden = flags == 1
      default: return nil
      }
      created = try cursor.readInt64(bytes)
      parts = []
      for _ in 0..<(try cursor.readByte(bytes)) {
        guard var entry = try PartEntry(bytes, &cursor, after: parts.last) else { return nil }
        switch try cursor.readByte(bytes) {
        case 0: entry.place = .row
        case 1:
          guard let name = BlobName(bytes: try cursor.readBytes(bytes, count: BlobName.byteCount)) else {
            return nil
          }
          entry.place = .blob(name)
        case 2: entry.place = .remote
        default: return nil
        }
        guard (entry.place == .row) == entry.isSmall else { return nil }
        parts.append(entry)
      }
      guard let label = try CaptureLabel(bytes, &cursor) else { return nil }
      self.label = label
      guard cursor.isAtEnd(of: bytes), Self.requiredParts.isSubset(of: parts.map(\.part)),
        version == (isHidden || !isWhole ? 2 : 1)
      else { return nil }
    } catch {
      return nil
    }
  }

  private static func context(_ id: CaptureID, _ mark: [UInt8]) -> [UInt8] {
    contextBytes("coffer capture v1 record", id) + mark
  }
}

/// label ‖ id
func contextBytes(_ label: StaticString, _ id: CaptureID) -> [UInt8] {
  var bytes: [UInt8] = []
  label.withRawSpan { bytes.append($0) }
  id.withBytes { bytes.append($0) }
  return bytes
}

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
  }

  let part: CapturePart
  let byteCount: Int
  let hash: [UInt8]
  let place: Place

  static let rowByteCountLimit = 65_536
}

struct CaptureRecord: Equatable, Sendable {
  /// Seconds since 1970, UTC.
  let created: Int64
  /// In the order of their numbers.
  let parts: [PartEntry]
  var label: CaptureLabel

  func entry(_ part: CapturePart) -> PartEntry? { parts.first { $0.part == part } }

  var byteCount: Int { parts.reduce(0) { $0 + $1.byteCount } }

  /// The parts that are stored in rows, in the order of their numbers.
  var partsInRows: [CapturePart] { parts.filter { $0.place == .row }.map(\.part) }

  static let markByteCount = 32

  func sealed(_ id: CaptureID, mark: [UInt8], key: SharedSecretBytes) -> [UInt8] {
    var bytes: [UInt8] = [1]
    bytes.append(bigEndian: created)
    bytes.append(UInt8(parts.count))
    for part in parts {
      bytes.append(part.part.rawValue)
      bytes.append(bigEndian: UInt64(part.byteCount))
      bytes += part.hash
      switch part.place {
      case .row: bytes.append(0)
      case .blob(let name): bytes += [1] + name.bytes
      }
    }
    bytes += label.bytes
    var sealer = SealedValue()
    return key.withBytes { sealer.seal(bytes.rawSpan, key: $0, context: Self.context(id, mark)) }
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

  private init?(bytes: RawSpan) {
    var cursor = ByteCursor()
    do {
      guard try cursor.readByte(bytes) == 1 else { return nil }
      created = try cursor.readInt64(bytes)
      var parts: [PartEntry] = []
      for _ in 0..<(try cursor.readByte(bytes)) {
        guard let part = CapturePart(rawValue: try cursor.readByte(bytes)),
          parts.last.map({ $0.part.rawValue < part.rawValue }) ?? true
        else { return nil }
        let count = Int(try cursor.readInt64(bytes))
        guard (0...part.byteCountLimit).contains(count) else { return nil }
        let hash = try cursor.readBytes(bytes, count: SHA256.byteCount)
        let place: PartEntry.Place
        switch try cursor.readByte(bytes) {
        case 0: place = .row
        case 1:
          guard let name = BlobName(bytes: try cursor.readBytes(bytes, count: BlobName.byteCount)) else {
            return nil
          }
          place = .blob(name)
        default: return nil
        }
        guard (place == .row) == (count <= PartEntry.rowByteCountLimit) else { return nil }
        parts.append(PartEntry(part: part, byteCount: count, hash: hash, place: place))
      }
      guard let label = try CaptureLabel(bytes, &cursor) else { return nil }
      self.label = label
      let found = Set(parts.map(\.part))
      guard cursor.isAtEnd(of: bytes), found.isSuperset(of: [.photo, .manifest, .assertion]) else {
        return nil
      }
      self.parts = parts
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

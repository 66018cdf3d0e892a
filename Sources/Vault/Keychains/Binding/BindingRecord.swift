// SPDX-License-Identifier: Apache-2.0
//
// Which state of each part of the coffer's file was stored last (Specs/binding.md, "Row"):
//
//   version 1 (1) ‖ revision (8) ‖ count (1) ‖ count × (part (1) ‖ digest (32))
//   ‖ counter: length (2, 0 for none) ‖ handle ‖ value (8) ‖ time (8)

internal import Primitives
internal import Secrets
internal import Storage

/// A counter in a chip, and its value when it was last counted up.
public struct CounterMark: Equatable, Sendable {
  /// The chip's reference to the counter.
  public var handle: [UInt8]
  /// The counter's value after it was counted up.
  public var value: UInt64
  /// When it was counted up; seconds since 1970, UTC.
  public var time: Int64

  /// A mark for the counter with this handle.
  public init(handle: [UInt8], value: UInt64, time: Int64) {
    self.handle = handle
    self.value = value
    self.time = time
  }
}

/// The content of the binding record.
struct BindingRecord: Equatable {
  /// Counts the changes, from 1.
  var revision: UInt64
  /// SHA-256 over the anchors of each part; a part without rows has none.
  var digests: [BoundPart: [UInt8]]
  var counter: CounterMark?

  var bytes: [UInt8] {
    var bytes: [UInt8] = [1]
    bytes.append(bigEndian: revision)
    bytes.append(UInt8(digests.count))
    for part in BoundPart.allCases {
      guard let digest = digests[part] else { continue }
      bytes.append(part.rawValue)
      bytes += digest
    }
    bytes.append(bigEndian: UInt16(counter?.handle.count ?? 0))
    bytes += counter?.handle ?? []
    bytes.append(bigEndian: counter?.value ?? 0)
    bytes.append(bigEndian: counter?.time ?? 0)
    return bytes
  }

  init(revision: UInt64, digests: [BoundPart: [UInt8]]) {
    self.revision = revision
    self.digests = digests
  }

  /// Nil for anything but the bytes of a record.
  init?(_ bytes: RawSpan) {
    var cursor = ByteCursor()
    do {
      guard try cursor.readByte(bytes) == 1 else { return nil }
      revision = UInt64(bitPattern: try cursor.readInt64(bytes))
      digests = [:]
      var last: UInt8 = 0
      for _ in 0..<(try cursor.readByte(bytes)) {
        guard let part = BoundPart(rawValue: try cursor.readByte(bytes)), part.rawValue > last else {
          return nil
        }
        digests[part] = try cursor.readBytes(bytes, count: SHA256.byteCount)
        last = part.rawValue
      }
      let handle = try cursor.readBytes(bytes, count: try cursor.readUInt16(bytes))
      let value = UInt64(bitPattern: try cursor.readInt64(bytes))
      let time = try cursor.readInt64(bytes)
      counter = handle.isEmpty ? nil : CounterMark(handle: handle, value: value, time: time)
      guard cursor.isAtEnd(of: bytes) else { return nil }
    } catch { return nil }
  }
}

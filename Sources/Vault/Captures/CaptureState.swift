// SPDX-License-Identifier: Apache-2.0
//
// The count and the digest of all captures, sealed in one row and changed with them (Specs/captures.md,
// "State").

internal import Foundation
internal import Primitives
internal import Secrets
internal import Storage

struct CaptureState: Equatable {
  var revision: Int64 = 0
  var captures = SetDigest()
  /// Bytes of all parts that are on this device.
  var byteCount = 0

  private static let context = Array("coffer capture v1 state".utf8)

  init() {}

  /// - Throws: `CaptureError.corrupt(nil)` when the row is gone or not what was sealed.
  static func load(_ transaction: borrowing Transaction, keys: CaptureKeys) throws -> CaptureState {
    let state = try transaction.firstRow("SELECT sealed FROM captureState") { row in
      try row.withBytes(0) { sealed throws(CaptureError) -> CaptureState in
        guard
          let state = SealedValue.read(
            sealed, key: keys.record, context: context, { CaptureState(bytes: $0) })
        else { throw .corrupt(nil) }
        return state
      }
    }
    guard let state else { throw CaptureError.corrupt(nil) }
    return state
  }

  mutating func save(_ transaction: borrowing Transaction, keys: CaptureKeys) throws {
    revision += 1
    var bytes: [UInt8] = [1]
    bytes.append(bigEndian: revision)
    bytes.append(bigEndian: Int64(captures.count))
    bytes += captures.sum
    bytes.append(bigEndian: Int64(byteCount))
    var sealer = SealedValue()
    let sealed = keys.record.withBytes {
      sealer.seal(bytes.rawSpan, key: $0, context: Self.context)
    }
    try transaction.execute(
      "INSERT INTO captureState (only, sealed) VALUES (1, ?) ON CONFLICT DO UPDATE SET sealed = excluded.sealed",
      .bytes(Data(sealed)))
  }

  /// id ‖ SHA-256 of the sealed record
  static func member(_ id: CaptureID, sealedRecord: RawSpan) -> [UInt8] {
    var bytes: [UInt8] = []
    id.withBytes { bytes.append($0) }
    return bytes + SHA256.hash(sealedRecord)
  }

  private init?(bytes: RawSpan) {
    var cursor = ByteCursor()
    do {
      guard try cursor.readByte(bytes) == 1 else { return nil }
      revision = try cursor.readInt64(bytes)
      let count = Int(try cursor.readInt64(bytes))
      captures = SetDigest(count: count, sum: try cursor.readBytes(bytes, count: SetDigest.sumByteCount))
      byteCount = Int(try cursor.readInt64(bytes))
      guard cursor.isAtEnd(of: bytes) else { return nil }
    } catch {
      return nil
    }
  }
}

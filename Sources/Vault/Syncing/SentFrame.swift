// SPDX-License-Identifier: Apache-2.0
//
// A version of a message as it is sent (Specs/local-history.md, "Contents"):
//
//   version 1 (1) ‖ row (16) ‖ frame (Specs/vault.md, "Frame")
//
// cut into parts of 8,126,464 bytes. The row is in it so that a version has the same name on every device: later versions
// name the rows that they replace.

internal import Histories
internal import Primitives
internal import Secrets
internal import Vaults

/// A version of a message with the name of its row.
struct SentFrame: Sendable {
  let row: MessageID
  let frame: SharedSecretBytes

  /// Bytes of a part; the last one has the rest. A pack has room for two.
  static let partByteCount = 31 << 18

  private static let version: UInt8 = 1
  private static let headByteCount = 1 + MessageID.byteCount

  /// How many parts are sent.
  static func partCount(of frame: RawSpan) -> Int {
    (headByteCount + frame.byteCount + partByteCount - 1) / partByteCount
  }

  /// A part of the bytes that are sent, from 0.
  static func part(_ number: Int, row: MessageID, frame: RawSpan) -> SharedSecretBytes {
    let start = number * partByteCount
    let end = min(start + partByteCount, headByteCount + frame.byteCount)
    var writer = SecretWriter(byteCount: end - start)
    if number == 0 {
      writer.append([version])
      row.withBytes { writer.append($0) }
    }
    writer.append(frame.extracting(max(0, start - headByteCount)..<end - headByteCount))
    return SharedSecretBytes(writer.finish())
  }

  /// The first part, and the hashes of all.
  static func parts(row: MessageID, frame: RawSpan) -> (first: SharedSecretBytes, hashes: [FrameHash]) {
    let first = part(0, row: row, frame: frame)
    // One part is in memory at a time.
    let further = (1..<partCount(of: frame)).map { FrameHash(hashing: part($0, row: row, frame: frame)) }
    return (first, [FrameHash(hashing: first)] + further)
  }

  /// Reads what was sent, in all of its parts; nil for anything else. Who sent it was a member, and may be a bad one.
  init?(_ parts: [SharedSecretBytes]) {
    // Cut otherwise, it could not be sent again under the same hashes.
    guard let last = parts.last, parts.dropLast().allSatisfy({ $0.count == Self.partByteCount }),
      1...Self.partByteCount ~= last.count, parts[0].count > Self.headByteCount
    else { return nil }
    let row = parts[0].withBytes { bytes -> MessageID? in
      guard unsafe bytes.unsafeLoad(as: UInt8.self) == Self.version else { return nil }
      return MessageID(bytes.extracting(1..<Self.headByteCount))
    }
    guard let row else { return nil }
    self.row = row
    var writer = SecretWriter(byteCount: parts.reduce(0) { $0 + $1.count } - Self.headByteCount)
    for (number, part) in parts.enumerated() {
      part.withBytes { writer.append($0.extracting(droppingFirst: number == 0 ? Self.headByteCount : 0)) }
    }
    frame = SharedSecretBytes(writer.finish())
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// A version of a message as it is sent (Specs/local-history.md, "Contents"):
//
//   version 1 (1) ‖ row (16) ‖ frame (Specs/vault.md, "Frame")
//
// The row is in it so that a version has the same name on every device: later versions name the rows that they replace.

internal import Primitives
internal import Secrets
internal import Vaults

/// A version of a message with the name of its row.
struct SentFrame: Sendable {
  let row: MessageID
  let frame: SharedSecretBytes

  private static let version: UInt8 = 1
  private static let headByteCount = 1 + MessageID.byteCount

  /// The bytes that are sent.
  static func bytes(row: MessageID, frame: RawSpan) -> SharedSecretBytes {
    var writer = SecretWriter(byteCount: headByteCount + frame.byteCount)
    writer.append([version])
    row.withBytes { writer.append($0) }
    writer.append(frame)
    return SharedSecretBytes(writer.finish())
  }

  /// Reads what was sent; nil for anything else. Who sent it was a member, and may be a bad one.
  init?(_ sent: SharedSecretBytes) {
    let read = sent.withBytes { bytes -> (MessageID, SharedSecretBytes)? in
      guard bytes.byteCount > Self.headByteCount, unsafe bytes.unsafeLoad(as: UInt8.self) == Self.version,
        let row = MessageID(bytes.extracting(1..<Self.headByteCount))
      else { return nil }
      return (
        row, SharedSecretBytes(SecretBytes(copying: bytes.extracting(droppingFirst: Self.headByteCount)))
      )
    }
    guard let read else { return nil }
    (row, frame) = read
  }
}

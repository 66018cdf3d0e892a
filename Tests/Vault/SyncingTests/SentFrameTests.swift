// SPDX-License-Identifier: Apache-2.0
//
// Where the content of a message is cut, and what is no content of a message.

import Histories
import Primitives
import Secrets
import Testing
import Vaults

@testable import Syncing

@Suite("Contents of messages as they are sent")
struct SentFrameTests {
  private static let head = 1 + MessageID.byteCount
  private let row = MessageID()

  /// All parts of a frame of so many bytes, and the frame.
  private func sent(_ byteCount: Int) -> (parts: [SharedSecretBytes], frame: SharedSecretBytes) {
    var bytes = SecretBytes(zeroed: byteCount)
    bytes.withMutableBytes { bytes in
      for offset in stride(from: 0, to: byteCount, by: 4_099) {
        bytes.copy([UInt8(truncatingIfNeeded: offset / 4_099)].rawSpan, to: offset)
      }
    }
    let frame = SharedSecretBytes(bytes)
    let parts = frame.withBytes { frame in
      (0..<SentFrame.partCount(of: frame)).map { SentFrame.part($0, row: row, frame: frame) }
    }
    return (parts, frame)
  }

  private func copy(_ bytes: SharedSecretBytes, _ range: Range<Int>) -> SharedSecretBytes {
    SharedSecretBytes(bytes.withBytes { SecretBytes(copying: $0.extracting(range)) })
  }

  private func areEqual(_ one: SharedSecretBytes, _ other: SharedSecretBytes) -> Bool {
    FrameHash(hashing: one) == FrameHash(hashing: other) && one.count == other.count
  }

  @Test(
    "A frame comes back as it was, whole or in parts",
    arguments: [
      (1, 1), (SentFrame.partByteCount - 17, 1), (SentFrame.partByteCount - 16, 2),
      (2 * SentFrame.partByteCount - 17, 2), (2 * SentFrame.partByteCount + 5, 3),
    ])
  func roundTrip(byteCount: Int, partCount: Int) throws {
    let (parts, frame) = sent(byteCount)
    #expect(parts.count == partCount && parts.dropLast().allSatisfy { $0.count == SentFrame.partByteCount })
    let read = try #require(SentFrame(parts))
    #expect(read.row == row && areEqual(read.frame, frame))
    let (first, hashes) = frame.withBytes { SentFrame.parts(row: row, frame: $0) }
    #expect(areEqual(first, parts[0]) && hashes == parts.map { FrameHash(hashing: $0) })
  }

  @Test("What is cut at other places, is too short or has another version is no content of a message")
  func refused() {
    let (parts, _) = sent(SentFrame.partByteCount + 100)
    #expect(parts.count == 2 && SentFrame(parts) != nil)
    let (one, two) = (parts[0], parts[1])
    #expect(SentFrame([]) == nil)
    #expect(SentFrame([one, one, copy(two, 0..<0)]) == nil)
    #expect(SentFrame([copy(one, 0..<one.count - 1), two]) == nil)
    #expect(SentFrame([two, one]) == nil)
    #expect(SentFrame([copy(one, 0..<Self.head)]) == nil)
    // An identifier begins with a time, whose first byte happens to be the version.
    #expect(SentFrame([copy(one, 2..<100)]) == nil)
    // In one part, more than a part has.
    #expect(SentFrame([SharedSecretBytes(SecretBytes(zeroed: SentFrame.partByteCount + 1))]) == nil)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// A buffer in which a message is framed and sealed where it stands: room for the nonce, the frame, room
// for the tag. It is used again from message to message and grows to the largest; plaintext that passes
// through it never reaches the heap.

internal import MessageFormats
internal import Primitives
internal import Secrets

struct MessageBox: ~Copyable {
  private var buffer: SecretBytes
  /// Bytes of the buffer that are in use: nonce, frame and tag.
  private(set) var count = 0

  init() { buffer = SecretBytes(zeroed: 4096) }

  /// Lays a frame into the box.
  mutating func setFrame(_ metadata: MessageMetadata, _ content: RawSpan) throws(VaultError) {
    guard content.byteCount <= MessageLimits.messageByteCount else {
      throw .messageTooLarge(limit: MessageLimits.messageByteCount)
    }
    guard MessageFrame.accepts(metadata) else { throw .metadataOutOfBounds }
    let frameCount = MessageFrame.byteCount(metadata, contentByteCount: content.byteCount)
    reserve(frameCount)
    withFrame { MessageFrame.write(metadata, content, to: &$0) }
  }

  /// Makes the box large enough for a frame of `frameByteCount` bytes.
  mutating func reserve(_ frameByteCount: Int) {
    count = frameByteCount + MessageCipher.overheadByteCount
    if count > buffer.count {
      buffer = SecretBytes(zeroed: max(count, min(2 * buffer.count, MessageLimits.messageByteCount)))
    }
  }

  /// Lends the room of the frame.
  mutating func withFrame<R, E: Error>(_ body: (inout MutableRawSpan) throws(E) -> R) throws(E) -> R {
    let range = AES256GCM.nonceByteCount..<count - AES256GCM.tagByteCount
    return try buffer.withMutableBytes { buffer throws(E) in
      var frame = buffer._mutatingExtracting(range)
      return try body(&frame)
    }
  }

  /// Lends the whole box for sealing.
  mutating func withMutableBytes<R, E: Error>(
    _ body: (inout MutableRawSpan) throws(E) -> R
  ) throws(E) -> R {
    let used = count
    return try buffer.withMutableBytes { buffer throws(E) in
      var box = buffer._mutatingExtracting(first: used)
      return try body(&box)
    }
  }

  /// Lends the whole box.
  borrowing func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    let used = count
    return try buffer.withBytes { buffer throws(E) in try body(buffer.extracting(first: used)) }
  }

  /// Lends the frame.
  borrowing func withFrame<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    let range = AES256GCM.nonceByteCount..<count - AES256GCM.tagByteCount
    return try buffer.withBytes { buffer throws(E) in try body(buffer.extracting(range)) }
  }
}

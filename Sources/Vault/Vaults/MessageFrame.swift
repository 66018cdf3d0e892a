// SPDX-License-Identifier: Apache-2.0
//
// The plaintext of a message: metadata and content in one frame (Specs/vault.md, "Frame"):
//
//   version 1 (1) ‖ date (8) ‖ type (2+n) ‖ title (2+n) ‖ tag count (2) ‖ tags (2+n each) ‖ content
//
// and for a message that was edited, instead of the version:
//
//   version 2 (1) ‖ message (16) ‖ number (4) ‖ count (2) ‖ replaced (16 each)

internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Texts

enum MessageFrame {
  private static let firstVersion: UInt8 = 1
  private static let editedVersion: UInt8 = 2

  /// Whether the fields are within the limits of every format in `MessageFormats`, so that each stored message can be
  /// exported.
  static func accepts(_ metadata: MessageMetadata) -> Bool {
    metadata.contentType.utf8.count <= MessageLimits.contentTypeByteCount
      && metadata.title.utf8.count <= MessageLimits.titleByteCount
      && metadata.tags.count <= MessageLimits.tagCount
      && metadata.tags.allSatisfy { $0.utf8.count <= MessageLimits.tagByteCount }
      && CivilTime.representable.contains(metadata.date)
  }

  static func byteCount(
    _ metadata: MessageMetadata, edition: FrameEdition? = nil, contentByteCount: Int
  ) -> Int {
    15 + (edition?.byteCount ?? 0) + metadata.contentType.utf8.count + metadata.title.utf8.count
      + metadata.tags.reduce(0) { $0 + 2 + $1.utf8.count } + contentByteCount
  }

  /// Writes a frame to the start of `output`, which is long enough.
  static func write(
    _ metadata: MessageMetadata, edition: FrameEdition? = nil, _ content: RawSpan,
    to output: inout MutableRawSpan
  ) {
    var offset = 0
    func put(_ value: some FixedWidthInteger & BitwiseCopyable, _ output: inout MutableRawSpan) {
      output.storeBytes(of: value.bigEndian, toByteOffset: offset, as: type(of: value))
      offset += value.bitWidth / 8
    }
    func put(_ text: String, _ output: inout MutableRawSpan) {
      put(UInt16(text.utf8.count), &output)
      unsafe output.copy(text.utf8Span.span.bytes, to: offset)
      offset += text.utf8.count
    }
    func put(_ id: MessageID, _ output: inout MutableRawSpan) {
      id.withBytes { output.copy($0, to: offset) }
      offset += MessageID.byteCount
    }
    put(edition == nil ? firstVersion : editedVersion, &output)
    if let edition {
      put(edition.message, &output)
      put(UInt32(edition.number), &output)
      put(UInt16(edition.replaced.count), &output)
      for id in edition.replaced { put(id, &output) }
    }
    put(metadata.date, &output)
    put(metadata.contentType, &output)
    put(metadata.title, &output)
    put(UInt16(metadata.tags.count), &output)
    for tag in metadata.tags { put(tag, &output) }
    output.copy(content, to: offset)
  }

  /// A frame that was read.
  struct Reading {
    let metadata: MessageMetadata
    /// Nil for the first version of a message.
    let edition: FrameEdition?
    let contentOffset: Int
  }

  /// Reads a frame.
  /// - Returns: nil when this is not a frame.
  static func read(_ bytes: RawSpan) -> Reading? {
    var cursor = ByteCursor()
    do {
      var edition: FrameEdition?
      switch try cursor.readByte(bytes) {
      case firstVersion: break
      case editedVersion:
        edition = try self.edition(bytes, &cursor)
        if edition == nil { return nil }
      default: return nil
      }
      let date = try cursor.readInt64(bytes)
      guard let type = try text(bytes, &cursor), let title = try text(bytes, &cursor) else { return nil }
      let tagCount = try cursor.readUInt16(bytes)
      guard tagCount <= MessageLimits.tagCount else { return nil }
      var tags: [String] = []
      for _ in 0..<tagCount {
        guard let tag = try text(bytes, &cursor) else { return nil }
        tags.append(tag)
      }
      return Reading(
        metadata: MessageMetadata(title: title, tags: tags, contentType: type, date: date),
        edition: edition, contentOffset: cursor.offset)
    } catch {
      return nil
    }
  }

  private static func edition(
    _ bytes: RawSpan, _ cursor: inout ByteCursor
  ) throws(TruncatedField) -> FrameEdition? {
    func id() throws(TruncatedField) -> MessageID? {
      MessageID(bytes.extracting(try cursor.readRange(bytes, count: MessageID.byteCount)))
    }
    guard let message = try id() else { return nil }
    let number = try cursor.readUInt32(bytes)
    let count = try cursor.readUInt16(bytes)
    guard number >= 2, 1...FrameEdition.replacedLimit ~= count else { return nil }
    var replaced: [MessageID] = []
    for _ in 0..<count {
      guard let id = try id() else { return nil }
      replaced.append(id)
    }
    return FrameEdition(message: message, number: number, replaced: replaced)
  }

  private static func text(_ bytes: RawSpan, _ cursor: inout ByteCursor) throws(TruncatedField) -> String? {
    let count = try cursor.readUInt16(bytes)
    let range = try cursor.readRange(bytes, count: count)
    return unsafe bytes.extracting(range).withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
  }
}

/// A buffer in which a message is framed and sealed in place: nonce, frame, tag. It is reused from message to message
/// and grows to the largest. The plaintext in it never reaches the heap.
struct MessageBox: ~Copyable {
  private var buffer: SecretBytes
  /// Bytes of the buffer that are in use: nonce, frame and tag.
  private(set) var count = 0

  init() { buffer = SecretBytes(zeroed: 4096) }

  /// Writes a frame into the box.
  mutating func setFrame(
    _ metadata: MessageMetadata, edition: FrameEdition? = nil, _ content: RawSpan
  ) throws(VaultError) {
    guard content.byteCount <= MessageLimits.messageByteCount else {
      throw .messageTooLarge(limit: MessageLimits.messageByteCount)
    }
    guard MessageFrame.accepts(metadata) else { throw .metadataOutOfBounds }
    let frameCount = MessageFrame.byteCount(metadata, edition: edition, contentByteCount: content.byteCount)
    reserve(frameCount)
    withFrame { MessageFrame.write(metadata, edition: edition, content, to: &$0) }
  }

  /// Makes the box large enough for a frame of `frameByteCount` bytes.
  mutating func reserve(_ frameByteCount: Int) {
    count = frameByteCount + MessageCipher.overheadByteCount
    if count > buffer.count {
      buffer = SecretBytes(zeroed: max(count, min(2 * buffer.count, MessageLimits.messageByteCount)))
    }
  }

  /// Lends the part of the box for the frame.
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

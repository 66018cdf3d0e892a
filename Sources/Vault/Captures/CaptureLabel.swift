// SPDX-License-Identifier: Apache-2.0
//
// What the owner calls a capture: a part of its sealed record (Specs/captures.md, "Record"), and no part of what the
// device signs.

internal import Primitives
internal import Secrets

/// Title, note and tags of a capture.
public struct CaptureLabel: Equatable, Sendable {
  /// One line for lists; may be empty.
  public var title: String
  /// Text of any number of lines; may be empty.
  public var note: String
  /// In the owner's order; may be empty.
  public var tags: [String]

  /// A label; without any of these an empty one.
  public init(title: String = "", note: String = "", tags: [String] = []) {
    (self.title, self.note, self.tags) = (title, note, tags)
  }

  /// Bytes of the longest title, as of messages.
  public static let titleByteCountLimit = 16 << 10
  /// Bytes of the longest tag, as of messages.
  public static let tagByteCountLimit = 1 << 10
  /// The number of tags is one byte.
  public static let tagCountLimit = 255
  /// Bytes of all of it as they are sealed: every list opens every record.
  public static let byteCountLimit = 65_536

  /// - Throws: `CaptureError.labelTooLarge`
  func checkBounds() throws(CaptureError) {
    guard title.utf8.count <= Self.titleByteCountLimit, tags.count <= Self.tagCountLimit,
      tags.allSatisfy({ $0.utf8.count <= Self.tagByteCountLimit }), bytes.count <= Self.byteCountLimit
    else { throw .labelTooLarge(byteCountLimit: Self.byteCountLimit) }
  }

  /// As it is sealed: title length (2) ‖ title ‖ note length (4) ‖ note ‖ tags (1) ‖ for each: length (2) ‖ tag.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: title.utf8.count))
    bytes += title.utf8
    bytes.append(bigEndian: UInt32(truncatingIfNeeded: note.utf8.count))
    bytes += note.utf8
    bytes.append(UInt8(truncatingIfNeeded: tags.count))
    for tag in tags {
      bytes.append(bigEndian: UInt16(truncatingIfNeeded: tag.utf8.count))
      bytes += tag.utf8
    }
    return bytes
  }

  /// Reads ``bytes``; nil for anything that is not exactly one label within the limits.
  public init?(_ bytes: RawSpan) {
    var cursor = ByteCursor()
    do {
      guard let label = try Self(bytes, &cursor), cursor.isAtEnd(of: bytes) else { return nil }
      self = label
    } catch {
      return nil
    }
  }

  /// Reads a label; nil for text that is not UTF-8, or lengths beyond the limits.
  init?(_ bytes: RawSpan, _ cursor: inout ByteCursor) throws(TruncatedField) {
    func text(_ count: Int, limit: Int) throws(TruncatedField) -> String? {
      guard count <= limit else { return nil }
      return String(validating: try cursor.readBytes(bytes, count: count), as: UTF8.self)
    }
    let start = cursor.offset
    guard let title = try text(cursor.readUInt16(bytes), limit: Self.titleByteCountLimit),
      let note = try text(cursor.readUInt32(bytes), limit: Self.byteCountLimit)
    else { return nil }
    var tags: [String] = []
    for _ in 0..<(try cursor.readByte(bytes)) {
      guard let tag = try text(cursor.readUInt16(bytes), limit: Self.tagByteCountLimit) else { return nil }
      tags.append(tag)
    }
    guard cursor.offset - start <= Self.byteCountLimit else { return nil }
    self.init(title: title, note: note, tags: tags)
  }
}

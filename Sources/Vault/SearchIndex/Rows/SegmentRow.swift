// SPDX-License-Identifier: Apache-2.0
//
// What lists show of a message, as a segment has it (Specs/search-index.md, "Rows").

public import MessageFormats
public import Primitives

/// A row of a segment. Its texts are lent; what is kept of them is copied by the reader of this.
@safe
public struct SegmentRow: ~Copyable {
  /// Its place in the segment, in the order of row numbers.
  public let ordinal: UInt32
  /// Of the row.
  public var number: Int64 { fields.number }
  /// Of the row.
  public var id: RecordID { fields.id }
  /// When the row was stored.
  public var timestamp: Int64 { fields.timestamp }
  /// The date of the message; 0 if it did not open.
  public var date: Int64 { fields.date }
  /// Bytes of the content.
  public var contentByteCount: Int { fields.contentByteCount }
  /// A mail.
  public var isMail: Bool { fields.flags.contains(.mail) }
  /// Content of a type `text/…`.
  public var isText: Bool { fields.flags.contains(.text) }
  /// What `has:attachment` finds.
  public var hasAttachment: Bool { fields.flags.contains(.attachment) }
  /// Title, tags, type or sender are longer than what is here.
  public var isCut: Bool { fields.flags.contains(.cut) }
  /// The message did not open when it was indexed: there are number, identifier and timestamp only.
  public var isUnreadable: Bool { fields.flags.contains(.unreadable) }

  let fields: RowFields
  /// Of the group.
  private let bytes: UnsafeRawBufferPointer
  private let texts: [Range<Int>]

  /// What a row is, in a byte.
  struct Flags: OptionSet {
    let rawValue: UInt8
    static let mail = Flags(rawValue: 1)
    static let text = Flags(rawValue: 2)
    static let attachment = Flags(rawValue: 4)
    static let cut = Flags(rawValue: 8)
    /// Not all words are in the index.
    static let partial = Flags(rawValue: 16)
    static let unreadable = Flags(rawValue: 32)
    static let all = Flags(rawValue: 63)
  }

  /// - Parameter bytes: of the group; they live longer than this.
  @unsafe init(ordinal: Int, _ fields: RowFields, _ bytes: UnsafeRawBufferPointer, _ texts: [Range<Int>]) {
    self.ordinal = UInt32(ordinal)
    self.fields = fields
    unsafe self.bytes = unsafe bytes
    self.texts = texts
  }

  /// Lends the title.
  public func withTitle<R>(_ body: (RawSpan) throws -> R) rethrows -> R { try lend(fields.title, body) }

  /// Lends the media type with its parameters.
  public func withContentType<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try lend(text(fields.type), body)
  }

  /// Lends the sender of a mail, decoded; empty for none.
  public func withSender<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try lend(text(fields.sender), body)
  }

  /// Lends each tag.
  public func forEachTag(_ body: (RawSpan) throws -> Void) rethrows {
    for tag in fields.tags { try lend(texts[tag], body) }
  }

  /// The title.
  public var title: String { withTitle { $0.text } }
  /// The media type with its parameters.
  public var contentType: String { withContentType { $0.text } }
  /// The From header of a mail; empty for none.
  public var sender: String { withSender { $0.text } }
  /// The tags.
  public var tags: [String] {
    var tags: [String] = []
    forEachTag { tags.append($0.text) }
    return tags
  }
  /// Exact unless ``isCut``.
  public var metadata: MessageMetadata {
    MessageMetadata(title: title, tags: tags, contentType: contentType, date: date)
  }

  /// Exact unless ``isCut``.
  public var details: MessageDetails {
    MessageDetails(from: sender, hasAttachment: hasAttachment, byteCount: contentByteCount)
  }

  private func text(_ index: Int?) -> Range<Int> { index.map { texts[$0] } ?? 0..<0 }

  private func lend<R>(_ range: Range<Int>, _ body: (RawSpan) throws -> R) rethrows -> R {
    // The ranges were checked when the group was read.
    let span = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: bytes[range]))
    return try body(span)
  }
}

/// The numbers of a row, and where its texts are in its group.
struct RowFields {
  var number: Int64 = 0
  var id: RecordID
  var timestamp: Int64 = 0
  var date: Int64 = 0
  var contentByteCount = 0
  var flags: SegmentRow.Flags = []
  /// Bytes of the group.
  var title = 0..<0
  /// Texts of the group.
  var type: Int?
  var sender: Int?
  var tags: [Int] = []
}

extension RawSpan {
  /// For people; on the ordinary heap, as all metadata is.
  fileprivate var text: String { unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
}

// SPDX-License-Identifier: Apache-2.0
//
// The metadata that every format of this module stores with a message.

internal import Texts

/// Title, tags, media type and date of a message.
public struct MessageMetadata: Sendable, Equatable {
  /// One line for lists; for mail the decoded subject. May be empty.
  public var title: String
  /// Labels in the owner's order; may be empty.
  public var tags: [String]
  /// A media type (RFC 2045 section 5), for instance `message/rfc822` or `text/plain; charset=utf-8`.
  public var contentType: String
  /// Seconds since 1970-01-01T00:00:00Z.
  public var date: Int64

  /// The metadata of a message with content of this type; the date 0 is 1970-01-01T00:00:00Z.
  public init(title: String = "", tags: [String] = [], contentType: String, date: Int64 = 0) {
    self.title = title
    self.tags = tags
    self.contentType = contentType
    self.date = date
  }

  /// The type of a mail with its headers (RFC 5322).
  public static let mailType = "message/rfc822"
  /// The type of a note.
  public static let noteType = "text/plain; charset=utf-8"
  /// The type of other content.
  public static let binaryType = "application/octet-stream"

  /// Whether the content is a mail with headers.
  public var isMail: Bool { hasMediaType("message/rfc822") }
  /// Whether the content is text of any kind.
  public var isText: Bool { hasMediaType("text/") }

  /// Whether it is neither a mail nor text, and so what `has:attachment` finds.
  public var isFile: Bool { !isMail && !isText }

  /// The type without its parameters, in lower case.
  package var mediaType: String {
    let type = unsafe contentType.utf8Span.span.bytes
    let end = type.firstOffset(of: ASCII.semicolon, in: type.whole) ?? type.byteCount
    return type.string(type.trimmed(0..<end)).lowercased()
  }

  /// `name` in lower case; it ends where the type ends, at a parameter, or in a slash.
  private func hasMediaType(_ name: StaticString) -> Bool {
    let type = unsafe contentType.utf8Span.span.bytes
    guard type.matches(name, at: 0, ignoringCase: true) else { return false }
    let end = name.utf8CodeUnitCount
    guard name.lastByte != ASCII.slash, end < type.byteCount else { return true }
    return type.byte(end) == ASCII.semicolon || type.byte(end) == ASCII.space
  }

  /// Whether every format of this module can carry these values.
  func checkBounds() throws(MessageFormatError) {
    guard title.utf8.count <= MessageLimits.titleByteCount else { throw .metadataOutOfBounds("title") }
    guard tags.count <= MessageLimits.tagCount else { throw .metadataOutOfBounds("number of tags") }
    for tag in tags where tag.utf8.count > MessageLimits.tagByteCount { throw .metadataOutOfBounds("tag") }
    guard contentType.utf8.count <= MessageLimits.contentTypeByteCount else {
      throw .metadataOutOfBounds("content type")
    }
    guard CivilTime.representable.contains(date) else { throw .metadataOutOfBounds("date") }
  }
}

extension MessageMetadata {
  /// The media type of a file: a text type if the content is text; otherwise the type for the ending of the
  /// name, or ``binaryType``.
  public static func contentType(ofFileNamed name: String, _ content: RawSpan) -> String {
    FileTypes.contentType(ofName: name, content)
  }

  /// Whether the content is text for every reader: UTF-8 without NUL. Empty content is text.
  public static func isText(_ content: RawSpan) -> Bool {
    content.validUTF8End(in: content.whole) == content.byteCount
      && content.firstOffset(of: 0, in: content.whole) == nil
  }

  /// The metadata of a mail: its subject and its date, 0 if it has none.
  public static func ofMail(_ mail: RawSpan, tags: [String] = []) -> MessageMetadata {
    var summary = MailSummary()
    return summary.metadata(of: mail, tags: tags, fallbackDate: nil)
  }
}

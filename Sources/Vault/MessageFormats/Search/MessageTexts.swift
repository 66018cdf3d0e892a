// SPDX-License-Identifier: Apache-2.0
//
// Which texts a message has (Specs/search.md, "Finding"): one walk for the search in a message and for the index. And
// where long texts are cut for folding, so that both fold the same pieces.

/// Hands out the texts of messages, one message after the other.
package struct MessageTexts: ~Copyable, Sendable {
  /// What a text is of a message.
  package enum Kind: Sendable {
    /// The title as lists show it.
    case title
    /// One tag.
    case tag
    /// The subject of a mail.
    case subject
    /// The From header of a mail.
    case sender
    /// The To or the Cc header of a mail.
    case recipients
    /// The name of an attachment of a mail; empty if it has none.
    case attachment
    /// A text part of a mail, or the content.
    case content
  }

  private var reader = MIMEReader()

  package init() {}

  /// Hands the texts of a message to `body`, headers before the rest, until it answers false.
  ///
  /// The texts of a mail are its subject, sender, recipients, text parts and names of attachments; that of `text/…` is
  /// the content, and so is any other content that is text, whatever its type says.
  package mutating func read(
    _ metadata: MessageMetadata, _ content: RawSpan, _ body: (Kind, RawSpan) -> Bool
  ) {
    guard unsafe body(.title, metadata.title.utf8Span.span.bytes) else { return }
    for tag in metadata.tags {
      guard unsafe body(.tag, tag.utf8Span.span.bytes) else { return }
    }
    if metadata.isMail {
      reader.read(content) { item, text in Self.kind(of: item).map { body($0, text) } ?? true }
    } else if metadata.isText {
      reader.readText(content, contentType: metadata.contentType) { _ = body(.content, $0) }
    } else if MessageMetadata.isText(content) {
      _ = body(.content, content)
    }
  }

  private static func kind(of item: MIMEReader.Item) -> Kind? {
    switch item {
    case .subject: .subject
    case .from: .sender
    case .to, .cc: .recipients
    case .attachment: .attachment
    case .text: .content
    case .unknownCharset: nil
    }
  }

  // MARK: Pieces

  /// One piece of a long text: stays in the processor's cache.
  static let pieceByteCount = 64 << 10

  /// Where the piece of a text that begins at `offset` ends; the end of the text for the last.
  static func pieceEnd(_ text: RawSpan, from offset: Int) -> Int {
    guard text.byteCount - offset > pieceByteCount else { return text.byteCount }
    var end = offset + pieceByteCount
    // Before an ASCII character nothing combines.
    while end > offset + pieceByteCount / 2, text.byte(end) >= 0x80 { end -= 1 }
    if end > offset + pieceByteCount / 2 { return end }
    end = offset + pieceByteCount
    let start = end
    while end > start - 3, text.byte(end) & 0xC0 == 0x80 { end -= 1 }
    return end
  }
}

// SPDX-License-Identifier: Apache-2.0

extension MessageMetadata {
  /// The media type of a file: a text type if the content is text; otherwise the type for the ending of the
  /// name, or ``MessageMetadata/binaryType``.
  public static func contentType(ofFileNamed name: String, _ content: RawSpan) -> String {
    FileTypes.contentType(ofName: name, content)
  }

  /// Whether the content is text forevery reader: UTF-8 without NUL. No bytes at all are.
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

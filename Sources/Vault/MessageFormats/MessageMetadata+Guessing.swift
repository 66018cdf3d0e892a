// SPDX-License-Identifier: Apache-2.0

extension MessageMetadata {
  /// The media type of a file: text of some kind where the content is text; else what the ending of the name
  /// stands for, bytes nobody knows more about if nothing.
  public static func contentType(ofFileNamed name: String, _ content: RawSpan) -> String {
    FileTypes.contentType(ofName: name, content)
  }

  /// Whether the content is text for every reader: UTF-8 without NUL. No bytes at all are.
  public static func isText(_ content: RawSpan) -> Bool {
    content.validUTF8End(in: content.whole) == content.byteCount
      && content.firstOffset(of: 0, in: content.whole) == nil
  }

  /// What a mail says of itself: its subject and its date, 0 where it has none.
  public static func ofMail(_ mail: RawSpan, tags: [String] = []) -> MessageMetadata {
    var summary = MailSummary()
    return summary.metadata(of: mail, tags: tags, fallbackDate: nil)
  }
}

// SPDX-License-Identifier: Apache-2.0

extension MessageMetadata {
  /// The media type that the ending of a file's name stands for; bytes nobody knows more about if none.
  public static func contentType(ofFileNamed name: String) -> String { FileTypes.contentType(ofName: name) }

  /// What a mail says of itself: its subject and its date, 0 where it has none.
  public static func ofMail(_ mail: RawSpan, tags: [String] = []) -> MessageMetadata {
    var summary = MailSummary()
    return summary.metadata(of: mail, tags: tags, fallbackDate: nil)
  }
}

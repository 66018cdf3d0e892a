// SPDX-License-Identifier: Apache-2.0
//
// The subject and the date of a mail, for lists.

/// Reads title and date from the headers of mails, with memory that is reused and erased.
struct MailSummary: ~Copyable, Sendable {
  private var words = EncodedWords()
  private var text = ByteBuffer(capacity: 1 << 10)

  init() {}

  /// The metadata of `mail`. Without a `Date:` that can be read, the date is `fallbackDate`.
  mutating func metadata(
    of mail: RawSpan, tags: [String] = [], fallbackDate: @autoclosure () -> Int64?
  ) -> MessageMetadata {
    var walk = MailHeaderWalk(mail.whole)
    var subject: Range<Int>?
    var date: Int64?
    while subject == nil || date == nil, let field = walk.next(mail) {
      switch ASCII.lowercased(mail.byte(field.name.lowerBound)) {
      case 0x73 where subject == nil && mail.equals("subject", in: field.name): subject = field.value
      case 0x64 where date == nil && mail.equals("date", in: field.name):
        date = MailDate.parse(mail, field.value)
      default: break
      }
    }
    return MessageMetadata(
      title: subject.map { title(mail, $0) } ?? "", tags: tags, contentType: MessageMetadata.mailType,
      date: date ?? fallbackDate() ?? 0)
  }

  /// The decoded subject, cut at ``MessageLimits/titleByteCount`` between two characters.
  private mutating func title(_ mail: RawSpan, _ range: Range<Int>) -> String {
    let plain = mail.trimmed(range)
    if plain.count <= 998, mail.asciiEnd(in: plain) == plain.upperBound,
      mail.firstOffset(of: "=?", in: plain) == nil, mail.firstOffset(of: ASCII.newline, in: plain) == nil
    {
      return mail.string(plain)
    }
    text.removeAll()
    words.decode(mail, range, into: &text)
    return text.withBytes { bytes in
      var end = min(bytes.byteCount, MessageLimits.titleByteCount)
      while end < bytes.byteCount, end > 0, bytes.byte(end) & 0xC0 == 0x80 { end -= 1 }
      return bytes.string(bytes.trimmed(0..<end))
    }
  }
}

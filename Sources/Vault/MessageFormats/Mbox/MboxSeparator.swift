// SPDX-License-Identifier: Apache-2.0
//
// Which lines "From " of an mbox begin a mail, and which are text that its writer did not quote. RFC 4155 wants an address and
// a time, and an empty line before. Writers leave out one or the other, and then the headers after it decide: a mail that
// vanishes in the one before is worse than a text that is cut.

/// The line that begins a mail in an mbox.
enum MboxSeparator {
  /// What a line is, as far as can be told.
  enum Answer { case separator, text, wantsMore }

  /// - Parameters:
  ///   - start: where the line begins, with "From ".
  ///   - isAfterEmptyLine: whether an empty line is before it.
  ///   - isAll: whether `bytes` are all that come.
  static func look(_ bytes: RawSpan, at start: Int, isAfterEmptyLine: Bool, isAll: Bool) -> Answer {
    let bound = min(bytes.byteCount, start + lineByteCount)
    guard let newline = bytes.firstOffset(of: ASCII.newline, in: start..<bound) else {
      if bound < bytes.byteCount || bytes.byteCount - start >= lineByteCount { return .text }
      guard isAll else { return .wantsMore }
      return isAfterEmptyLine && date(bytes, start..<bound) != nil ? .separator : .text
    }
    let hasDate = date(bytes, start..<newline) != nil
    if hasDate, isAfterEmptyLine { return .separator }
    guard hasDate || isAfterEmptyLine, !bytes.trimmed(start + mark..<newline).isEmpty else { return .text }
    let end = min(bytes.byteCount, newline + 1 + headersByteCount)
    let headers = bytes.extracting(newline + 1..<end)
    guard MailTree.beginsWithField(headers) else {
      // The line may be cut off.
      let isCut = headers.firstOffset(of: ASCII.newline, in: headers.whole) == nil
      return isCut && end == bytes.byteCount && headers.byteCount < lineByteCount && !isAll
        ? .wantsMore : .text
    }
    if hasDate || isOneWord(bytes, start + mark..<newline) || MailTree.isMail(headers) { return .separator }
    return isAll || headers.byteCount == headersByteCount || MailTree.hasHeaderEnd(headers)
      ? .text : .wantsMore
  }

  /// Whether there is an address or a name alone.
  private static func isOneWord(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    bytes.trimmed(range).allSatisfy { !ASCII.isBlank(bytes.byte($0)) }
  }

  /// Seconds since 1970 of a line "From "; nil for one without a date.
  static func date(_ bytes: RawSpan, _ line: Range<Int>) -> Int64? {
    line.count < mark ? nil : MailDate.parseFromLine(bytes, line.lowerBound + mark..<line.upperBound)
  }

  /// How many bytes of a mail that was saved on its own come before its headers: a byte order mark, and a line "From "
  /// or `>From ` of a mailbox.
  static func byteCount(before mail: RawSpan) -> Int {
    var start = mail.matches("\u{FEFF}", at: 0) ? 3 : 0
    let line = mail.matches(">", at: start) ? start + 1 : start
    if mail.matches("From ", at: line) { start = mail.lineEnd(from: line, until: mail.byteCount) }
    return start
  }

  /// "From ".
  private static let mark = 5
  /// Longer than any real one, and than the first header needs.
  private static let lineByteCount = 2 << 10
  /// The headers of a mail, or enough of them.
  private static let headersByteCount = 64 << 10
}

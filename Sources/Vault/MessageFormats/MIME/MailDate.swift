// SPDX-License-Identifier: Apache-2.0
//
// Dates as mail writes them: RFC 5322 section 3.3 with the obsolete forms of section 4.3, the asctime form of an mbox
// "From " line (RFC 4155), and those of programs that follow other standards (ISO 8601, RFC 850) or none.

internal import Texts

/// Reading and writing of mail dates.
enum MailDate {
  /// Seconds since 1970 of a `Date:` value; nil when it is not a date.
  ///
  /// The day, the month, the year and the time are told by their forms, in any order; a zone may follow.
  static func parse(_ bytes: RawSpan, _ range: Range<Int>) -> Int64? {
    var words = MailDateWords(bytes, range)
    var parts = MailDateParts()
    for _ in 0..<wordLimit {
      guard let word = words.next(bytes) else { break }
      parts.take(bytes, word)
    }
    return parts.seconds
  }

  /// Seconds since 1970 of the date in a "From " line; nil when there is none, as in a line of text that begins so.
  ///
  /// After the sender, which may be several words or missing, come a date and nothing but its zone. Without one it is UTC.
  static func parseFromLine(_ bytes: RawSpan, _ range: Range<Int>) -> Int64? {
    var starts = MailDateWords(bytes, range)
    for _ in 0..<wordLimit {
      let rest = starts.rest
      guard starts.next(bytes) != nil else { return nil }
      var words = MailDateWords(bytes, rest)
      var parts = MailDateParts()
      var isDate = true
      while isDate, let word = words.next(bytes) {
        // uucp names the machine that it came from.
        if parts.seconds != nil, bytes.equals("remote", in: word) { break }
        isDate = parts.take(bytes, word)
      }
      if isDate, parts.beginsAsDate, let seconds = parts.seconds { return seconds }
    }
    return nil
  }

  /// Appends `Thu Jan  1 00:00:00 1970`.
  static func appendFromLine(_ seconds: Int64, into buffer: inout ByteBuffer) {
    let time = CivilTime(seconds)
    buffer.append(time.weekdayName)
    buffer.append(ASCII.space)
    buffer.append(time.monthName)
    buffer.append(ASCII.space)
    buffer.append(time.day < 10 ? ASCII.space : ASCII.zero + UInt8(time.day / 10))
    buffer.append(ASCII.zero + UInt8(time.day % 10))
    buffer.append(ASCII.space)
    appendTime(time, into: &buffer)
    buffer.append(ASCII.space)
    append(time.year, digits: 4, into: &buffer)
  }

  /// Appends `Thu, 1 Jan 1970 00:00:00 +0000`.
  static func appendHeader(_ seconds: Int64, into buffer: inout ByteBuffer) {
    let time = CivilTime(seconds)
    buffer.append(time.weekdayName)
    buffer.append(", ")
    append(time.day, digits: time.day < 10 ? 1 : 2, into: &buffer)
    buffer.append(ASCII.space)
    buffer.append(time.monthName)
    buffer.append(ASCII.space)
    append(time.year, digits: 4, into: &buffer)
    buffer.append(ASCII.space)
    appendTime(time, into: &buffer)
    buffer.append(" +0000")
  }

  private static func appendTime(_ time: CivilTime, into buffer: inout ByteBuffer) {
    append(time.hour, digits: 2, into: &buffer)
    buffer.append(ASCII.colon)
    append(time.minute, digits: 2, into: &buffer)
    buffer.append(ASCII.colon)
    append(time.second, digits: 2, into: &buffer)
  }

  private static func append(_ value: Int, digits: Int, into buffer: inout ByteBuffer) {
    var divisor = 1
    for _ in 1..<max(digits, 1) { divisor *= 10 }
    while divisor > 0 {
      buffer.append(ASCII.zero + UInt8(value / divisor % 10))
      divisor /= 10
    }
  }

  /// A date with comments, or a sender with a long name.
  private static let wordLimit = 24
}

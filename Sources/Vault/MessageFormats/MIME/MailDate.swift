// SPDX-License-Identifier: Apache-2.0
//
// Dates as mail writes them: RFC 5322 section 3.3 with the obsolete forms of section 4.3, and the asctime
// form of an mbox "From " line (RFC 4155).

internal import Texts

/// Reading and writing of mail dates.
enum MailDate {
  /// Seconds since 1970 of a `Date:` value; nil when it is not a date.
  static func parse(_ bytes: RawSpan, _ range: Range<Int>) -> Int64? {
    var words = Words(bytes, range)
    guard var word = words.next(bytes) else { return nil }
    if ASCII.isLetter(bytes.byte(word.lowerBound)) {
      // The day of the week; it is ignored.
      guard let after = words.next(bytes) else { return nil }
      word = after
    }
    guard let day = number(bytes, word), let monthWord = words.next(bytes),
      let month = CivilTime.month(bytes, at: monthWord.lowerBound),
      let yearWord = words.next(bytes), var year = number(bytes, yearWord),
      let timeWord = words.next(bytes), let time = time(bytes, timeWord)
    else { return nil }
    // Section 4.3: two digits from 50 on, and three digits, count from 1900; below 50 from 2000.
    if yearWord.count <= 2 { year += year < 50 ? 2000 : 1900 } else if yearWord.count == 3 { year += 1900 }
    guard
      let local = CivilTime.seconds(
        year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
    else { return nil }
    let offset = words.next(bytes).map { zone(bytes, $0) } ?? 0
    let seconds = local - Int64(offset)
    return CivilTime.representable.contains(seconds) ? seconds : nil
  }

  /// Seconds since 1970 of the asctime date in a "From " line; nil when there is none.
  ///
  /// `Thu Jan  1 00:00:00 1970`, perhaps with a zone before or after the year. Without one it is UTC.
  static func parseFromLine(_ bytes: RawSpan, _ range: Range<Int>) -> Int64? {
    var words = Words(bytes, range)
    var previousIsWeekday = false
    while let word = words.next(bytes) {
      let month = word.count == 3 ? CivilTime.month(bytes, at: word.lowerBound) : nil
      guard let month, previousIsWeekday else {
        previousIsWeekday = word.count == 3 && ASCII.isLetter(bytes.byte(word.lowerBound))
        continue
      }
      guard let dayWord = words.next(bytes), let day = number(bytes, dayWord),
        let timeWord = words.next(bytes), let time = time(bytes, timeWord)
      else { return nil }
      var year: Int?
      var offset = 0
      for _ in 0..<2 {
        guard let word = words.next(bytes) else { break }
        if year == nil, word.count == 4, let number = number(bytes, word) {
          year = number
        } else {
          offset = zone(bytes, word)
        }
      }
      guard let year,
        let local = CivilTime.seconds(
          year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
      else { return nil }
      let seconds = local - Int64(offset)
      return CivilTime.representable.contains(seconds) ? seconds : nil
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

  private static func number(_ bytes: RawSpan, _ range: Range<Int>) -> Int? {
    guard !range.isEmpty, range.count <= 4 else { return nil }
    var value = 0
    for offset in range {
      guard ASCII.isDigit(bytes.byte(offset)) else { return nil }
      value = value * 10 + Int(bytes.byte(offset) - ASCII.zero)
    }
    return value
  }

  /// `hh:mm` or `hh:mm:ss`.
  private static func time(
    _ bytes: RawSpan, _ range: Range<Int>
  ) -> (hour: Int, minute: Int, second: Int)? {
    guard let first = bytes.firstOffset(of: ASCII.colon, in: range),
      let hour = number(bytes, range.lowerBound..<first)
    else { return nil }
    guard let second = bytes.firstOffset(of: ASCII.colon, in: first + 1..<range.upperBound) else {
      return number(bytes, first + 1..<range.upperBound).map { (hour, $0, 0) }
    }
    guard let minutes = number(bytes, first + 1..<second),
      let seconds = number(bytes, second + 1..<range.upperBound)
    else { return nil }
    return (hour, minutes, seconds)
  }

  /// Seconds east of UTC; unknown and military zones are UTC (RFC 5322 section 4.3).
  private static func zone(_ bytes: RawSpan, _ range: Range<Int>) -> Int {
    let sign = bytes.byte(range.lowerBound)
    if sign == 0x2B || sign == ASCII.dash {
      guard range.count == 5, let value = number(bytes, range.lowerBound + 1..<range.upperBound),
        value % 100 < 60
      else { return 0 }
      let seconds = value / 100 * 3600 + value % 100 * 60
      return sign == ASCII.dash ? -seconds : seconds
    }
    for (name, hours) in zones where bytes.equals(name, in: range) { return hours * 3600 }
    return 0
  }

  private static let zones: [(StaticString, Int)] = [
    ("est", -5), ("edt", -4), ("cst", -6), ("cdt", -5), ("mst", -7), ("mdt", -6), ("pst", -8), ("pdt", -7),
  ]

  /// The words of a date: separated by blanks, line breaks and commas; comments in parentheses left out.
  private struct Words {
    private var offset: Int
    private let end: Int

    init(_ bytes: RawSpan, _ range: Range<Int>) {
      offset = range.lowerBound
      // Enough for a date with comments.
      end = min(range.upperBound, range.lowerBound + 512)
    }

    mutating func next(_ bytes: RawSpan) -> Range<Int>? {
      var depth = 0
      while offset < end {
        let byte = bytes.byte(offset)
        if byte == 0x28 {
          depth += 1
        } else if byte == 0x29, depth > 0 {
          depth -= 1
        } else if depth == 0, !ASCII.isWhitespace(byte), byte != ASCII.comma {
          break
        }
        offset += 1
      }
      let start = offset
      while offset < end {
        let byte = bytes.byte(offset)
        if ASCII.isWhitespace(byte) || byte == ASCII.comma || byte == 0x28 { break }
        offset += 1
      }
      return start < offset ? start..<offset : nil
    }
  }
}

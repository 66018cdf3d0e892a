// SPDX-License-Identifier: Apache-2.0
//
// The pieces of a date in mail, told by their forms: `16`, `Apr`, `2015`, `09:53:04`, `+0200`, and those in which several are
// joined, `2015-04-16T09:53:04Z` and `16-Apr-15`.

internal import Texts

/// A date, as far as its words have said it.
struct MailDateParts {
  private var year: Int?
  private var month: Int?
  private var day: Int?
  private var time: (hour: Int, minute: Int, second: Int)?
  /// Seconds east of UTC.
  private var offset: Int?
  private var hasWeekday = false
  /// Whether it has begun with a day of the week, or as ISO 8601 does.
  private(set) var beginsAsDate = false
  private var wordCount = 0
  private var hasUnknownZone = false

  /// Seconds since 1970; nil while something is missing, or if there is no such date. Without a zone it is UTC.
  var seconds: Int64? {
    guard let year, let month, let day, let time,
      let local = CivilTime.seconds(
        year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
    else { return nil }
    let seconds = local - Int64(offset ?? 0)
    return CivilTime.representable.contains(seconds) ? seconds : nil
  }

  /// Takes in the next word; false if it belongs to no date.
  @discardableResult
  mutating func take(_ bytes: RawSpan, _ word: Range<Int>) -> Bool {
    wordCount += 1
    let first = bytes.byte(word.lowerBound)
    if ASCII.isDigit(first) { return takeNumbers(bytes, word) }
    if first == Self.plus || first == ASCII.dash { return takeOffset(bytes, word) }
    return takeLetters(bytes, word)
  }

  // MARK: Numbers

  private mutating func takeNumbers(_ bytes: RawSpan, _ word: Range<Int>) -> Bool {
    if word.count <= 4, let number = Self.number(bytes, word) { return take(number, digits: word.count) }
    if time == nil, let end = takeTime(bytes, word) {
      return end == word.upperBound || takeLetters(bytes, end..<word.upperBound)
    }
    if time != nil {
      // A fraction of a second after a comma, and its zone.
      let end = Self.digitsEnd(bytes, word)
      return end == word.upperBound || takeLetters(bytes, end..<word.upperBound)
    }
    return takeJoined(bytes, word)
  }

  /// A day or a year.
  private mutating func take(_ number: Int, digits: Int) -> Bool {
    if digits <= 2, day == nil {
      day = number
    } else if year == nil {
      year = Self.year(number, digits: digits)
    } else {
      return false
    }
    return true
  }

  /// RFC 5322 section 4.3: two digits from 50 on, and three digits, count from 1900; below 50 from 2000.
  private static func year(_ number: Int, digits: Int) -> Int {
    if digits <= 2 { return number + (number < 50 ? 2000 : 1900) }
    return digits == 3 ? number + 1900 : number
  }

  /// `hh:mm`, `hh:mm:ss`, with a fraction, and with dots for colons; where it ends.
  private mutating func takeTime(_ bytes: RawSpan, _ word: Range<Int>) -> Int? {
    var fields: [Int] = []
    var offset = word.lowerBound
    var separator: UInt8?
    while fields.count < 3 {
      let end = Self.digitsEnd(bytes, offset..<word.upperBound)
      guard 1...2 ~= end - offset, let field = Self.number(bytes, offset..<end) else { return nil }
      fields.append(field)
      offset = end
      guard fields.count < 3, let next = bytes.byte(end, in: word), next == separator ?? next,
        next == ASCII.colon || next == ASCII.dot
      else { break }
      separator = next
      offset += 1
    }
    guard fields.count > 1 else { return nil }
    if fields.count == 3, let mark = bytes.byte(offset, in: word), mark == ASCII.dot || mark == ASCII.comma {
      offset = Self.digitsEnd(bytes, offset + 1..<word.upperBound)
    }
    time = (fields[0], fields[1], fields.count > 2 ? fields[2] : 0)
    return offset
  }

  /// `2015-04-16`, `2015/04/16`, perhaps with a time after `T`, and `16-Apr-15`.
  private mutating func takeJoined(_ bytes: RawSpan, _ word: Range<Int>) -> Bool {
    guard year == nil, day == nil else { return false }
    let firstEnd = Self.digitsEnd(bytes, word)
    guard let separator = bytes.byte(firstEnd, in: word), separator == ASCII.dash || separator == ASCII.slash,
      let second = bytes.firstOffset(of: separator, in: firstEnd + 1..<word.upperBound),
      let first = Self.number(bytes, word.lowerBound..<firstEnd)
    else { return false }
    let middle = firstEnd + 1..<second
    let lastEnd = Self.digitsEnd(bytes, second + 1..<word.upperBound)
    guard let last = Self.number(bytes, second + 1..<lastEnd) else { return false }
    if firstEnd - word.lowerBound == 4, let number = Self.number(bytes, middle) {
      (year, month, day) = (first, number, last)
    } else if let named = CivilTime.month(bytes, at: middle.lowerBound), middle.count >= 3 {
      (year, month, day) = (Self.year(last, digits: lastEnd - second - 1), named, first)
    } else {
      return false
    }
    if wordCount == 1 { beginsAsDate = true }
    guard let mark = bytes.byte(lastEnd, in: word) else { return true }
    guard ASCII.lowercased(mark) == 0x74 || mark == ASCII.colon else { return false }
    guard let end = takeTime(bytes, lastEnd + 1..<word.upperBound) else { return false }
    return end == word.upperBound || takeLetters(bytes, end..<word.upperBound)
  }

  // MARK: Names

  private mutating func takeLetters(_ bytes: RawSpan, _ word: Range<Int>) -> Bool {
    let name = bytes.byte(word.upperBound - 1) == ASCII.dot ? word.lowerBound..<word.upperBound - 1 : word
    if month == nil, name.count >= 3, let found = CivilTime.month(bytes, at: name.lowerBound),
      Self.isLetters(bytes, name)
    {
      month = found
      return true
    }
    if !hasWeekday, day == nil, Self.isWeekday(bytes, name) {
      hasWeekday = true
      if wordCount == 1 { beginsAsDate = true }
      return true
    }
    if let hour = time?.hour, bytes.equals("pm", in: word) || bytes.equals("am", in: word) {
      guard 1...12 ~= hour else { return false }
      time?.hour = hour % 12 + (bytes.equals("pm", in: word) ? 12 : 0)
      return true
    }
    return takeZone(bytes, word)
  }

  private static func isWeekday(_ bytes: RawSpan, _ word: Range<Int>) -> Bool {
    guard word.count >= 3, isLetters(bytes, word) else { return false }
    return weekdays.contains { bytes.matches($0, at: word.lowerBound, ignoringCase: true) }
  }

  private static func isLetters(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    range.allSatisfy { ASCII.isLetter(bytes.byte($0)) }
  }

  // MARK: Zones

  /// `Z`, `EST`, `GMT+0200`, `+02:00`. One name that is not known counts as UTC (RFC 5322 section 4.3), and so do the
  /// letters of the military: some programs have turned their signs round.
  private mutating func takeZone(_ bytes: RawSpan, _ word: Range<Int>) -> Bool {
    let sign = word.first { bytes.byte($0) == Self.plus || bytes.byte($0) == ASCII.dash }
    if let sign {
      guard
        sign == word.lowerBound
          || Self.utcNames.contains(where: { bytes.equals($0, in: word.lowerBound..<sign) })
      else { return false }
      return takeOffset(bytes, sign..<word.upperBound)
    }
    guard time != nil else { return false }
    for (name, hours) in Self.zones where bytes.equals(name, in: word) {
      if offset == nil { offset = hours * 3600 }
      return true
    }
    if Self.utcNames.contains(where: { bytes.equals($0, in: word) }) { return true }
    guard !hasUnknownZone, word.count <= Self.zoneByteCount, Self.isLetters(bytes, word) else { return false }
    hasUnknownZone = true
    return true
  }

  /// `+0200`, `+02:00`, `+200`, `+02`, `+02:00:00`; more than a day is not an offset.
  private mutating func takeOffset(_ bytes: RawSpan, _ word: Range<Int>) -> Bool {
    var digits: [Int] = []
    for place in word.dropFirst() where bytes.byte(place) != ASCII.colon {
      guard ASCII.isDigit(bytes.byte(place)), digits.count < 6 else { return false }
      digits.append(Int(bytes.byte(place) - ASCII.zero))
    }
    guard !digits.isEmpty else { return false }
    // Of an odd number of digits the hour has one.
    if digits.count % 2 == 1 { digits.insert(0, at: 0) }
    while digits.count < 6 { digits.append(0) }
    let fields = [0, 2, 4].map { digits[$0] * 10 + digits[$0 + 1] }
    guard fields[0] < 24, fields[1] < 60, fields[2] < 60 else { return false }
    let seconds = fields[0] * 3600 + fields[1] * 60 + fields[2]
    offset = bytes.byte(word.lowerBound) == ASCII.dash ? -seconds : seconds
    return true
  }

  private static func digitsEnd(_ bytes: RawSpan, _ range: Range<Int>) -> Int {
    range.first { !ASCII.isDigit(bytes.byte($0)) } ?? range.upperBound
  }

  private static func number(_ bytes: RawSpan, _ range: Range<Int>) -> Int? {
    guard !range.isEmpty, range.count <= 4, digitsEnd(bytes, range) == range.upperBound else { return nil }
    return range.reduce(0) { $0 * 10 + Int(bytes.byte($1) - ASCII.zero) }
  }

  private static let plus: UInt8 = 0x2B
  private static let zoneByteCount = 5
  private static let weekdays: [StaticString] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
  private static let utcNames: [StaticString] = ["gmt", "utc", "ut", "z"]
  /// Those of RFC 5322, and others that stand for one zone alone.
  private static let zones: [(StaticString, Int)] = [
    ("est", -5), ("edt", -4), ("cst", -6), ("cdt", -5), ("mst", -7), ("mdt", -6), ("pst", -8), ("pdt", -7),
    ("akst", -9), ("akdt", -8), ("hst", -10), ("wet", 0), ("west", 1), ("bst", 1), ("cet", 1), ("met", 1),
    ("cest", 2), ("mest", 2), ("mesz", 2), ("eet", 2), ("eest", 3), ("msk", 3), ("hkt", 8), ("jst", 9),
    ("kst", 9),
    ("aest", 10), ("aedt", 11), ("nzst", 12), ("nzdt", 13),
  ]
}

/// The words of a date: separated by blanks, line breaks and commas; comments in parentheses left out.
struct MailDateWords {
  private var offset: Int
  private let end: Int

  init(_ bytes: RawSpan, _ range: Range<Int>) {
    offset = range.lowerBound
    // Enough for a date with comments.
    end = min(range.upperBound, range.lowerBound + 512)
  }

  /// What has not been looked at.
  var rest: Range<Int> { offset..<end }

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

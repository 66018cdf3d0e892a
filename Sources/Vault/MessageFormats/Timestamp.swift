// SPDX-License-Identifier: Apache-2.0
//
// Times as the formats write them: RFC 3339 in UTC with whole seconds, by arithmetic on the proleptic
// Gregorian calendar. No time zone database, no locale, no Foundation.

/// Seconds since 1970 as RFC 3339 text and back.
public enum Timestamp {
  /// From 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z: what four digits can say.
  public static let representable: ClosedRange<Int64> = -62_167_219_200...253_402_300_799
  /// `YYYY-MM-DDTHH:MM:SSZ`.
  public static let byteCount = 20

  /// `YYYY-MM-DDTHH:MM:SSZ`. A value outside of ``representable`` is written as the nearest inside.
  public static func format(_ seconds: Int64) -> String {
    unsafe String(unsafeUninitializedCapacity: byteCount) { bytes in
      unsafe write(seconds, into: UnsafeMutableRawBufferPointer(bytes))
      return byteCount
    }
  }

  /// Writes the ``byteCount`` ASCII bytes of ``format(_:)`` to the start of `bytes`; nothing is allocated.
  public static func write(_ seconds: Int64, into bytes: inout MutableRawSpan) {
    precondition(bytes.byteCount >= byteCount, "a timestamp needs 20 bytes")
    unsafe bytes.withUnsafeMutableBytes { unsafe write(seconds, into: $0) }
  }

  private static func write(_ seconds: Int64, into bytes: UnsafeMutableRawBufferPointer) {
    let time = CivilTime(seconds)
    func put(_ value: Int, _ digits: Int, at offset: Int) {
      var rest = value
      for index in (offset..<offset + digits).reversed() {
        unsafe bytes[index] = ASCII.zero + UInt8(rest % 10)
        rest /= 10
      }
    }
    put(time.year, 4, at: 0)
    put(time.month, 2, at: 5)
    put(time.day, 2, at: 8)
    put(time.hour, 2, at: 11)
    put(time.minute, 2, at: 14)
    put(time.second, 2, at: 17)
    unsafe bytes[4] = ASCII.dash
    unsafe bytes[7] = ASCII.dash
    unsafe bytes[10] = 0x54
    unsafe bytes[13] = ASCII.colon
    unsafe bytes[16] = ASCII.colon
    unsafe bytes[19] = 0x5A
  }

  /// The seconds that an RFC 3339 `date-time` names (section 5.6); nil when it is none.
  ///
  /// Any offset is accepted, a fraction is dropped, and second 60 is the first of the next minute.
  public static func parse(_ text: some StringProtocol) -> Int64? {
    let text = String(text)
    return unsafe parse(text.utf8Span.span.bytes)
  }

  /// The seconds that an RFC 3339 `date-time` names (section 5.6); nil when it is none.
  public static func parse(_ text: RawSpan) -> Int64? {
    guard text.byteCount >= byteCount, text.byteCount <= 64 else { return nil }
    func number(_ offset: Int, _ digits: Int) -> Int? {
      var value = 0
      for index in offset..<offset + digits {
        guard index < text.byteCount, ASCII.isDigit(text.byte(index)) else { return nil }
        value = value * 10 + Int(text.byte(index) - ASCII.zero)
      }
      return value
    }
    func has(_ byte: UInt8, at offset: Int) -> Bool {
      offset < text.byteCount && text.byte(offset) & 0xDF == byte & 0xDF
        && (byte < 0x40) == (text.byte(offset) < 0x40)
    }
    guard has(ASCII.dash, at: 4), has(ASCII.dash, at: 7), has(0x54, at: 10), has(ASCII.colon, at: 13),
      has(ASCII.colon, at: 16),
      let year = number(0, 4), let month = number(5, 2), let day = number(8, 2),
      let hour = number(11, 2), let minute = number(14, 2), let second = number(17, 2), second <= 60
    else { return nil }
    var offset = 19
    if text.byte(offset) == ASCII.dot {
      offset += 1
      let start = offset
      while offset < text.byteCount, ASCII.isDigit(text.byte(offset)) { offset += 1 }
      guard offset > start else { return nil }
    }
    guard offset < text.byteCount else { return nil }
    var zone: Int64 = 0
    if has(0x5A, at: offset) {
      offset += 1
    } else {
      let sign = text.byte(offset)
      guard sign == 0x2B || sign == ASCII.dash, let hours = number(offset + 1, 2),
        has(ASCII.colon, at: offset + 3), let minutes = number(offset + 4, 2), hours < 24, minutes < 60
      else { return nil }
      zone = Int64(hours * 3600 + minutes * 60) * (sign == ASCII.dash ? -1 : 1)
      offset += 6
    }
    guard offset == text.byteCount,
      let local = CivilTime.seconds(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    let seconds = local - zone
    return representable.contains(seconds) ? seconds : nil
  }
}

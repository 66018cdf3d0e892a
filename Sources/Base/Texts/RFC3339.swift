// SPDX-License-Identifier: Apache-2.0
//
// Times as RFC 3339 has them, in UTC with whole seconds, by arithmetic on the proleptic Gregorian calendar. No time
// zone database, no locale, no Foundation.

/// Seconds since 1970 as RFC 3339 text and back.
package enum RFC3339 {
  /// Bytes of `YYYY-MM-DDTHH:MM:SSZ`.
  package static let byteCount = 20

  /// `YYYY-MM-DDTHH:MM:SSZ`. A value outside of the years 0 to 9999 is written as the nearest inside.
  package static func format(_ seconds: Int64) -> String {
    unsafe String(unsafeUninitializedCapacity: byteCount) { bytes in
      unsafe write(seconds, into: UnsafeMutableRawBufferPointer(bytes))
      return byteCount
    }
  }

  /// Writes the ``byteCount`` ASCII bytes of ``format(_:)`` to the start of `bytes`; nothing is allocated.
  package static func write(_ seconds: Int64, into bytes: inout MutableRawSpan) {
    precondition(bytes.byteCount >= byteCount, "a timestamp needs 20 bytes")
    unsafe bytes.withUnsafeMutableBytes { unsafe write(seconds, into: $0) }
  }

  private static func write(_ seconds: Int64, into bytes: UnsafeMutableRawBufferPointer) {
    let time = CivilTime(seconds)
    func put(_ value: Int, _ digits: Int, at offset: Int) {
      var rest = value
      for index in (offset..<offset + digits).reversed() {
        unsafe bytes[index] = UInt8(ascii: "0") + UInt8(rest % 10)
        rest /= 10
      }
    }
    put(time.year, 4, at: 0)
    put(time.month, 2, at: 5)
    put(time.day, 2, at: 8)
    put(time.hour, 2, at: 11)
    put(time.minute, 2, at: 14)
    put(time.second, 2, at: 17)
    for (offset, character) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, "Z")]
      as [(Int, Unicode.Scalar)]
    {
      unsafe bytes[offset] = UInt8(ascii: character)
    }
  }

  /// The seconds that a `date-time` names (section 5.6); nil when it is not valid.
  ///
  /// Any offset is accepted, a fraction is dropped, and second 60 is the first of the next minute.
  package static func parse(_ text: some StringProtocol) -> Int64? {
    let text = String(text)
    return unsafe parse(text.utf8Span.span.bytes)
  }

  /// The seconds that a `date-time` names (section 5.6); nil when it is not valid.
  package static func parse(_ text: RawSpan) -> Int64? {
    guard text.byteCount >= byteCount, text.byteCount <= 64 else { return nil }
    func byte(_ offset: Int) -> UInt8 { unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
    func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
    func number(_ offset: Int, _ digits: Int) -> Int? {
      var value = 0
      for index in offset..<offset + digits {
        guard index < text.byteCount, isDigit(byte(index)) else { return nil }
        value = value * 10 + Int(byte(index) - UInt8(ascii: "0"))
      }
      return value
    }
    func has(_ character: Unicode.Scalar, orSmall: Bool = false, at offset: Int) -> Bool {
      guard offset < text.byteCount else { return false }
      let wanted = UInt8(ascii: character)
      return byte(offset) == wanted || orSmall && byte(offset) == wanted | 0x20
    }
    guard has("-", at: 4), has("-", at: 7), has("T", orSmall: true, at: 10), has(":", at: 13),
      has(":", at: 16),
      let year = number(0, 4), let month = number(5, 2), let day = number(8, 2),
      let hour = number(11, 2), let minute = number(14, 2), let second = number(17, 2), second <= 60
    else { return nil }
    var offset = 19
    if has(".", at: offset) {
      offset += 1
      let start = offset
      while offset < text.byteCount, isDigit(byte(offset)) { offset += 1 }
      guard offset > start else { return nil }
    }
    guard offset < text.byteCount else { return nil }
    var zone: Int64 = 0
    if has("Z", orSmall: true, at: offset) {
      offset += 1
    } else {
      let isBehind = has("-", at: offset)
      guard isBehind || has("+", at: offset), let hours = number(offset + 1, 2), has(":", at: offset + 3),
        let minutes = number(offset + 4, 2), hours < 24, minutes < 60
      else { return nil }
      zone = Int64(hours * 3600 + minutes * 60) * (isBehind ? -1 : 1)
      offset += 6
    }
    guard offset == text.byteCount,
      let local = CivilTime.seconds(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    let seconds = local - zone
    return CivilTime.representable.contains(seconds) ? seconds : nil
  }
}

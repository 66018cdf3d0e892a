// SPDX-License-Identifier: Apache-2.0
//
// A time as a camera notes it: the reading of a clock, often without a word of the time zone. It is kept as
// it was read; turning it into an instant would invent an offset.

internal import Texts

/// The reading of a clock, with its distance from UTC when that is known.
public struct ExifTime: Equatable, Sendable {
  /// 1 to 9999.
  public let year: Int
  /// 1 to 12.
  public let month: Int
  /// 1 to the length of the month.
  public let day: Int
  /// 0 to 23.
  public let hour: Int
  /// 0 to 59.
  public let minute: Int
  /// 0 to 60, for a leap second.
  public let second: Int
  /// Minutes east of UTC, nil when the camera did not say.
  public let offsetMinutes: Int?

  /// Nil when there is no such date, time or offset.
  public init?(
    year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, offsetMinutes: Int? = nil
  ) {
    guard (1...9999).contains(year), (1...12).contains(month),
      (1...CivilTime.dayCount(of: month, in: year)).contains(day), (0...23).contains(hour),
      (0...59).contains(minute), (0...60).contains(second),
      offsetMinutes.map({ abs($0) < 24 * 60 }) ?? true
    else { return nil }
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
    self.offsetMinutes = offsetMinutes
  }

  /// Reads `YYYY:MM:DD HH:MM:SS` and, if present, an offset `+HH:MM`. An invalid offset is ignored, because the
  /// time is useful without it.
  init?(_ text: [UInt8], offset: [UInt8]?) {
    guard text.count == 19,
      Self.hasForm(text, [4: ":", 7: ":", 10: " ", 13: ":", 16: ":"]),
      let year = Self.number(text[0..<4]), let month = Self.number(text[5..<7]),
      let day = Self.number(text[8..<10]), let hour = Self.number(text[11..<13]),
      let minute = Self.number(text[14..<16]), let second = Self.number(text[17..<19])
    else { return nil }
    self.init(
      year: year, month: month, day: day, hour: hour, minute: minute, second: second,
      offsetMinutes: offset.flatMap(Self.offset))
  }

  /// Reads the `YYYY:MM:DD` of the positioning fields, which are in UTC.
  init?(date: [UInt8], hour: Int, minute: Int, second: Int) {
    guard date.count == 10, Self.hasForm(date, [4: ":", 7: ":"]), let year = Self.number(date[0..<4]),
      let month = Self.number(date[5..<7]), let day = Self.number(date[8..<10])
    else { return nil }
    self.init(
      year: year, month: month, day: day, hour: hour, minute: minute, second: second, offsetMinutes: 0)
  }

  private static func offset(_ text: [UInt8]) -> Int? {
    guard text.count == 6, hasForm(text, [3: ":"]), let hours = number(text[1..<3]), hours < 24,
      let minutes = number(text[4..<6]), minutes < 60
    else { return nil }
    switch text[0] {
    case UInt8(ascii: "+"): return hours * 60 + minutes
    case UInt8(ascii: "-"): return -(hours * 60 + minutes)
    default: return nil
    }
  }

  private static func hasForm(_ text: [UInt8], _ separators: [Int: Unicode.Scalar]) -> Bool {
    separators.allSatisfy { text[$0.key] == UInt8(ascii: $0.value) }
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      value = value * 10 + Int(digit - UInt8(ascii: "0"))
    }
    return value
  }
}

extension ExifTime: CustomStringConvertible {
  /// As RFC 3339 writes it, without an offset when there is none.
  public var description: String {
    func digits(_ value: Int, _ count: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let clock =
      "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
      + "T\(digits(hour, 2)):\(digits(minute, 2)):\(digits(second, 2))"
    guard let offsetMinutes else { return clock }
    if offsetMinutes == 0 { return clock + "Z" }
    let distance = abs(offsetMinutes)
    return clock + (offsetMinutes < 0 ? "-" : "+") + digits(distance / 60, 2) + ":"
      + digits(distance % 60, 2)
  }
}

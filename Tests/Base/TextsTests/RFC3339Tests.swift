// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import Texts

@Suite("Times")
struct RFC3339Tests {
  @Test(
    "known moments are written as RFC 3339",
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
      (1_700_000_000, "2023-11-14T22:13:20Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
      (-62_167_219_200, "0000-01-01T00:00:00Z"), (-2_203_891_200, "1900-03-01T00:00:00Z"),
    ] as [(Int64, String)])
  func known(_ seconds: Int64, _ text: String) {
    #expect(RFC3339.format(seconds) == text)
    #expect(RFC3339.parse(text) == seconds)
  }

  @Test("the calendar agrees with the system's for many moments")
  func calendar() throws {
    for step in Int64(0)..<5000 {
      // A step that no day, year or era divides.
      let seconds = CivilTime.representable.lowerBound + step * 63_113_904_031 % 315_569_520_000
      #expect(RFC3339.parse(RFC3339.format(seconds)) == seconds)
      var time = time_t(seconds)
      var parts = tm()
      gmtime_r(&time, &parts)
      let expected = String(
        format: "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
        parts.tm_hour, parts.tm_min, parts.tm_sec)
      #expect(RFC3339.format(seconds) == expected)
    }
  }

  @Test("values beyond four-digit years become the nearest")
  func clamped() {
    #expect(RFC3339.format(.max) == "9999-12-31T23:59:59Z")
    #expect(RFC3339.format(.min) == "0000-01-01T00:00:00Z")
  }

  @Test("offsets, fractions and small letters are understood")
  func variants() {
    #expect(RFC3339.parse("1970-01-01T01:00:00+01:00") == 0)
    #expect(RFC3339.parse("1969-12-31t18:30:00.999-05:30") == 0)
    #expect(RFC3339.parse("1970-01-01T00:00:00z") == 0)
    #expect(RFC3339.parse("2016-12-31T23:59:60Z") == 1_483_228_800)
  }

  @Test(
    "what is not RFC 3339 is refused",
    arguments: [
      "", "1970-01-01", "1970-01-01T00:00:00", "1970-13-01T00:00:00Z", "1970-02-29T00:00:00Z",
      "1970-01-01T24:00:00Z", "1970-01-01T00:00:61Z", "1970-01-01 00:00:00Z", "1970-01-01T00:00:00ZZ",
      "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00+0100", "1970-01-01T00:00:00+24:00", "197-01-01T00:00:00Z",
      "0000-01-01T00:00:00+01:00", "１970-01-01T00:00:00Z", "1970-00-01T00:00:00Z", "1970-01-00T00:00:00Z",
      "1970-01-01T00:00:00+", "1970-01-01T00:00:00.", "9999-12-31T23:59:60Z", "1970\u{0D}01-01T00:00:00Z",
      "1970-01-01T00\u{1A}00:00Z", "1970-01-01T00:00:00\u{0E}5Z",
    ])
  func refused(_ text: String) { #expect(RFC3339.parse(text) == nil) }

  @Test("a moment taken apart is the date that it was made of, with its day of the week")
  func parts() throws {
    let leapDay = try #require(
      CivilTime.seconds(year: 2000, month: 2, day: 29, hour: 12, minute: 34, second: 56))
    let time = CivilTime(leapDay)
    #expect(time.year == 2000 && time.month == 2 && time.day == 29)
    #expect(time.hour == 12 && time.minute == 34 && time.second == 56)
    // A Tuesday.
    #expect(time.weekday == 2 && CivilTime(0).weekday == 4)
    #expect(CivilTime(.max) == CivilTime(CivilTime.representable.upperBound))
  }

  @Test("days that there are not have no seconds")
  func noDays() {
    for (year, month, day) in [
      (1900, 2, 29), (2001, 2, 29), (2000, 4, 31), (2000, 0, 1), (2000, 13, 1), (2000, 1, 0),
    ] {
      #expect(CivilTime.seconds(year: year, month: month, day: day, hour: 0, minute: 0, second: 0) == nil)
    }
    for (year, count) in [(1900, 28), (2000, 29), (2024, 29), (2023, 28)] {
      #expect(CivilTime.dayCount(of: 2, in: year) == count)
    }
    #expect((1...12).map { CivilTime.dayCount(of: $0, in: 2023) }.reduce(0, +) == 365)
  }

  @Test("the twenty bytes are written in place")
  func inPlace() {
    var bytes = [UInt8](repeating: 0x2E, count: 22)
    var span = bytes.mutableSpan
    var raw = span.mutableBytes
    RFC3339.write(1_700_000_000, into: &raw)
    #expect(String(decoding: bytes, as: UTF8.self) == "2023-11-14T22:13:20Z..")
  }
}

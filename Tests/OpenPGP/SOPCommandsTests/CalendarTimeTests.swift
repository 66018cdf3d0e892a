// SPDX-License-Identifier: Apache-2.0

import Foundation
import OpenPGP
import Testing

@testable import SOPCommands

struct CalendarTimeTests {
  @Test("Times are written as Foundation writes them, and read back")
  func written() throws {
    let formatter = ISO8601DateFormatter()
    for seconds in stride(from: UInt32(0), to: UInt32.max - 7_654_321, by: 7_654_321) {
      let text = CalendarTime.text(Timestamp(secondsSince1970: seconds))
      #expect(text == formatter.string(from: Date(timeIntervalSince1970: Double(seconds))))
      #expect(CalendarTime.parse(text)?.secondsSince1970 == seconds)
    }
  }

  @Test(
    "A day stands for its beginning; times beyond the format become its first and last",
    arguments: [
      ("1970-01-02", 86_400), ("2024-02-29T00:00:00Z", 1_709_164_800), ("1969-12-31T23:59:59Z", 0),
      ("0001-01-01", 0), ("2106-02-07T06:28:15Z", UInt32.max), ("9999-12-31T23:59:59Z", .max),
    ])
  func bounds(text: String, seconds: UInt32) {
    #expect(CalendarTime.parse(text)?.secondsSince1970 == seconds)
  }

  @Test(
    "Times of every form of ISO 8601 that says one thing are read, those of the draft among them",
    arguments: [
      ("2019-10-29T12:11:04+00:00", "2019-10-29T12:11:04Z"), ("20191029T121104Z", "2019-10-29T12:11:04Z"),
      ("2019-10-29T12:11:04-02:30", "2019-10-29T14:41:04Z"), ("20191029T001104+0100", "2019-10-28T23:11:04Z"),
      ("2019-10-29T12:11:04.987654+02", "2019-10-29T10:11:04Z"),
      ("2019-10-29T12:11Z", "2019-10-29T12:11:00Z"),
      ("20191029", "2019-10-29T00:00:00Z"), ("20191029T1211Z", "2019-10-29T12:11:00Z"),
    ])
  func forms(text: String, meant: String) throws {
    #expect(CalendarTime.text(try #require(CalendarTime.parse(text))) == meant)
  }

  @Test(
    "Text that is not a time is refused",
    arguments: [
      "", "2024", "2023-02-29", "2024-13-01", "2024-00-01", "2024-01-32", "2024-01-01T24:00:00Z",
      "2024-01-01T00:60:00Z", "2024-01-01T00:00:61Z", "2024-01-01T00:00:00", "2024-01-01T00:00:00+",
      "2024/01/01",
      "2024-01-01 00:00:00Z", "+024-01-01", "now ", "tomorrow!!", "2024-0101", "202401-01", "2024-01-01T",
      "2024-01-01T0000:00Z", "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00+1",
      "2024-01-01T00:00:00Z+01", "2024-01-01Z", "20240101T000000", "2024-01-01T00:00:00+01:60", "1706702400",
    ])
  func refused(text: String) {
    #expect(CalendarTime.parse(text) == nil)
    #expect(throws: Failure.self) { try CalendarTime.bound(text) }
  }

  @Test("A hyphen means no limit, and now is now")
  func words() throws {
    #expect(try CalendarTime.bound("-") == nil)
    let now = try #require(try CalendarTime.bound("now"))
    #expect(abs(Double(now.secondsSince1970) - Date().timeIntervalSince1970) < 60)
  }
}

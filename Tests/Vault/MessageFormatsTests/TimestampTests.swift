// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageFormats
import Testing

@Suite("Times")
struct TimestampTests {
  @Test(
    "known moments are written as RFC 3339",
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
      (1_700_000_000, "2023-11-14T22:13:20Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
      (-62_167_219_200, "0000-01-01T00:00:00Z"), (-2_203_891_200, "1900-03-01T00:00:00Z"),
    ] as [(Int64, String)])
  func known(_ seconds: Int64, _ text: String) {
    #expect(Timestamp.format(seconds) == text)
    #expect(Timestamp.parse(text) == seconds)
  }

  @Test("the calendar agrees with the system's for many moments")
  func calendar() throws {
    var random = Seeded(1)
    for _ in 0..<5000 {
      let seconds = Int64.random(in: Timestamp.representable, using: &random)
      #expect(Timestamp.parse(Timestamp.format(seconds)) == seconds)
      var time = time_t(seconds)
      var parts = tm()
      gmtime_r(&time, &parts)
      let expected = String(
        format: "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
        parts.tm_hour, parts.tm_min, parts.tm_sec)
      #expect(Timestamp.format(seconds) == expected)
    }
  }

  @Test("values beyond four-digit years become the nearest")
  func clamped() {
    #expect(Timestamp.format(.max) == "9999-12-31T23:59:59Z")
    #expect(Timestamp.format(.min) == "0000-01-01T00:00:00Z")
  }

  @Test("offsets, fractions and small letters are understood")
  func variants() {
    #expect(Timestamp.parse("1970-01-01T01:00:00+01:00") == 0)
    #expect(Timestamp.parse("1969-12-31t18:30:00.999-05:30") == 0)
    #expect(Timestamp.parse("1970-01-01T00:00:00z") == 0)
    #expect(Timestamp.parse("2016-12-31T23:59:60Z") == 1_483_228_800)
  }

  @Test(
    "what is not RFC 3339 is refused",
    arguments: [
      "", "1970-01-01", "1970-01-01T00:00:00", "1970-13-01T00:00:00Z", "1970-02-29T00:00:00Z",
      "1970-01-01T24:00:00Z", "1970-01-01T00:00:61Z", "1970-01-01 00:00:00Z", "1970-01-01T00:00:00ZZ",
      "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00+0100", "1970-01-01T00:00:00+24:00", "197-01-01T00:00:00Z",
      "0000-01-01T00:00:00+01:00", "１970-01-01T00:00:00Z", "1970-00-01T00:00:00Z", "1970-01-00T00:00:00Z",
      "1970-01-01T00:00:00+", "1970-01-01T00:00:00.", "9999-12-31T23:59:60Z",
    ])
  func refused(_ text: String) { #expect(Timestamp.parse(text) == nil) }

  @Test("the twenty bytes are written in place")
  func inPlace() {
    var bytes = [UInt8](repeating: 0x2E, count: 22)
    var span = bytes.mutableSpan
    var raw = span.mutableBytes
    Timestamp.write(1_700_000_000, into: &raw)
    #expect(String(decoding: bytes, as: UTF8.self) == "2023-11-14T22:13:20Z..")
  }
}

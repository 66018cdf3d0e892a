// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SOPCommands

struct PasswordTextTests {
  private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
    Array(bytes.prefix(PasswordText.byteCountWithoutTrailingSpace(bytes.span.bytes)))
  }

  @Test(
    "White space of every kind is trimmed at the end, and nowhere else",
    arguments: [
      ("password\n", "password"), ("password \t\r\n", "password"), (" pass word", " pass word"),
      ("pass\u{A0}\u{2003}\u{3000}\u{85}\u{2028}", "pass"), ("\u{20AC}\n", "\u{20AC}"), ("\n\n", ""),
      ("", ""),
      ("a\u{200B}", "a\u{200B}"),
    ])
  func trimming(text: String, expected: String) {
    #expect(Self.trimmed(Array(text.utf8)) == Array(expected.utf8))
  }

  @Test("What is not UTF-8 keeps its end")
  func notText() {
    #expect(Self.trimmed([0x61, 0xFF, 0x20]) == [0x61, 0xFF])
    #expect(Self.trimmed([0x61, 0x80, 0x85]) == [0x61, 0x80, 0x85])
    #expect(Self.trimmed([0x85]) == [0x85])
  }

  @Test(
    "Text that a person can read and type is human-readable",
    arguments: ["password", "correct horse battery staple", "p\u{E4}ssw\u{F6}rd", "\u{1F511}\u{6F22}", ""])
  func readable(text: String) {
    let bytes = Array(text.utf8)
    let isReadable = PasswordText.isHumanReadable(bytes.span.bytes)
    #expect(isReadable)
  }

  @Test(
    "Control characters, private places and anything but the shortest UTF-8 are not",
    arguments: [
      [0x00], [0x61, 0x0A, 0x62], [0x1B], [0x7F], [0xC2, 0x85], [0xFF], [0x61, 0x80], [0xC3], [0xC0, 0xAF],
      [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xEE, 0x80, 0x80],
      [0xEF, 0xBF, 0xBF], [0xEF, 0xBB, 0xBF, 0x61],
    ] as [[UInt8]])
  func unreadable(bytes: [UInt8]) {
    let isReadable = PasswordText.isHumanReadable(bytes.span.bytes)
    #expect(!isReadable)
  }
}

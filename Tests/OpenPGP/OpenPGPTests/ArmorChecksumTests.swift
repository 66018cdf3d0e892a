// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 6.1: which blocks have a checksum, and that it is the right one.

import Foundation
import Testing

@testable import OpenPGP

struct ArmorChecksumTests {
  /// As section 6.1.1 has it, a bit at a time.
  private static func slowly(_ bytes: [UInt8]) -> UInt32 {
    var crc: UInt32 = 0xB704CE
    for byte in bytes {
      crc ^= UInt32(byte) << 16
      for _ in 0..<8 {
        crc <<= 1
        if crc & 0x100_0000 != 0 { crc ^= 0x1864CFB }
      }
    }
    return crc
  }

  private static func lines(_ bytes: [UInt8], pieceByteCount: Int = .max) throws -> [String] {
    let sink = ArraySink()
    let writer = try ArmorWriter(sink, kind: .message)
    var rest = bytes[...]
    while !rest.isEmpty {
      try writer.write(Array(rest.prefix(pieceByteCount)))
      rest = rest.dropFirst(pieceByteCount)
    }
    try writer.finish()
    return String(decoding: sink.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test("The checksum of version 4 is the standard's, in pieces of any size", arguments: [1, 3, 8, 13, 1000])
  func value(pieceByteCount: Int) throws {
    #expect(Self.slowly(Array("123456789".utf8)) == 0x21CF02)
    for count in 8..<80 {
      let bytes = [0x88, UInt8(count - 2), 4] + (3..<count).map { UInt8($0 &* 37 & 0xFF) }
      let crc = Self.slowly(bytes)
      let octets = Data([16, 8, 0].map { UInt8(truncatingIfNeeded: crc >> UInt32($0)) })
      let written = try Self.lines(bytes, pieceByteCount: pieceByteCount).dropLast().last
      #expect(written == "=" + octets.base64EncodedString())
    }
  }

  @Test(
    "Nothing newer than version 4 has a checksum, and what GnuPG reads has one",
    arguments: [
      ([0xC6, 10, 4], true), ([0xC6, 10, 6], false), ([0xC5, 10, 4], true), ([0xC5, 0xC1, 10, 6], false),
      ([0xC2, 10, 3], true), ([0xC2, 10, 6], false), ([0xC1, 10, 3], true), ([0xC1, 10, 6], false),
      ([0xC3, 10, 4], true), ([0xC3, 10, 6], false), ([0xC4, 10, 3], true), ([0xC4, 10, 6], false),
      ([0xD2, 0xE9, 1], true), ([0xD2, 0xE9, 2], false), ([0x99, 1, 10, 4], true), ([0xD5, 10, 1], false),
      ([0xA3, 1], true),
    ] as [([UInt8], Bool)])
  func presence(beginning: [UInt8], isWanted: Bool) throws {
    let last = try Self.lines(beginning + [UInt8](repeating: 0, count: 30)).dropLast().last
    #expect(last?.hasPrefix("=") == isWanted)
  }
}

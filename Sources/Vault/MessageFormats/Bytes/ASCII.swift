// SPDX-License-Identifier: Apache-2.0
//
// The bytes that text formats are made of, by name.

/// ASCII codes and classes.
enum ASCII {
  static let tab: UInt8 = 0x09
  static let newline: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D
  static let space: UInt8 = 0x20
  static let quote: UInt8 = 0x22
  static let percent: UInt8 = 0x25
  static let ampersand: UInt8 = 0x26
  static let comma: UInt8 = 0x2C
  static let dash: UInt8 = 0x2D
  static let dot: UInt8 = 0x2E
  static let slash: UInt8 = 0x2F
  static let zero: UInt8 = 0x30
  static let colon: UInt8 = 0x3A
  static let semicolon: UInt8 = 0x3B
  static let less: UInt8 = 0x3C
  static let equals: UInt8 = 0x3D
  static let greater: UInt8 = 0x3E
  static let question: UInt8 = 0x3F
  static let backslash: UInt8 = 0x5C
  static let underscore: UInt8 = 0x5F

  @inline(__always) static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- 0x41 < 26 ? byte | 0x20 : byte
  }
  @inline(__always) static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }
  @inline(__always) static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
  @inline(__always) static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }
  @inline(__always) static func isWhitespace(_ byte: UInt8) -> Bool {
    byte == space || byte &- tab < 5
  }

  /// The value of a hexadecimal digit of either case.
  static func hexValue(_ byte: UInt8) -> UInt8? {
    if isDigit(byte) { return byte - zero }
    let lower = byte | 0x20
    return lower &- 0x61 < 6 ? lower - 0x61 + 10 : nil
  }

  /// The lower-case digit of a value below 16.
  static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? zero + value : 0x61 + value - 10 }
  /// The upper-case digit of a value below 16, as RFC 3986 section 2.1 wants it.
  static func upperHexDigit(_ value: UInt8) -> UInt8 { value < 10 ? zero + value : 0x41 + value - 10 }
}

extension StaticString {
  /// The last byte; zero when there is none.
  var lastByte: UInt8 {
    unsafe utf8CodeUnitCount == 0 ? 0 : utf8Start[utf8CodeUnitCount - 1]
  }
}

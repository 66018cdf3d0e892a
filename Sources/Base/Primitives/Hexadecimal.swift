// SPDX-License-Identifier: Apache-2.0

/// Bytes as text.
package enum Hexadecimal {
  /// The value of a digit, in either case; nil for anything else.
  package static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// The bytes that digits stand for, in either case; nil for anything else. For bytes that are not secret.
  package static func bytes(_ digits: some Collection<UInt8>) -> [UInt8]? {
    let values = digits.compactMap { value($0) }
    guard values.count == digits.count, values.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }

  /// Two digits a byte, in lower case; for bytes that are not secret.
  package static func text(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

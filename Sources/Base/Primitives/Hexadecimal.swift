// SPDX-License-Identifier: Apache-2.0

/// Bytes as text.
package enum Hexadecimal {
  /// Two digits a byte, in lower case; for bytes that are not secret.
  package static func text(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

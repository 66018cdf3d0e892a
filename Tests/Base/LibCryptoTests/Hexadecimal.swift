// SPDX-License-Identifier: Apache-2.0
//
// Values of published vectors.

/// The bytes of pairs of hexadecimal digits.
func hex(_ text: String) -> [UInt8] {
  let digits = text.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue ?? 0) }
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

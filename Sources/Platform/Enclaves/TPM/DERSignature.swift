// SPDX-License-Identifier: Apache-2.0
//
// ECDSA signatures between the chip's form, two numbers, and DER (RFC 3279, section 2.2.3).

/// r and s of P-256, 32 bytes each, big-endian.
struct DERSignature: Equatable {
  let r: [UInt8]
  let s: [UInt8]

  init(r: [UInt8], s: [UInt8]) {
    self.r = r
    self.s = s
  }

  /// Reads the DER form; nil for anything else.
  init?(_ bytes: [UInt8]) {
    var rest = bytes[...]
    guard bytes.count <= 72, Self.take(&rest, tag: 0x30)?.count == bytes.count - 2, rest.isEmpty else {
      return nil
    }
    var numbers = bytes[2...]
    guard let r = Self.number(&numbers), let s = Self.number(&numbers), numbers.isEmpty else { return nil }
    self.init(r: r, s: s)
  }

  var bytes: [UInt8] {
    let numbers = Self.encoded(r) + Self.encoded(s)
    return [0x30, UInt8(numbers.count)] + numbers
  }

  private static func encoded(_ number: [UInt8]) -> [UInt8] {
    var digits = Array(number.drop { $0 == 0 })
    // Positive, and never empty.
    if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
    return [0x02, UInt8(digits.count)] + digits
  }

  private static func number(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
    guard let digits = take(&rest, tag: 0x02), let first = digits.first, first < 0x80 else { return nil }
    let significant = digits.drop { $0 == 0 }
    guard significant.count <= 32 else { return nil }
    return [UInt8](repeating: 0, count: 32 - significant.count) + significant
  }

  /// The contents of the next element, with a length of one byte.
  private static func take(_ rest: inout ArraySlice<UInt8>, tag: UInt8) -> ArraySlice<UInt8>? {
    guard rest.count >= 2, rest[rest.startIndex] == tag else { return nil }
    let count = Int(rest[rest.startIndex + 1])
    let contents = rest.dropFirst(2)
    guard count < 0x80, contents.count >= count else { return nil }
    rest = contents.dropFirst(count)
    return contents.prefix(count)
  }
}

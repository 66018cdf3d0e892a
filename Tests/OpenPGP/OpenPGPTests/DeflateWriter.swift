// SPDX-License-Identifier: Apache-2.0
//
// RFC 1951 and 1950, as little of them as tests need: octets and repetitions with the fixed codes.

@testable import OpenPGP

/// Writes a deflate stream.
struct DeflateWriter {
  private(set) var bytes: [UInt8] = []
  private var pending: UInt64 = 0
  private var pendingCount = 0

  /// `data` as literals, and as repetitions of what was `period` octets before where that is the same.
  static func stream(_ data: [UInt8], period: Int = 1) -> [UInt8] {
    var writer = DeflateWriter()
    // The last block, with fixed codes.
    writer.put(0b011, 3)
    var place = 0
    while place < data.count {
      let end = place + longestRepetition
      if place >= period, end <= data.count, data[place..<end] == data[place - period..<end - period] {
        writer.putRepetition(period)
        place = end
      } else {
        writer.putLiteral(data[place])
        place += 1
      }
    }
    writer.putCode(0, 7)
    if writer.pendingCount > 0 { writer.put(0, 8 - writer.pendingCount) }
    return writer.bytes
  }

  /// The same as a zlib stream.
  static func zlibStream(_ data: [UInt8]) -> [UInt8] {
    var (low, high): (UInt32, UInt32) = (1, 0)
    for octet in data {
      low = (low + UInt32(octet)) % 65_521
      high = (high + low) % 65_521
    }
    let sum = high << 16 | low
    return [0x78, 0x01] + stream(data) + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) }
  }

  /// Bits of a number, the lowest first.
  private mutating func put(_ value: UInt64, _ count: Int) {
    pending |= value << UInt64(pendingCount)
    pendingCount += count
    while pendingCount >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: pending))
      pending >>= 8
      pendingCount -= 8
    }
  }

  /// Bits of a code, the highest first.
  private mutating func putCode(_ code: UInt64, _ count: Int) {
    for shift in stride(from: count - 1, through: 0, by: -1) { put(code >> UInt64(shift) & 1, 1) }
  }

  private mutating func putLiteral(_ octet: UInt8) {
    if octet < 144 { putCode(0x30 + UInt64(octet), 8) } else { putCode(0x190 + UInt64(octet) - 144, 9) }
  }

  private mutating func putRepetition(_ distance: Int) {
    // Length 258 is symbol 285.
    putCode(0b1100_0101, 8)
    switch distance {
    case 1...4: putCode(UInt64(distance - 1), 5)
    default:
      // Two codes for each number of extra bits, from the second bit of the distance on.
      let value = distance - 1
      let extraCount = Int.bitWidth - value.leadingZeroBitCount - 2
      putCode(UInt64(2 * extraCount + 2 + (value >> extraCount & 1)), 5)
      put(UInt64(value & (1 << extraCount - 1)), extraCount)
    }
  }

  private static let longestRepetition = 258
}

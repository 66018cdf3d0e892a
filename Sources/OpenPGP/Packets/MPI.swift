// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 3.2: a count of bits in two octets, then the number, big-endian, without leading zeros. A
// count that is not the number's own is refused, so that one number has one encoding.

internal import Primitives

/// A multiprecision integer that is no secret.
public struct MPI: Hashable, Sendable {
  /// Big-endian, without leading zero octets; empty for zero.
  public let bytes: [UInt8]

  /// A number from its octets; leading zeros are dropped.
  public init(_ bytes: [UInt8]) { self.bytes = Array(bytes.drop { $0 == 0 }) }

  init(_ cursor: inout PacketCursor, _ body: RawSpan) throws(OpenPGPError) {
    let range = try MPI.readRange(&cursor, body)
    bytes = [UInt8](copying: body.extracting(range))
  }

  /// Bits up to the highest that is set.
  public var bitCount: Int {
    guard let first = bytes.first else { return 0 }
    return bytes.count * 8 - first.leadingZeroBitCount
  }

  /// The number in exactly `count` octets; nil when it has more.
  public func padded(to count: Int) -> [UInt8]? {
    guard bytes.count <= count else { return nil }
    return [UInt8](repeating: 0, count: count - bytes.count) + bytes
  }

  func write(to output: inout [UInt8]) {
    output.append(bigEndian: UInt16(bitCount))
    output += bytes
  }

  /// Where the octets of the next number are; checks the count of bits.
  static func readRange(_ cursor: inout PacketCursor, _ body: RawSpan) throws(OpenPGPError) -> Range<Int> {
    let bitCount = try cursor.readUInt16(body)
    guard bitCount <= Limits.integerBitCount else { throw .overLimit(.integerBitCount) }
    let range = try cursor.readRange(body, count: (bitCount + 7) / 8)
    if let first = range.first {
      let highest = unsafe body.unsafeLoad(fromByteOffset: first, as: UInt8.self)
      guard range.count * 8 - highest.leadingZeroBitCount == bitCount else {
        throw .malformed(.multiprecisionInteger)
      }
    }
    return range
  }
}

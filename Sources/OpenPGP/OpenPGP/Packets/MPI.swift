// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 3.2: a count of bits in two octets, then the number, big-endian, without leading zeros. A
// count that is not the number's own is refused, so that one number has one encoding. The standard wants that of
// version 6; what is older may count zeros in front as well, but for public keys, whose fingerprints depend on it:
// the OpenPGP package of Go wrote signatures and session keys of RSA so for ten years, GnuPG, OpenPGP.js and
// Bouncy Castle secret keys. It is written again as it came.

internal import Primitives

/// A multiprecision integer that is no secret.
public struct MPI: Hashable, Sendable {
  /// Big-endian, without leading zero octets; empty for zero.
  public let bytes: [UInt8]
  /// The count of bits that stood before it, when that was not its own.
  private let writtenBitCount: Int?

  /// A number from its octets; leading zeros are dropped.
  public init(_ bytes: [UInt8]) {
    self.bytes = Array(bytes.drop { $0 == 0 })
    writtenBitCount = nil
  }

  init(
    _ cursor: inout PacketCursor, _ body: RawSpan, countsLeadingZeros: Bool = false
  ) throws(OpenPGPError) {
    var first = cursor
    let range = try MPI.readRange(&cursor, body, countsLeadingZeros: countsLeadingZeros)
    let number = MPI([UInt8](copying: body.extracting(range)))
    let bitCount = try first.readUInt16(body)
    bytes = number.bytes
    writtenBitCount = bitCount == number.bitCount ? nil : bitCount
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
    let written = writtenBitCount ?? bitCount
    output.append(bigEndian: UInt16(written))
    output += [UInt8](repeating: 0, count: (written + 7) / 8 - bytes.count) + bytes
  }

  /// Where the octets of the next number are; checks the count of bits.
  /// - Parameter countsLeadingZeros: whether the count may be that of a longer number, with zeros in front.
  static func readRange(
    _ cursor: inout PacketCursor, _ body: RawSpan, countsLeadingZeros: Bool = false
  ) throws(OpenPGPError) -> Range<Int> {
    let bitCount = try cursor.readUInt16(body)
    guard bitCount <= Limits.integerBitCount else { throw .overLimit(.integerBitCount) }
    let range = try cursor.readRange(body, count: (bitCount + 7) / 8)
    if let first = range.first {
      let highest = unsafe body.unsafeLoad(fromByteOffset: first, as: UInt8.self)
      let used = range.count * 8 - highest.leadingZeroBitCount
      guard used == bitCount || countsLeadingZeros && used < bitCount else {
        throw .malformed(.multiprecisionInteger)
      }
    }
    return range
  }
}

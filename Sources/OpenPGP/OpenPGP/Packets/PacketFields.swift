// SPDX-License-Identifier: Apache-2.0
//
// The small fields that many packets have: fingerprints and key IDs (RFC 9580, section 5.5.4), times (section
// 3.5) and multiprecision integers (section 3.2).
//
// An integer is a count of bits in two octets, then the number, big-endian, without leading zeros. A count
// that is not the number's own is refused, so that each number has one encoding. The standard demands that of
// version 6. In older versions the count may include leading zeros, except in public keys, whose fingerprints
// depend on it: the OpenPGP package of Go wrote RSA signatures and session keys like that for ten years, and
// GnuPG, OpenPGP.js and Bouncy Castle wrote secret keys like that. Such a number is written again as it was
// read.

internal import Primitives

/// The fingerprint of a key.
///
/// [RFC 9580, section 5.5.4](https://www.rfc-editor.org/rfc/rfc9580#section-5.5.4)
public struct Fingerprint: Hashable, Comparable, Sendable {
  static let version4ByteCount = 20
  static let version6ByteCount = 32

  /// Nil for a version that is not known.
  package static func byteCount(version: UInt8) -> Int? {
    switch version {
    case 4: version4ByteCount
    case 6: version6ByteCount
    default: nil
    }
  }

  /// The version of the key.
  public let version: UInt8
  /// 20 octets of version 4, 32 of version 6.
  public let bytes: [UInt8]

  /// A fingerprint from its octets, for example one that you have stored.
  public init(version: UInt8, bytes: [UInt8]) {
    self.version = version
    self.bytes = bytes
  }

  /// The fingerprint of a key of version 4 (20 octets) or 6 (32 octets); nil for any other length.
  public init?(bytes: [UInt8]) {
    switch bytes.count {
    case Self.version4ByteCount: self.init(version: 4, bytes: bytes)
    case Self.version6ByteCount: self.init(version: 6, bytes: bytes)
    default: return nil
    }
  }

  /// By their octets; a shorter one that another begins with comes first.
  public static func < (left: Self, right: Self) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  /// The key ID: the last eight octets of version 4, the first eight of version 6. A fingerprint of another
  /// version, which a stranger wrote, may be shorter; zeros then fill what it lacks.
  public var keyID: KeyID {
    let part = version == 4 ? bytes.suffix(KeyID.byteCount) : bytes.prefix(KeyID.byteCount)
    return KeyID(bytes: part + [UInt8](repeating: 0, count: KeyID.byteCount - part.count))
  }

  /// Upper-case hexadecimal digits without spaces.
  public var hexadecimal: String { Hexadecimal.text(bytes).uppercased() }
}

/// Eight octets that hint at a key, and prove nothing.
///
/// [RFC 9580, section 5.5.4](https://www.rfc-editor.org/rfc/rfc9580#section-5.5.4)
public struct KeyID: Hashable, Sendable {
  static let byteCount = 8

  /// Eight octets.
  public let bytes: [UInt8]

  /// A key ID.
  /// - Precondition: there are eight octets.
  public init(bytes: [UInt8]) {
    precondition(bytes.count == Self.byteCount, "a key ID has eight octets")
    self.bytes = bytes
  }

  /// Upper-case hexadecimal digits without spaces.
  public var hexadecimal: String { Hexadecimal.text(bytes).uppercased() }

  /// All zero: a recipient that is not named (section 5.1.8).
  public static let anonymous = KeyID(bytes: [UInt8](repeating: 0, count: byteCount))
}

/// A time as packets hold it: whole seconds since 1970, in 32 bits.
///
/// [RFC 9580, section 3.5](https://www.rfc-editor.org/rfc/rfc9580#section-3.5)
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Seconds since the beginning of 1970 in UTC, without leap seconds.
  public let secondsSince1970: UInt32

  /// A time from its seconds.
  public init(secondsSince1970: UInt32) { self.secondsSince1970 = secondsSince1970 }

  /// This time and so many seconds; the last moment of the format when it does not reach so far.
  public func adding(seconds: UInt32) -> Timestamp {
    let (sum, overflow) = secondsSince1970.addingReportingOverflow(seconds)
    return Timestamp(secondsSince1970: overflow ? .max : sum)
  }

  /// Whether `left` is earlier.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.secondsSince1970 < right.secondsSince1970
  }
}

/// A multiprecision integer that is not secret.
///
/// [RFC 9580, section 3.2](https://www.rfc-editor.org/rfc/rfc9580#section-3.2)
public struct MPI: Hashable, Sendable {
  /// Big-endian, without leading zero octets; empty for zero.
  public let bytes: [UInt8]
  /// The count of bits that was read before it, when that was not its own.
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

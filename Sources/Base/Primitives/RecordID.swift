// SPDX-License-Identifier: Apache-2.0
//
// The identifier of a message or a capture: a UUID of version 7 (RFC 9562, section 5.7). Its leading time keeps the
// index of a large table growing at one end; the other 74 bits are random. Of several in one millisecond, each is the
// one before plus a random number (section 6.2, method 2), so that lists can be sorted by them. The row holds a time
// in the clear anyway, so the identifier tells nothing new.

internal import Glibc
internal import Synchronization

/// Names one message or one capture.
public struct RecordID: Hashable, Sendable {
  /// The 16 bytes of the UUID, in network order: the salt of its key.
  public static let byteCount = 16

  private let high: UInt64
  private let low: UInt64

  /// The last that this process made: milliseconds and 12 bits, then 62 bits.
  private static let last = Mutex<(UInt64, UInt64)>((0, 0))

  /// A new identifier. It comes after all that this process has made, also if the clock was set back.
  public init() {
    var time = timespec()
    unsafe _ = clock_gettime(CLOCK_REALTIME, &time)
    // A clock that is set to a time before 1970 shows 1970.
    let milliseconds = UInt64(max(0, time.tv_sec)) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
    var random: (UInt64, UInt64) = (0, 0)
    unsafe withUnsafeMutableBytes(of: &random) { buffer in
      var span = unsafe buffer.mutableBytes
      SystemRandom.fill(&span)
    }
    let bits62: UInt64 = 0x3FFF_FFFF_FFFF_FFFF
    let (upper, lower) = Self.last.withLock { last in
      if milliseconds > last.0 >> 12 {
        last = (milliseconds << 12 | random.0 & 0x0FFF, random.1 & bits62)
      } else {
        let sum = last.1 + (random.1 & 0xFFFF_FFFF) + 1
        last = (last.0 + sum >> 62, sum & bits62)
      }
      return last
    }
    high = (upper >> 12) << 16 | 0x7000 | upper & 0x0FFF
    low = 0x8000_0000_0000_0000 | lower
  }

  private init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// No identifier comes before it.
  public static let lowest = RecordID(high: 0, low: 0)
  /// No identifier comes after it.
  public static let highest = RecordID(high: .max, low: .max)

  /// Reads 16 bytes; nil for any other number.
  public init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.byteCount else { return nil }
    high = UInt64(bigEndian: unsafe bytes.unsafeLoadUnaligned(as: UInt64.self))
    low = UInt64(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  /// Reads the usual text form, in either case; nil for anything else.
  public init?(_ text: String) {
    let characters = Array(text.utf8)
    guard characters.count == 36 else { return nil }
    var digits: [UInt64] = []
    for (offset, character) in characters.enumerated() {
      if [8, 13, 18, 23].contains(offset) {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Character(UnicodeScalar(character)).hexDigitValue else { return nil }
      digits.append(UInt64(digit))
    }
    high = digits[..<16].reduce(0) { $0 << 4 | $1 }
    low = digits[16...].reduce(0) { $0 << 4 | $1 }
  }

  /// Lends the 16 bytes.
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    let bytes: InlineArray<2, UInt64> = [high.bigEndian, low.bigEndian]
    return unsafe try body(bytes.span.bytes)
  }

  /// The text form that is part of a message's associated data: 36 characters, upper case.
  package func write(to output: inout MutableRawSpan, at offset: Int) {
    var position = offset
    for index in 0..<16 {
      if [4, 6, 8, 10].contains(index) {
        output.storeBytes(of: UInt8(ascii: "-"), toByteOffset: position, as: UInt8.self)
        position += 1
      }
      let byte = (index < 8 ? high >> UInt64(56 - 8 * index) : low >> UInt64(120 - 8 * index)) & 0xFF
      for digit in [byte >> 4, byte & 15] {
        let character = UInt8(digit) + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "A") - 10)
        output.storeBytes(of: character, toByteOffset: position, as: UInt8.self)
        position += 1
      }
    }
  }
}

/// By the bytes, and so by the time at which they were made.
extension RecordID: Comparable {
  public static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }
}

extension RecordID: CustomStringConvertible {
  /// The text form in lower case, as the command line prints it.
  public var description: String {
    unsafe String(unsafeUninitializedCapacity: 36) { text in
      var position = 0
      for shift in stride(from: 124, through: 0, by: -4) {
        if shift == 92 || shift == 76 || shift == 60 || shift == 44 {
          unsafe text[position] = UInt8(ascii: "-")
          position += 1
        }
        let digit = UInt8((shift >= 64 ? high >> UInt64(shift - 64) : low >> UInt64(shift)) & 15)
        unsafe text[position] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
        position += 1
      }
      return position
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Bits of lists, filled from the low end of each byte (Specs/search-index.md, "Lists").

/// Writes bits after whatever bytes are there.
struct BitWriter: ~Copyable {
  var bytes = ErasedArray<UInt8>(capacity: 64 << 10)
  private var held: UInt64 = 0
  private var heldCount: UInt64 = 0

  /// - Parameter count: at most 32.
  @inline(__always) mutating func put(_ bits: UInt64, _ count: UInt64) {
    held |= bits << heldCount
    heldCount += count
    guard heldCount >= 32 else { return }
    let place = bytes.count
    bytes.resize(to: place + 4)
    unsafe UnsafeMutableRawPointer(bytes.pointer + place)
      .storeBytes(of: UInt32(truncatingIfNeeded: held).littleEndian, as: UInt32.self)
    held >>= 32
    heldCount -= 32
  }

  /// So many ones and a zero.
  @inline(__always) mutating func putUnary(_ count: UInt64) {
    var rest = count
    while rest >= 31 {
      put(0x7FFF_FFFF, 31)
      rest -= 31
    }
    put(1 << rest - 1, rest + 1)
  }

  @inline(__always) mutating func putRice(_ number: UInt64, _ k: UInt64) {
    let ones = number >> k
    let low = number & (1 << k - 1)
    if ones + 1 + k <= 32 {
      put(1 << ones - 1 | low << (ones + 1), ones + 1 + k)
    } else {
      putUnary(ones)
      put(low, k)
    }
  }

  /// Fills the last byte with zeros.
  mutating func finish() {
    while heldCount > 0 {
      bytes.append(UInt8(truncatingIfNeeded: held))
      held >>= 8
      heldCount = heldCount > 8 ? heldCount - 8 : 0
    }
    held = 0
  }
}

/// Reads bits from memory with eight more bytes after its end. Past the end it reads zeros and says so.
@safe
struct BitReader {
  private let base: UnsafeRawPointer
  private var position: Int
  private let end: Int
  /// Whether more was read than there is.
  private(set) var isBad = false

  /// - Parameter range: bytes after `base`, which must live as long as this, and eight more.
  @unsafe init(_ base: UnsafeRawPointer, _ range: Range<Int>) {
    unsafe self.base = unsafe base
    (position, end) = (range.lowerBound * 8, range.upperBound * 8)
  }

  /// At least 57 bits from the position on.
  @inline(__always) private var next: UInt64 {
    unsafe UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position >> 3, as: UInt64.self))
      >> UInt64(position & 7)
  }

  @inline(__always) private mutating func advance(_ count: Int) {
    position += count
    if position > end { (position, isBad) = (end, true) }
  }

  @inline(__always) mutating func unary() -> UInt64 {
    var ones = 0
    while true {
      let run = (~next).trailingZeroBitCount
      if run < 57 {
        advance(run + 1)
        return UInt64(ones + run)
      }
      ones += 56
      advance(56)
      if isBad { return 0 }
    }
  }

  /// - Parameter count: at most 32.
  @inline(__always) mutating func bits(_ count: Int) -> UInt64 {
    let value = next & (1 << UInt64(count) - 1)
    advance(count)
    return value
  }

  @inline(__always) mutating func rice(_ k: Int) -> UInt64 {
    let word = next
    let ones = (~word).trailingZeroBitCount
    if ones + 1 + k <= 57 {
      advance(ones + 1 + k)
      return UInt64(ones) << UInt64(k) | word >> UInt64(ones + 1) & (1 << UInt64(k) - 1)
    }
    let high = unary()
    return high << UInt64(k) | bits(k)
  }

  /// Whether all was read but zeros that fill the last byte.
  var isAtEnd: Bool {
    !isBad && end - position < 8 && (position == end || next & (1 << UInt64(end - position) - 1) == 0)
  }
}

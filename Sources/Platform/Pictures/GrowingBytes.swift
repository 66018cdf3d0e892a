// SPDX-License-Identifier: Apache-2.0
//
// Content of a length that is not known beforehand: an array would leave copies behind when it grows.

internal import Secrets
internal import Texts

/// Bytes to append to, in memory that is erased.
struct GrowingBytes: ~Copyable {
  private var bytes: SecretBytes
  private(set) var count = 0

  init(capacity: Int) { bytes = SecretBytes(zeroed: max(capacity, 64)) }

  mutating func append(_ more: RawSpan) {
    let room = makeRoom(for: more.byteCount)
    bytes.withMutableBytes { bytes in
      unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe more.withUnsafeBytes { more in
          unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[room]).copyMemory(from: more)
        }
      }
    }
  }

  mutating func append(_ byte: UInt8) {
    let room = makeRoom(for: 1)
    bytes.withMutableBytes { bytes in
      bytes.storeBytes(of: byte, toByteOffset: room.lowerBound, as: UInt8.self)
    }
  }

  mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { unsafe append(RawSpan(_unsafeElements: $0)) }
  }

  /// Appends bytes as base64.
  mutating func append(base64 more: RawSpan) {
    let room = makeRoom(for: Base64.characterCount(byteCount: more.byteCount))
    bytes.withMutableBytes { Base64.encode(more, into: &$0, at: room.lowerBound) }
  }

  /// Appends a number in decimal digits.
  mutating func append(_ number: Int) {
    if number >= 10 { append(number / 10) }
    append(UInt8(0x30 + number % 10))
  }

  consuming func finished() -> SecretBytes {
    bytes.shorten(to: count)
    return bytes
  }

  /// Reserves `byteCount` more bytes, and returns their offset.
  private mutating func makeRoom(for byteCount: Int) -> Range<Int> {
    let room = count..<count + byteCount
    if room.upperBound > bytes.count {
      var larger = SecretBytes(zeroed: max(room.upperBound, 2 * bytes.count))
      bytes.withBytes { old in
        larger.withMutableBytes { new in
          unsafe old.withUnsafeBytes { old in
            unsafe new.withUnsafeMutableBytes { unsafe $0.copyMemory(from: old) }
          }
        }
      }
      bytes = larger
    }
    count = room.upperBound
    return room
  }
}

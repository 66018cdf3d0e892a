// SPDX-License-Identifier: Apache-2.0
//
// The bytes that a search of the process's memory looks for. They are kept masked and are unmasked one at
// a time, so that the search does not find itself.

/// Bytes to look for, in a form that the search does not find.
public struct Needle {
  private let masked: [UInt8]
  private let mask: [UInt8]

  public init(_ bytes: RawSpan) {
    let mask = (0..<bytes.byteCount).map { _ in UInt8.random(in: .min ... .max) }
    self.mask = mask
    masked = (0..<bytes.byteCount).map {
      bytes.unsafeLoad(fromUncheckedByteOffset: $0, as: UInt8.self) ^ mask[$0]
    }
  }

  var count: Int { masked.count }

  /// One byte at a time, never inlined: no register or stack slot ever holds more of it.
  @inline(never)
  @_optimize(none)
  func byte(_ index: Int) -> UInt8 { masked[index] ^ mask[index] }

  func matches(_ place: UnsafeRawPointer, from start: Int, count: Int) -> Bool {
    for index in 0..<count
    where place.load(fromByteOffset: index, as: UInt8.self) != byte(start + index) { return false }
    return true
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The bytes that a search of the process's memory looks for. They are kept masked, and are put together for a search
// alone, in pages that it leaves out, so that no search finds itself.

/// Bytes to look for, in a form that the search does not find.
public struct Needle: Sendable {
  private let masked: [UInt8]
  private let mask: [UInt8]

  public init(_ bytes: RawSpan) {
    let mask = (0..<bytes.byteCount).map { _ in UInt8.random(in: .min ... .max) }
    self.mask = mask
    masked = (0..<bytes.byteCount).map { Self.byte(of: bytes, $0) ^ mask[$0] }
  }

  var count: Int { masked.count }

  /// Writes the bytes themselves.
  func reveal(at place: UnsafeMutableRawPointer) {
    for index in 0..<count { place.storeBytes(of: byte(index), toByteOffset: index, as: UInt8.self) }
  }

  /// One byte at a time, never inlined: no register or stack slot ever holds more of it.
  @inline(never)
  @_optimize(none)
  private func byte(_ index: Int) -> UInt8 { masked[index] ^ mask[index] }

  /// One byte at a time: a loop over the bytes themselves would be made one over vectors, and these would stay behind.
  @inline(never)
  @_optimize(none)
  private static func byte(of bytes: RawSpan, _ index: Int) -> UInt8 {
    bytes.unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
  }
}

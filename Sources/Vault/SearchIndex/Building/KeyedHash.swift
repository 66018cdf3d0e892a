// SPDX-License-Identifier: Apache-2.0

internal import Primitives

/// A hash of bytes under a random key: words come from strangers, who must not be able to choose colliding ones.
struct KeyedHash {
  private let key: (UInt64, UInt64)

  init() {
    var bytes = SystemRandom.publicBytes(count: 16).makeIterator()
    func number() -> UInt64 { (0..<8).reduce(0) { sum, _ in sum << 8 | UInt64(bytes.next() ?? 0) } }
    key = (number() | 1, number())
  }

  @inline(__always) func callAsFunction(_ bytes: RawSpan) -> UInt64 {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return mixed(key.1) }
      return unsafe self(start, bytes.count, readable: bytes.count)
    }
  }

  /// - Parameter readable: bytes that may be read from `start` on, at least `count`.
  @unsafe @inline(__always)
  func callAsFunction(_ start: UnsafeRawPointer, _ count: Int, readable: Int) -> UInt64 {
    var state = key.1 ^ UInt64(count)
    var offset = 0
    while count - offset > 8 {
      state = unsafe mixed(state ^ start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    var last: UInt64 = 0
    if readable - offset >= 8 {
      let bits = UInt64(64 - 8 * (count - offset))
      last = unsafe (start.loadUnaligned(fromByteOffset: offset, as: UInt64.self) << bits) >> bits
      if bits == 64 { last = 0 }
    } else {
      for index in offset..<count {
        last =
          unsafe last | UInt64(start.load(fromByteOffset: index, as: UInt8.self))
          << UInt64(8 * (index - offset))
      }
    }
    return mixed(state ^ last)
  }

  /// Another hash for the same word with another namespace.
  @inline(__always) func callAsFunction(_ hash: UInt64, _ namespace: UInt8) -> UInt64 {
    mixed(hash ^ UInt64(namespace))
  }

  @inline(__always) private func mixed(_ number: UInt64) -> UInt64 {
    let product = number.multipliedFullWidth(by: key.0 ^ 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The working memory of builder and reader: numbers and bytes in the memory of `SecretBytes`, erased when it grows or
// goes. Up to 1 MiB it is locked; what is longer holds numbers and no words.

internal import Secrets

/// Elements that can be appended to; erased at the end.
///
/// The base address is kept beside the secret that owns it: the memory of a `SecretBytes` never moves and lives as long
/// as the value, and growing replaces both together.
@safe
struct ErasedArray<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  private var storage: SecretBytes
  private var base: UnsafeMutablePointer<Element>
  private(set) var capacity: Int
  private(set) var count = 0

  /// - Parameter capacity: elements; 8 bytes more are always there, and zero at first.
  init(capacity: Int) {
    let capacity = max(capacity, 16)
    storage = SecretBytes(zeroed: capacity * MemoryLayout<Element>.stride + 8)
    unsafe base = Self.address(&storage)
    self.capacity = capacity
  }

  private static func address(_ storage: inout SecretBytes) -> UnsafeMutablePointer<Element> {
    unsafe storage.withMutableBytes { span in
      unsafe span.withUnsafeMutableBytes { bytes in
        // There is room for an element, so there is an address; pages and cells are aligned.
        unsafe bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: Element.self)
      }
    }
  }

  /// The element at `index`.
  subscript(index: Int) -> Element {
    @inline(__always) get {
      precondition(index >= 0 && index < count, "index outside of the array")
      return unsafe base[index]
    }
    @inline(__always) set {
      precondition(index >= 0 && index < count, "index outside of the array")
      unsafe base[index] = newValue
    }
  }

  /// The memory. The caller keeps to ``count`` elements and does not keep the address.
  @unsafe @inline(__always) var pointer: UnsafeMutablePointer<Element> { unsafe base }

  /// Forgets the elements, keeps the memory.
  @inline(__always) mutating func removeAll() { count = 0 }

  /// Forgets the elements from `newCount` on.
  @inline(__always) mutating func shorten(to newCount: Int) {
    precondition(newCount >= 0 && newCount <= count, "an array can only be shortened")
    count = newCount
  }

  @inline(__always) mutating func append(_ element: Element) {
    if count == capacity { grow(to: 2 * capacity) }
    unsafe base[count] = element
    count += 1
  }

  /// Makes room for so many elements in all.
  @inline(__always) mutating func reserve(_ total: Int) {
    if total > capacity { grow(to: max(total, 2 * capacity)) }
  }

  /// Makes `newCount` elements of what the memory holds: zeros, or what was there before.
  @inline(__always) mutating func resize(to newCount: Int) {
    reserve(newCount)
    count = newCount
  }

  private mutating func grow(to total: Int) {
    var larger = ErasedArray(capacity: total)
    unsafe larger.base.update(from: base, count: count)
    larger.count = count
    self = larger
  }
}

extension ErasedArray<UInt8> {
  /// Lends all bytes.
  @inline(__always)
  borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    let span = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(pointer), byteCount: count)
    return try body(span)
  }

  mutating func append(_ bytes: RawSpan) {
    let start = count
    resize(to: count + bytes.byteCount)
    unsafe bytes.withUnsafeBytes { source in
      guard let address = source.baseAddress else { return }
      unsafe UnsafeMutableRawPointer(pointer + start).copyMemory(from: address, byteCount: source.count)
    }
  }

  /// Zeros after the last byte, so that eight bytes can be loaded from anywhere in it.
  mutating func pad() {
    reserve(count)
    unsafe UnsafeMutableRawPointer(pointer + count).storeBytes(of: 0 as UInt64, as: UInt64.self)
  }

  /// Appends a number, seven bits a byte, the low ones first.
  @inline(__always) mutating func append(varint number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  /// Appends a number that may be negative.
  mutating func append(zigzag number: Int64) {
    append(varint: UInt64(bitPattern: number << 1 ^ number >> 63))
  }

  /// Appends the low bytes of a number, big-endian.
  mutating func append(bigEndian number: UInt64, byteCount: Int) {
    for index in (0..<byteCount).reversed() { append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The reused working memory of readers and writers. It is `SecretBytes` with a fill level, so whatever
// passed through is erased when the buffer grows or goes.

internal import CSystem
internal import Glibc
internal import Secrets

/// Bytes that can be appended to; erased on the way out.
///
/// The base address is kept beside the secret that owns it: the memory of a `SecretBytes` never moves and
/// lives as long as the value, and a buffer replaces both together.
@safe
struct ByteBuffer: ~Copyable, @unchecked Sendable {
  private var storage: SecretBytes
  private var base: UnsafeMutableRawPointer
  private(set) var capacity: Int
  private(set) var count = 0

  init(capacity: Int) {
    let byteCount = max(capacity, 64)
    storage = SecretBytes(zeroed: byteCount)
    unsafe base = Self.address(of: &storage)
    self.capacity = byteCount
  }

  private static func address(of storage: inout SecretBytes) -> UnsafeMutableRawPointer {
    unsafe storage.withMutableBytes { span in
      unsafe span.withUnsafeMutableBytes { bytes in
        // The capacity is at least 64, so there is an address.
        unsafe bytes.baseAddress.unsafelyUnwrapped
      }
    }
  }

  // MARK: Reading

  subscript(offset: Int) -> UInt8 {
    @inline(__always) get {
      precondition(offset >= 0 && offset < count, "offset outside of the buffer")
      return unsafe base.load(fromByteOffset: offset, as: UInt8.self)
    }
    @inline(__always) set {
      precondition(offset >= 0 && offset < count, "offset outside of the buffer")
      unsafe base.storeBytes(of: newValue, toByteOffset: offset, as: UInt8.self)
    }
  }

  /// Lends all bytes.
  @inline(__always)
  borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    let span = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(base), byteCount: count)
    return try body(span)
  }

  /// Lends the bytes of `range`.
  @inline(__always)
  borrowing func withBytes<R: ~Copyable, E: Error>(
    in range: Range<Int>, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "range outside of the buffer")
    let span = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(base + range.lowerBound), byteCount: range.count)
    return try body(span)
  }

  // MARK: Writing

  /// Forgets the content, keeps the memory.
  mutating func removeAll() { count = 0 }

  /// Forgets what lies beyond `newCount`.
  mutating func shorten(to newCount: Int) {
    precondition(newCount >= 0 && newCount <= count, "a buffer can only be shortened")
    count = newCount
  }

  /// Makes room for `byteCount` bytes in all.
  mutating func reserve(_ byteCount: Int) {
    if byteCount > capacity { grow(to: max(byteCount, 2 * capacity)) }
  }

  /// Makes room for exactly `byteCount` bytes in all, if there is less.
  mutating func grow(to byteCount: Int) {
    guard byteCount > capacity else { return }
    var larger = SecretBytes(zeroed: byteCount)
    let address = unsafe Self.address(of: &larger)
    unsafe address.copyMemory(from: base, byteCount: count)
    storage = larger
    unsafe base = address
    capacity = byteCount
  }

  @inline(__always) mutating func append(_ byte: UInt8) {
    if count == capacity { reserve(count + 1) }
    unsafe base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  mutating func append(_ bytes: RawSpan) {
    reserve(count + bytes.byteCount)
    unsafe bytes.withUnsafeBytes { source in
      guard let start = source.baseAddress else { return }
      unsafe (base + count).copyMemory(from: start, byteCount: source.count)
    }
    count += bytes.byteCount
  }

  mutating func append(_ text: StaticString) {
    let added = text.utf8CodeUnitCount
    reserve(count + added)
    unsafe (base + count).copyMemory(from: text.utf8Start, byteCount: added)
    count += added
  }

  mutating func append(_ text: String) { unsafe append(text.utf8Span.span.bytes) }

  /// Appends the UTF-8 of a character; U+FFFD for an invalid value (RFC 3629 section 3).
  mutating func append(scalar value: UInt32) {
    let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
    for byte in scalar.utf8 { append(byte) }
  }

  /// Moves the bytes of `range` to `offset`, which lies at or before it.
  mutating func move(_ range: Range<Int>, to offset: Int) {
    precondition(offset >= 0 && offset <= range.lowerBound && range.upperBound <= count, "bad move")
    if offset == range.lowerBound || range.isEmpty { return }
    unsafe _ = memmove(base + offset, base + range.lowerBound, range.count)
  }

  /// Drops the first bytes.
  mutating func removeFirst(_ byteCount: Int) {
    move(byteCount..<count, to: 0)
    count -= byteCount
  }

  /// Lends at least `byteCount` free bytes after the content; `body` says how many it filled.
  mutating func appendFilling<E: Error>(
    atLeast byteCount: Int, _ body: (UnsafeMutableRawBufferPointer) throws(E) -> Int
  ) throws(E) {
    reserve(count + byteCount)
    let free = unsafe UnsafeMutableRawBufferPointer(start: base + count, count: capacity - count)
    let filled = try unsafe body(free)
    precondition(filled >= 0 && filled <= free.count, "filled more than there was room for")
    count += filled
  }

  /// Lends the bytes of `range` for changing in place.
  mutating func withMutableBytes<R, E: Error>(
    in range: Range<Int>, _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "range outside of the buffer")
    let bytes = unsafe UnsafeMutableRawBufferPointer(start: base + range.lowerBound, count: range.count)
    return try unsafe body(bytes)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The one type that holds keys, passphrases and plaintext. It is moved, never copied; it is read and filled
// in a closure, and erased when its life ends.

internal import CSystem

/// A fixed number of secret bytes in locked memory, erased when the value ends.
///
/// A copy does not compile. There is no `Codable`, no `Hashable`, no description that could print them.
///
/// Sendable: the memory has one owner, and only its owner changes it.
@safe
public struct SecretBytes: ~Copyable, @unchecked Sendable {
  private let base: UnsafeMutableRawPointer
  /// The size of the memory; `count` may have been shortened since.
  private let allocated: Int
  /// How many bytes.
  public private(set) var count: Int

  /// Zeroed bytes.
  public init(zeroed byteCount: Int) {
    precondition(byteCount >= 0, "a secret cannot have a negative length")
    unsafe base = SecretMemory.allocate(byteCount: byteCount)
    allocated = byteCount
    count = byteCount
  }

  /// A copy of bytes whose owner keeps them, and must erase them.
  public init(copying bytes: RawSpan) {
    self.init(zeroed: bytes.byteCount)
    unsafe bytes.withUnsafeBytes { source in
      if let start = source.baseAddress { unsafe base.copyMemory(from: start, byteCount: source.count) }
    }
  }

  /// Bytes that `fill` writes; they start as zero. When it throws, they are erased.
  public init<E: Error>(
    byteCount: Int, filledBy fill: (inout MutableRawSpan) throws(E) -> Void
  ) throws(E) {
    self.init(zeroed: byteCount)
    try withMutableBytes(fill)
  }

  deinit { unsafe SecretMemory.release(base, byteCount: allocated) }

  /// Lends the bytes to `body`.
  public borrowing func withBytes<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    let span = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(base), byteCount: count)
    return try body(span)
  }

  /// Lends the bytes to `body` for writing.
  public mutating func withMutableBytes<R: ~Copyable, E: Error>(
    _ body: (inout MutableRawSpan) throws(E) -> R
  ) throws(E) -> R {
    var span = unsafe MutableRawSpan(_unsafeStart: base, byteCount: count)
    return try body(&span)
  }

  /// A copy, for the rare secret that has two owners.
  public borrowing func duplicate() -> SecretBytes {
    withBytes { SecretBytes(copying: $0) }
  }

  /// Overwrites the bytes with zeros before the value's life ends.
  public mutating func erase() { unsafe coffer_erase(base, count) }

  /// Drops the bytes from `newCount` on, and erases them.
  public mutating func shorten(to newCount: Int) {
    precondition(newCount >= 0 && newCount <= count, "a secret can only be shortened")
    unsafe coffer_erase(base + newCount, count - newCount)
    count = newCount
  }

  /// Whether both hold the same bytes, in a time that depends on the length alone.
  public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
    withBytes { mine in other.withBytes { theirs in constantTimeEqual(mine, theirs) } }
  }
}

/// Whether two byte sequences are the same, in a time that depends on their lengths alone.
public func constantTimeEqual(_ left: RawSpan, _ right: RawSpan) -> Bool {
  guard left.byteCount == right.byteCount else { return false }
  var difference: UInt8 = 0
  for offset in 0..<left.byteCount {
    difference |=
      unsafe left.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
      ^ right.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }
  return difference == 0
}

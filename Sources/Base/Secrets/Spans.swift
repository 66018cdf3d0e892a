// SPDX-License-Identifier: Apache-2.0
//
// Bytes lent as spans. The language calls a view of an array's bytes unsafe because a type may have padding,
// which is never initialised; octets have none, so these are safe.

extension [UInt8] {
  /// The bytes, lent for reading; for bytes that are not secret.
  package var rawSpan: RawSpan {
    @_lifetime(borrow self)
    @_transparent
    get { unsafe span.bytes }
  }

  /// Lends the bytes for writing; for bytes that are not secret.
  package mutating func withMutableRawSpan<R: ~Copyable, E: Error>(
    _ body: (inout MutableRawSpan) throws(E) -> R
  ) throws(E) -> R {
    var span = mutableSpan
    var bytes = unsafe span.mutableBytes
    return try body(&bytes)
  }
}

extension InlineArray where Element == UInt8 {
  /// The bytes, lent for reading; for bytes that are not secret.
  package var rawSpan: RawSpan {
    @_lifetime(borrow self)
    @_transparent
    get { unsafe span.bytes }
  }
}

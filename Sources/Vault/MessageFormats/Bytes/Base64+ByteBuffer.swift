// SPDX-License-Identifier: Apache-2.0

internal import Texts

/// Base64 in buffers.
extension Base64 {
  /// Appends `bytes` encoded; with `lineByteCount`, a newline ends every line.
  static func encode(_ bytes: RawSpan, lineByteCount: Int? = nil, into buffer: inout ByteBuffer) {
    let pieceByteCount = lineByteCount.map { $0 / 4 * 3 } ?? max(bytes.byteCount, 1)
    let encoded = characterCount(byteCount: bytes.byteCount)
    let newlines = lineByteCount.map { encoded / $0 + 1 } ?? 0
    unsafe buffer.appendFilling(atLeast: encoded + newlines) { free in
      var output = unsafe MutableRawSpan(_unsafeBytes: free)
      var written = 0
      for start in stride(from: 0, to: bytes.byteCount, by: pieceByteCount) {
        let piece = bytes.extracting(start..<min(start + pieceByteCount, bytes.byteCount))
        encode(piece, into: &output, at: written)
        written += characterCount(byteCount: piece.byteCount)
        if lineByteCount != nil {
          output.storeBytes(of: ASCII.newline, toByteOffset: written, as: UInt8.self)
          written += 1
        }
      }
      return written
    }
  }

  /// Decodes the bytes of `range` in place; how many there are now, or nil when they are not base64.
  static func decodeInPlace(
    _ buffer: inout ByteBuffer, _ range: Range<Int>, _ strictness: Strictness
  ) -> Int? {
    unsafe buffer.withMutableBytes(in: range) { bytes in
      var bytes = unsafe MutableRawSpan(_unsafeBytes: bytes)
      return decodeInPlace(&bytes, strictness)
    }
  }

  /// Appends what `bytes` decode to, leniently.
  static func decode(_ bytes: RawSpan, into buffer: inout ByteBuffer) {
    unsafe buffer.appendFilling(atLeast: bytes.byteCount / 4 * 3 + 3) { free in
      var output = unsafe MutableRawSpan(_unsafeBytes: free)
      return decode(bytes, into: &output, .lenient) ?? 0
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.4: line ends of text documents are hashed as CR LF. A LF without CR before it gets
// one; a CR without LF behind it ends no line, as GnuPG and most others have it, and stays.

internal import Glibc
internal import Primitives
internal import Secrets

/// Text on its way into a hash.
final class CanonicalText {
  /// Lines are gathered, since hashing them one by one costs more than copying them.
  private var buffer = SecretBytes(zeroed: bufferByteCount)
  private var filled = 0
  private var endsWithCarriageReturn = false

  private static let bufferByteCount = 16 << 10
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let lineFeed = UInt8(ascii: "\n")

  /// Takes in the next octets, of which some may reach the hash only with ``flush(_:)``.
  func update(_ bytes: RawSpan, _ context: inout HashContext) {
    var start = 0
    var searched = 0
    while let lineEnd = Self.firstLineFeed(in: bytes, from: searched) {
      searched = lineEnd + 1
      if isCarriageReturn(before: lineEnd, in: bytes) { continue }
      append(bytes.extracting(start..<lineEnd), &context)
      append(Self.lineEnd, &context)
      start = searched
    }
    append(bytes.extracting(start..<bytes.byteCount), &context)
    if bytes.byteCount > 0 {
      endsWithCarriageReturn = isCarriageReturn(before: bytes.byteCount, in: bytes)
    }
  }

  /// Hashes what was gathered.
  func flush(_ context: inout HashContext) {
    buffer.withBytes { context.update($0.extracting(0..<filled)) }
    filled = 0
  }

  /// Whether a CR stands before `offset`: in these octets, or at the end of those before them.
  private func isCarriageReturn(before offset: Int, in bytes: RawSpan) -> Bool {
    guard offset > 0 else { return endsWithCarriageReturn }
    return unsafe bytes.unsafeLoad(fromByteOffset: offset - 1, as: UInt8.self) == Self.carriageReturn
  }

  private func append(_ bytes: RawSpan, _ context: inout HashContext) {
    if bytes.byteCount > Self.bufferByteCount - filled { flush(&context) }
    guard bytes.byteCount <= Self.bufferByteCount else { return context.update(bytes) }
    buffer.withMutableBytes { $0.copy(bytes, to: filled) }
    filled += bytes.byteCount
  }

  private func append(_ bytes: [UInt8], _ context: inout HashContext) {
    append(unsafe bytes.span.bytes, &context)
  }

  private static let lineEnd = [carriageReturn, lineFeed]

  private static func firstLineFeed(in bytes: RawSpan, from offset: Int) -> Int? {
    unsafe bytes.withUnsafeBytes { bytes -> Int? in
      guard let base = bytes.baseAddress, offset < bytes.count,
        let place = unsafe memchr(base + offset, Int32(lineFeed), bytes.count - offset)
      else { return nil }
      return unsafe UnsafeRawPointer(place) - base
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.4: line ends of text documents are hashed as CR LF. A LF without CR before it gets
// one; a CR without LF behind it ends no line, as GnuPG and most others have it, and stays.

internal import Glibc
internal import Primitives
internal import Secrets

/// Text on its way into hashes.
final class CanonicalText {
  /// Lines are gathered, since hashing them one by one costs more than copying them.
  private var buffer = SecretBytes(zeroed: bufferByteCount)
  private var filled = 0
  private var endsWithCarriageReturn = false

  private static let bufferByteCount = 16 << 10
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let lineFeed = UInt8(ascii: "\n")

  /// Takes in the next octets, and hands them to `hash` with line ends as they are hashed.
  func update(_ bytes: RawSpan, hash: (RawSpan) -> Void) {
    var start = 0
    var searched = 0
    while let lineEnd = Self.firstLineFeed(in: bytes, from: searched) {
      searched = lineEnd + 1
      if isCarriageReturn(before: lineEnd, in: bytes) { continue }
      append(bytes.extracting(start..<lineEnd), hash)
      append(unsafe Self.lineEnd.span.bytes, hash)
      start = searched
    }
    append(bytes.extracting(start..<bytes.byteCount), hash)
    flush(hash)
    if bytes.byteCount > 0 {
      endsWithCarriageReturn = isCarriageReturn(before: bytes.byteCount, in: bytes)
    }
  }

  private func flush(_ hash: (RawSpan) -> Void) {
    guard filled > 0 else { return }
    buffer.withBytes { hash($0.extracting(0..<filled)) }
    filled = 0
  }

  /// Whether a CR stands before `offset`: in these octets, or at the end of those before them.
  private func isCarriageReturn(before offset: Int, in bytes: RawSpan) -> Bool {
    guard offset > 0 else { return endsWithCarriageReturn }
    return unsafe bytes.unsafeLoad(fromByteOffset: offset - 1, as: UInt8.self) == Self.carriageReturn
  }

  private func append(_ bytes: RawSpan, _ hash: (RawSpan) -> Void) {
    if bytes.byteCount > Self.bufferByteCount - filled { flush(hash) }
    guard bytes.byteCount <= Self.bufferByteCount else { return hash(bytes) }
    buffer.withMutableBytes { $0.copy(bytes, to: filled) }
    filled += bytes.byteCount
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

// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 6: base64 with padding. Twelve bits are looked up at a time.

/// Encodes bytes as base64.
enum Base64Encoder {
  static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Octets of text for so many bytes.
  static func characterCount(byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

  /// Writes the text of `input` to `output`, from `start` on; it must have the room.
  static func encode(_ input: RawSpan, into output: inout MutableRawSpan, at start: Int) {
    precondition(
      start >= 0 && characterCount(byteCount: input.byteCount) <= output.byteCount - start,
      "no room for the text")
    unsafe input.withUnsafeBytes { source in
      unsafe output.withUnsafeMutableBytes { target in
        unsafe pairs.withUnsafeBufferPointer { pairs in
          unsafe encode(source, target, start, pairs)
        }
      }
    }
  }

  private static func encode(
    _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer, _ start: Int,
    _ pairs: UnsafeBufferPointer<UInt16>
  ) {
    var (at, out) = (0, start)
    while at + 3 <= source.count {
      let high = unsafe Int(source[at]) << 4 | Int(source[at + 1]) >> 4
      let low = unsafe Int(source[at + 1] & 0x0F) << 8 | Int(source[at + 2])
      unsafe target.storeBytes(of: pairs[high], toByteOffset: out, as: UInt16.self)
      unsafe target.storeBytes(of: pairs[low], toByteOffset: out + 2, as: UInt16.self)
      at += 3
      out += 4
    }
    let rest = source.count - at
    guard rest > 0 else { return }
    let first = unsafe source[at]
    let second = rest == 2 ? unsafe source[at + 1] : 0
    unsafe target[out] = alphabet[Int(first >> 2)]
    unsafe target[out + 1] = alphabet[Int(first & 0x03) << 4 | Int(second >> 4)]
    unsafe target[out + 2] = rest == 2 ? alphabet[Int(second & 0x0F) << 2] : UInt8(ascii: "=")
    unsafe target[out + 3] = UInt8(ascii: "=")
  }

  /// Two characters for twelve bits, the first at the lower address.
  private static let pairs: [UInt16] = (0..<4096).map { bits in
    (UInt16(alphabet[bits >> 6]) | UInt16(alphabet[bits & 63]) << 8).littleEndian
  }
}

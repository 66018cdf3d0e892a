// SPDX-License-Identifier: Apache-2.0
//
// Percent-encoding (RFC 3986, section 2.1), strictly: what is not a sequence of two hexadecimal digits is an error, and
// so are characters that a URL cannot have.

internal import Secrets

/// Bytes as the text of a URL, and back.
package enum PercentEncoding {
  /// Appends bytes; all but the unreserved characters of RFC 3986, 2.3, and those in `kept`, are encoded.
  package static func append(_ bytes: some Sequence<UInt8>, keeping kept: String = "", to text: inout [UInt8])
  {
    for byte in bytes {
      if isUnreserved(byte) || kept.utf8.contains(byte) {
        text.append(byte)
      } else {
        text += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
      }
    }
  }

  /// The text of some bytes.
  package static func text(_ bytes: some Sequence<UInt8>, keeping kept: String = "") -> String {
    var text: [UInt8] = []
    append(bytes, keeping: kept, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// The text of secret bytes.
  static func text(_ bytes: RawSpan) -> SecretBytes {
    var text = SecretBytes(zeroed: 3 * bytes.byteCount)
    var count = 0
    text.withMutableBytes { text in
      for offset in 0..<bytes.byteCount {
        let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        let encoded =
          isUnreserved(byte) ? [byte] : [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
        for part in encoded {
          text.storeBytes(of: part, toByteOffset: count, as: UInt8.self)
          count += 1
        }
      }
    }
    text.shorten(to: count)
    return text
  }

  /// The bytes that a text stands for; nil when it is not encoded well.
  static func decode(_ text: RawSpan) -> SecretBytes? {
    var bytes = SecretBytes(zeroed: text.byteCount)
    let count: Int? = bytes.withMutableBytes { bytes in
      var (offset, count) = (0, 0)
      func byte(_ offset: Int) -> UInt8 { unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
      while offset < text.byteCount {
        var value = byte(offset)
        offset += 1
        if value == UInt8(ascii: "%") {
          guard offset + 2 <= text.byteCount, let high = number(byte(offset)),
            let low = number(byte(offset + 1))
          else { return nil }
          value = high << 4 | low
          offset += 2
        }
        bytes.storeBytes(of: value, toByteOffset: count, as: UInt8.self)
        count += 1
      }
      return count
    }
    guard let count else { return nil }
    bytes.shorten(to: count)
    return bytes
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~".utf8.contains(byte)
    }
  }

  /// Upper case, as signatures of S3 need it.
  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

  private static func number(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
  }
}

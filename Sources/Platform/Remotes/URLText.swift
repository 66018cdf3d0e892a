// SPDX-License-Identifier: Apache-2.0
//
// The text of a URL in locked memory, and parts of it.

internal import Secrets

/// The text of a URL, which has a secret in it: only parts of it become a `String`.
struct URLText: ~Escapable {
  let bytes: RawSpan

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) { self.bytes = bytes }

  var count: Int { bytes.byteCount }

  /// Whether it has nothing but visible characters of ASCII, and no `#`.
  var isVisible: Bool {
    (0..<count).allSatisfy { (0x21...0x7E).contains(byte($0)) && byte($0) != UInt8(ascii: "#") }
  }

  func starts(with text: String) -> Bool {
    count >= text.utf8.count && zip(0..., text.utf8).allSatisfy { byte($0) == $1 }
  }

  func first(_ character: Unicode.Scalar, in range: Range<Int>) -> Int? {
    range.first { byte($0) == UInt8(ascii: character) }
  }

  func has(_ character: Unicode.Scalar, in range: Range<Int>) -> Bool { first(character, in: range) != nil }

  /// A part that is not secret, as it is.
  func plain(_ range: Range<Int>) -> String { String(decoding: range.map { byte($0) }, as: UTF8.self) }

  /// A part that is not secret, decoded.
  func decoded(_ range: Range<Int>) throws(RemotePlaceError) -> String {
    guard let decoded = PercentEncoding.decode(bytes.extracting(range)) else { throw .encoding }
    let text = decoded.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }
    guard let text else { throw .encoding }
    return text
  }

  private func byte(_ offset: Int) -> UInt8 {
    unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}

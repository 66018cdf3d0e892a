// SPDX-License-Identifier: Apache-2.0
//
// Names of mail folders: modified UTF-7 (RFC 3501 section 5.1.3), as Maildir++ takes it over from IMAP.

internal import Texts

enum MailboxName {
  /// The name to show; unchanged when it is not modified UTF-7.
  static func decoded(_ name: String) -> String {
    guard name.utf8.contains(ASCII.ampersand), name.utf8.count <= 255 else { return name }
    var result = ""
    var rest = Substring(name)
    while let mark = rest.firstIndex(of: "&") {
      result += rest[..<mark]
      rest = rest[rest.index(after: mark)...]
      guard let dash = rest.firstIndex(of: "-") else { return name }
      let encoded = rest[..<dash]
      rest = rest[rest.index(after: dash)...]
      if encoded.isEmpty {
        result += "&"
      } else if let text = utf16(encoded) {
        result += text
      } else {
        return name
      }
    }
    return result + rest
  }

  private static func utf16(_ encoded: Substring) -> String? {
    var buffer = ByteBuffer(capacity: 256)
    for byte in encoded.utf8 { buffer.append(byte == ASCII.comma ? ASCII.slash : byte) }
    guard let count = Base64.decodeInPlace(&buffer, 0..<buffer.count, .lenient), count % 2 == 0 else {
      return nil
    }
    var units: [UInt16] = []
    for offset in stride(from: 0, to: count, by: 2) {
      units.append(UInt16(buffer[offset]) << 8 | UInt16(buffer[offset + 1]))
    }
    return String(validating: units, as: UTF16.self)
  }
}

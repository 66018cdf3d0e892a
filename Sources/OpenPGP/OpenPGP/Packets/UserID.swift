// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.11 and 5.12: user IDs and user attributes. By convention a user ID is an RFC 2822
// name-addr in UTF-8, or the address alone; in truth it is any octets.

internal import Primitives

/// A user ID.
///
/// [RFC 9580, section 5.11](https://www.rfc-editor.org/rfc/rfc9580#section-5.11)
public struct UserID: Hashable, Sendable {
  /// The octets, UTF-8 by convention.
  public let bytes: [UInt8]

  /// A user ID from its octets.
  public init(bytes: [UInt8]) { self.bytes = bytes }

  /// A user ID from text, for example `Alice <alice@example.org>`.
  public init(_ text: String) { bytes = Array(text.utf8) }

  /// The octets that a signature over it hashes: version 4 and later prefix B4 and a length (section 5.2.4).
  var hashed: [UInt8] {
    var output: [UInt8] = [0xB4]
    output.append(bigEndian: UInt32(bytes.count))
    return output + bytes
  }
}

/// A user attribute: a picture, or anything else; kept as it came.
///
/// [RFC 9580, section 5.12](https://www.rfc-editor.org/rfc/rfc9580#section-5.12)
public struct UserAttribute: Hashable, Sendable {
  /// The subpackets of the attribute, as they came.
  public let bytes: [UInt8]

  /// A user attribute from its octets.
  public init(bytes: [UInt8]) { self.bytes = bytes }

  /// The octets that a signature over it hashes: prefix D1 and a length (section 5.2.4).
  var hashed: [UInt8] {
    var output: [UInt8] = [0xD1]
    output.append(bigEndian: UInt32(bytes.count))
    return output + bytes
  }
}

extension UserID {
  /// The mail address: the text between the last angle brackets, or the whole when there are none and it
  /// has an @; nil for anything else. Compared as it is written: only the server knows
  /// what the part before the @ means.
  public var address: String? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    var address = text[...]
    if text.hasSuffix(">"), let start = text.lastIndex(of: "<") {
      address = text[text.index(after: start)..<text.index(before: text.endIndex)]
    }
    let parts = address.split(separator: "@", omittingEmptySubsequences: false)
    let isAddress = parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
    guard isAddress, !address.contains(where: { $0.isWhitespace || "<>".contains($0) }) else { return nil }
    return String(address)
  }
}

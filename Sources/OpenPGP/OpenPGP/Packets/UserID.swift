// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.11: by convention `Name <address>` in UTF-8, and octets in truth.

internal import Primitives

/// A user ID.
public struct UserID: Hashable, Sendable {
  public let bytes: [UInt8]

  public init(bytes: [UInt8]) { self.bytes = bytes }

  public init(_ text: String) { bytes = Array(text.utf8) }

  /// What a signature over it takes in: version 4 and later prefix B4 and a length (section 5.2.4).
  var hashed: [UInt8] {
    var output: [UInt8] = [0xB4]
    output.append(bigEndian: UInt32(bytes.count))
    return output + bytes
  }
}

/// A user attribute (section 5.12): a picture, or anything else; kept as it came.
public struct UserAttribute: Hashable, Sendable {
  public let bytes: [UInt8]

  public init(bytes: [UInt8]) { self.bytes = bytes }

  /// What a signature over it takes in: prefix D1 and a length (section 5.2.4).
  var hashed: [UInt8] {
    var output: [UInt8] = [0xD1]
    output.append(bigEndian: UInt32(bytes.count))
    return output + bytes
  }
}

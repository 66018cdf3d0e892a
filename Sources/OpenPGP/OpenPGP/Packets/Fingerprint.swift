// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.5.4.

internal import Primitives

/// The fingerprint of a key.
public struct Fingerprint: Hashable, Sendable {
  static let version4ByteCount = 20
  static let version6ByteCount = 32

  /// Nil for a version that is not known.
  static func byteCount(version: UInt8) -> Int? {
    switch version {
    case 4: version4ByteCount
    case 6: version6ByteCount
    default: nil
    }
  }

  /// The version of the key.
  public let version: UInt8
  /// 20 octets of version 4, 32 of version 6.
  public let bytes: [UInt8]

  public init(version: UInt8, bytes: [UInt8]) {
    self.version = version
    self.bytes = bytes
  }

  /// The key ID: the last eight octets of version 4, the first eight of version 6. A fingerprint of another
  /// version, which a stranger wrote, may be shorter; zeros then stand for what it lacks.
  public var keyID: KeyID {
    let part = version == 4 ? bytes.suffix(KeyID.byteCount) : bytes.prefix(KeyID.byteCount)
    return KeyID(bytes: part + [UInt8](repeating: 0, count: KeyID.byteCount - part.count))
  }

  /// Upper-case hexadecimal digits without spaces.
  public var hexadecimal: String { Hexadecimal.text(bytes).uppercased() }
}

/// Eight octets that hint at a key, and prove nothing.
public struct KeyID: Hashable, Sendable {
  static let byteCount = 8

  public let bytes: [UInt8]

  public init(bytes: [UInt8]) {
    precondition(bytes.count == Self.byteCount, "a key ID has eight octets")
    self.bytes = bytes
  }

  /// All zero: a recipient that is not named (section 5.1.8).
  public static let anonymous = KeyID(bytes: [UInt8](repeating: 0, count: byteCount))
}

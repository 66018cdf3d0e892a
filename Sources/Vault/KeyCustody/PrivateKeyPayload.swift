// SPDX-License-Identifier: Apache-2.0

internal import Primitives

/// The fingerprint of a primary key: 20 bytes of version 4, 32 of version 6 (RFC 9580, section 5.5.4).
public struct KeyFingerprint: Hashable, Sendable, Comparable {
  /// 20 or 32 bytes.
  public let bytes: [UInt8]

  /// Nil for any other length.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 20 || bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// Lower-case hexadecimal without spaces, the one form that is ever hashed or stored (SE-04).
  public var text: String { Hexadecimal.text(bytes) }

  /// By their bytes; a shorter one that another begins with comes first.
  public static func < (left: Self, right: Self) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

/// The content of an envelope: a transferable secret key in binary form (RFC 9580, section 10.2). The numbers
/// are stored.
public enum PrivateKeyPayload: UInt8, Sendable, CaseIterable {
  /// A key of version 4 (RFC 9580, section 5.5.2.2).
  case transferableSecretKeyV4 = 1
  /// A key of version 6 (RFC 9580, section 5.5.2.3).
  case transferableSecretKeyV6 = 2

  /// Bytes of the fingerprint of such a key (RFC 9580, section 5.5.4).
  var fingerprintByteCount: Int {
    switch self {
    case .transferableSecretKeyV4: 20
    case .transferableSecretKeyV6: 32
    }
  }
}

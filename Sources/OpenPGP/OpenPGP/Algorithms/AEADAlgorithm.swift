// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 9.6.

/// An AEAD algorithm by its number.
public struct AEADAlgorithm: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let eax = AEADAlgorithm(rawValue: 1)
  public static let ocb = AEADAlgorithm(rawValue: 2)
  public static let gcm = AEADAlgorithm(rawValue: 3)

  /// Octets of a tag: the same for all three.
  public static let tagByteCount = 16

  /// Octets of a nonce; nil for an unknown algorithm.
  public var nonceByteCount: Int? {
    switch self {
    case .eax: 16
    case .ocb: 15
    case .gcm: 12
    default: nil
    }
  }
}

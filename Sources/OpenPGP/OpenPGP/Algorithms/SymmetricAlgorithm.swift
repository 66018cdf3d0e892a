// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 9.3: the registry's order.

/// A symmetric-key algorithm by its number.
public struct SymmetricAlgorithm: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let plaintext = SymmetricAlgorithm(rawValue: 0)
  public static let idea = SymmetricAlgorithm(rawValue: 1)
  public static let tripleDES = SymmetricAlgorithm(rawValue: 2)
  public static let cast5 = SymmetricAlgorithm(rawValue: 3)
  public static let blowfish = SymmetricAlgorithm(rawValue: 4)
  public static let aes128 = SymmetricAlgorithm(rawValue: 7)
  public static let aes192 = SymmetricAlgorithm(rawValue: 8)
  public static let aes256 = SymmetricAlgorithm(rawValue: 9)
  public static let twofish = SymmetricAlgorithm(rawValue: 10)
  public static let camellia128 = SymmetricAlgorithm(rawValue: 11)
  public static let camellia192 = SymmetricAlgorithm(rawValue: 12)
  public static let camellia256 = SymmetricAlgorithm(rawValue: 13)

  /// Octets of a key; nil for an unknown algorithm.
  public var keyByteCount: Int? {
    switch self {
    case .idea, .cast5, .blowfish, .aes128, .camellia128: 16
    case .tripleDES, .aes192, .camellia192: 24
    case .aes256, .twofish, .camellia256: 32
    default: nil
    }
  }

  /// Octets of a block; nil for an unknown algorithm.
  public var blockByteCount: Int? {
    switch self {
    case .idea, .tripleDES, .cast5, .blowfish: 8
    case .aes128, .aes192, .aes256, .twofish, .camellia128, .camellia192, .camellia256: 16
    default: nil
    }
  }

  /// Whether it is AES, of any key size: the one cipher that version 2 messages are written with here.
  public var isAES: Bool { self == .aes128 || self == .aes192 || self == .aes256 }
}

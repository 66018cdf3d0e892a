// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 9.5: the registry's order.

/// A hash algorithm by its number.
public struct HashAlgorithm: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let md5 = HashAlgorithm(rawValue: 1)
  public static let sha1 = HashAlgorithm(rawValue: 2)
  public static let ripemd160 = HashAlgorithm(rawValue: 3)
  public static let sha256 = HashAlgorithm(rawValue: 8)
  public static let sha384 = HashAlgorithm(rawValue: 9)
  public static let sha512 = HashAlgorithm(rawValue: 10)
  public static let sha224 = HashAlgorithm(rawValue: 11)
  public static let sha3_256 = HashAlgorithm(rawValue: 12)
  public static let sha3_512 = HashAlgorithm(rawValue: 14)

  /// What is signed is hashed with this in both profiles (PG-01, PG-02); it is long enough for every key.
  public static let documentDefault = sha512

  /// Octets of a digest; nil for an unknown algorithm.
  public var digestByteCount: Int? {
    switch self {
    case .md5: 16
    case .sha1, .ripemd160: 20
    case .sha224: 28
    case .sha256, .sha3_256: 32
    case .sha384: 48
    case .sha512, .sha3_512: 64
    default: nil
    }
  }

  /// Octets of the salt of a version 6 signature (table 23); nil where no such signature may use the algorithm.
  public var saltByteCount: Int? {
    switch self {
    case .sha224, .sha256, .sha3_256: 16
    case .sha384: 24
    case .sha512, .sha3_512: 32
    default: nil
    }
  }

  /// The name in the `Hash` header of cleartext signed messages, and in MIME's `micalg` in lower case.
  public var textName: String? {
    switch self {
    case .md5: "MD5"
    case .sha1: "SHA1"
    case .ripemd160: "RIPEMD160"
    case .sha256: "SHA256"
    case .sha384: "SHA384"
    case .sha512: "SHA512"
    case .sha224: "SHA224"
    case .sha3_256: "SHA3-256"
    case .sha3_512: "SHA3-512"
    default: nil
    }
  }
}

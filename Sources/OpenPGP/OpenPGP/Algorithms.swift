// SPDX-License-Identifier: Apache-2.0
//
// The registries of RFC 9580, section 9: algorithms by their numbers, curves by their object identifiers,
// each in the registry's order. An unknown number is a value like any other.

/// A public-key algorithm by its number.
public struct PublicKeyAlgorithm: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let rsa = PublicKeyAlgorithm(rawValue: 1)
  public static let rsaEncryptOnly = PublicKeyAlgorithm(rawValue: 2)
  public static let rsaSignOnly = PublicKeyAlgorithm(rawValue: 3)
  public static let elgamal = PublicKeyAlgorithm(rawValue: 16)
  public static let dsa = PublicKeyAlgorithm(rawValue: 17)
  public static let ecdh = PublicKeyAlgorithm(rawValue: 18)
  public static let ecdsa = PublicKeyAlgorithm(rawValue: 19)
  public static let eddsaLegacy = PublicKeyAlgorithm(rawValue: 22)
  public static let x25519 = PublicKeyAlgorithm(rawValue: 25)
  public static let x448 = PublicKeyAlgorithm(rawValue: 26)
  public static let ed25519 = PublicKeyAlgorithm(rawValue: 27)
  public static let ed448 = PublicKeyAlgorithm(rawValue: 28)

  /// Whether the algorithm makes signatures.
  public var signs: Bool {
    switch self {
    case .rsa, .rsaSignOnly, .dsa, .ecdsa, .eddsaLegacy, .ed25519, .ed448: true
    default: false
    }
  }

  /// Whether session keys can be encrypted with it.
  public var encrypts: Bool {
    switch self {
    case .rsa, .rsaEncryptOnly, .elgamal, .ecdh, .x25519, .x448: true
    default: false
    }
  }
}

/// A curve by its object identifier; an unknown one is a value like any other.
public struct Curve: Hashable, Sendable {
  /// The identifier's octets in DER, without type and length; 1 to 254 of them.
  public let objectIdentifier: [UInt8]

  public init(objectIdentifier: [UInt8]) { self.objectIdentifier = objectIdentifier }

  public static let p256 = Curve(objectIdentifier: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
  public static let p384 = Curve(objectIdentifier: [0x2B, 0x81, 0x04, 0x00, 0x22])
  public static let p521 = Curve(objectIdentifier: [0x2B, 0x81, 0x04, 0x00, 0x23])
  public static let brainpoolP256r1 = Curve(objectIdentifier: [
    0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x07,
  ])
  public static let brainpoolP384r1 = Curve(objectIdentifier: [
    0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0B,
  ])
  public static let brainpoolP512r1 = Curve(objectIdentifier: [
    0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0D,
  ])
  public static let ed25519Legacy = Curve(objectIdentifier: [
    0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x0F, 0x01,
  ])
  public static let curve25519Legacy = Curve(objectIdentifier: [
    0x2B, 0x06, 0x01, 0x04, 0x01, 0x97, 0x55, 0x01, 0x05, 0x01,
  ])

  /// Octets of a field element or scalar; nil for an unknown curve.
  public var fieldByteCount: Int? {
    switch self {
    case .p256, .brainpoolP256r1, .ed25519Legacy, .curve25519Legacy: 32
    case .p384, .brainpoolP384r1: 48
    case .brainpoolP512r1: 64
    case .p521: 66
    default: nil
    }
  }
}

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

/// A compression algorithm by its number.
public struct CompressionAlgorithm: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let uncompressed = CompressionAlgorithm(rawValue: 0)
  public static let zip = CompressionAlgorithm(rawValue: 1)
  public static let zlib = CompressionAlgorithm(rawValue: 2)
  public static let bzip2 = CompressionAlgorithm(rawValue: 3)
}

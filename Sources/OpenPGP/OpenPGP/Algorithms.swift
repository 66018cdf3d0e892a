// SPDX-License-Identifier: Apache-2.0
//
// The registries of RFC 9580, section 9, and RFC 9980, section 11: algorithms by their numbers, curves by their
// object identifiers, each in the registry's order. An unknown number is a value like any other.

/// A public-key algorithm by its number.
///
/// [RFC 9580, section 9.1](https://www.rfc-editor.org/rfc/rfc9580#section-9.1)
public struct PublicKeyAlgorithm: RawRepresentable, Hashable, Sendable {
  /// The number in the registry.
  public let rawValue: UInt8

  /// A value by its number, known here or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// RSA, to encrypt and to sign.
  public static let rsa = PublicKeyAlgorithm(rawValue: 1)
  /// RSA, to encrypt only; deprecated.
  public static let rsaEncryptOnly = PublicKeyAlgorithm(rawValue: 2)
  /// RSA, to sign only; deprecated.
  public static let rsaSignOnly = PublicKeyAlgorithm(rawValue: 3)
  /// Elgamal, to encrypt; read as a packet and never used.
  public static let elgamal = PublicKeyAlgorithm(rawValue: 16)
  /// DSA; verified, never used to sign.
  public static let dsa = PublicKeyAlgorithm(rawValue: 17)
  /// ECDH on a curve of NIST or Brainpool, or on Curve25519 in its old form.
  public static let ecdh = PublicKeyAlgorithm(rawValue: 18)
  /// ECDSA on a curve of NIST or Brainpool.
  public static let ecdsa = PublicKeyAlgorithm(rawValue: 19)
  /// Ed25519 in its old form, of version 4.
  public static let eddsaLegacy = PublicKeyAlgorithm(rawValue: 22)
  /// X25519.
  public static let x25519 = PublicKeyAlgorithm(rawValue: 25)
  /// X448.
  public static let x448 = PublicKeyAlgorithm(rawValue: 26)
  /// Ed25519.
  public static let ed25519 = PublicKeyAlgorithm(rawValue: 27)
  /// Ed448.
  public static let ed448 = PublicKeyAlgorithm(rawValue: 28)
  /// ML-DSA-65 and Ed25519, to sign (RFC 9980, as all that follow).
  public static let mldsa65Ed25519 = PublicKeyAlgorithm(rawValue: 30)
  /// ML-DSA-87 and Ed448, to sign.
  public static let mldsa87Ed448 = PublicKeyAlgorithm(rawValue: 31)
  /// SLH-DSA-SHAKE-128s, to sign.
  public static let slhdsa128s = PublicKeyAlgorithm(rawValue: 32)
  /// SLH-DSA-SHAKE-128f, to sign.
  public static let slhdsa128f = PublicKeyAlgorithm(rawValue: 33)
  /// SLH-DSA-SHAKE-256s, to sign.
  public static let slhdsa256s = PublicKeyAlgorithm(rawValue: 34)
  /// ML-KEM-768 and X25519, to encrypt.
  public static let mlkem768X25519 = PublicKeyAlgorithm(rawValue: 35)
  /// ML-KEM-1024 and X448, to encrypt.
  public static let mlkem1024X448 = PublicKeyAlgorithm(rawValue: 36)

  /// Whether the algorithm makes signatures.
  public var signs: Bool {
    switch self {
    case .rsa, .rsaSignOnly, .dsa, .ecdsa, .eddsaLegacy, .ed25519, .ed448: true
    case .mldsa65Ed25519, .mldsa87Ed448, .slhdsa128s, .slhdsa128f, .slhdsa256s: true
    default: false
    }
  }

  /// Whether session keys can be encrypted with it.
  public var encrypts: Bool {
    switch self {
    case .rsa, .rsaEncryptOnly, .elgamal, .ecdh, .x25519, .x448, .mlkem768X25519, .mlkem1024X448: true
    default: false
    }
  }
}

/// A curve by its object identifier; an unknown one is a value like any other.
///
/// [RFC 9580, section 9.2](https://www.rfc-editor.org/rfc/rfc9580#section-9.2)
public struct Curve: Hashable, Sendable {
  /// The identifier's octets in DER, without type and length; 1 to 254 of them.
  public let objectIdentifier: [UInt8]

  /// A curve by the octets of its object identifier, known here or not.
  public init(objectIdentifier: [UInt8]) { self.objectIdentifier = objectIdentifier }

  /// NIST P-256.
  public static let p256 = Curve(objectIdentifier: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
  /// NIST P-384.
  public static let p384 = Curve(objectIdentifier: [0x2B, 0x81, 0x04, 0x00, 0x22])
  /// NIST P-521.
  public static let p521 = Curve(objectIdentifier: [0x2B, 0x81, 0x04, 0x00, 0x23])
  /// Brainpool with 256 bits.
  public static let brainpoolP256r1 = Curve(objectIdentifier: [
    0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x07,
  ])
  /// Brainpool with 384 bits.
  public static let brainpoolP384r1 = Curve(objectIdentifier: [
    0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0B,
  ])
  /// Brainpool with 512 bits.
  public static let brainpoolP512r1 = Curve(objectIdentifier: [
    0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0D,
  ])
  /// Ed25519 in its old form, for signatures.
  public static let ed25519Legacy = Curve(objectIdentifier: [
    0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x0F, 0x01,
  ])
  /// Curve25519 in its old form, for encryption.
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
///
/// [RFC 9580, section 9.3](https://www.rfc-editor.org/rfc/rfc9580#section-9.3)
public struct SymmetricAlgorithm: RawRepresentable, Hashable, Sendable {
  /// The number in the registry.
  public let rawValue: UInt8

  /// A value by its number, known here or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// No cipher.
  public static let plaintext = SymmetricAlgorithm(rawValue: 0)
  /// IDEA.
  public static let idea = SymmetricAlgorithm(rawValue: 1)
  /// Triple-DES with three keys.
  public static let tripleDES = SymmetricAlgorithm(rawValue: 2)
  /// CAST5 with a key of 128 bits.
  public static let cast5 = SymmetricAlgorithm(rawValue: 3)
  /// Blowfish with a key of 128 bits.
  public static let blowfish = SymmetricAlgorithm(rawValue: 4)
  /// AES-128: every reader has it (section 9.3).
  public static let aes128 = SymmetricAlgorithm(rawValue: 7)
  /// AES-192.
  public static let aes192 = SymmetricAlgorithm(rawValue: 8)
  /// AES-256.
  public static let aes256 = SymmetricAlgorithm(rawValue: 9)
  /// Twofish with a key of 256 bits.
  public static let twofish = SymmetricAlgorithm(rawValue: 10)
  /// Camellia-128.
  public static let camellia128 = SymmetricAlgorithm(rawValue: 11)
  /// Camellia-192.
  public static let camellia192 = SymmetricAlgorithm(rawValue: 12)
  /// Camellia-256.
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
///
/// [RFC 9580, section 9.6](https://www.rfc-editor.org/rfc/rfc9580#section-9.6)
public struct AEADAlgorithm: RawRepresentable, Hashable, Sendable {
  /// The number in the registry.
  public let rawValue: UInt8

  /// A value by its number, known here or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// EAX.
  public static let eax = AEADAlgorithm(rawValue: 1)
  /// OCB: every reader of version 2 has it (section 9.6).
  public static let ocb = AEADAlgorithm(rawValue: 2)
  /// GCM.
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
///
/// [RFC 9580, section 9.5](https://www.rfc-editor.org/rfc/rfc9580#section-9.5)
public struct HashAlgorithm: RawRepresentable, Hashable, Sendable {
  /// The number in the registry.
  public let rawValue: UInt8

  /// A value by its number, known here or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// MD5: never for signatures.
  public static let md5 = HashAlgorithm(rawValue: 1)
  /// SHA-1: only for old certifications, and as a checksum.
  public static let sha1 = HashAlgorithm(rawValue: 2)
  /// RIPEMD-160: never for signatures.
  public static let ripemd160 = HashAlgorithm(rawValue: 3)
  /// SHA-256.
  public static let sha256 = HashAlgorithm(rawValue: 8)
  /// SHA-384.
  public static let sha384 = HashAlgorithm(rawValue: 9)
  /// SHA-512.
  public static let sha512 = HashAlgorithm(rawValue: 10)
  /// SHA-224.
  public static let sha224 = HashAlgorithm(rawValue: 11)
  /// SHA3-256.
  public static let sha3_256 = HashAlgorithm(rawValue: 12)
  /// SHA3-512.
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
///
/// [RFC 9580, section 9.4](https://www.rfc-editor.org/rfc/rfc9580#section-9.4)
public struct CompressionAlgorithm: RawRepresentable, Hashable, Sendable {
  /// The number in the registry.
  public let rawValue: UInt8

  /// A value by its number, known here or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Not compressed.
  public static let uncompressed = CompressionAlgorithm(rawValue: 0)
  /// Deflate (RFC 1951).
  public static let zip = CompressionAlgorithm(rawValue: 1)
  /// Deflate with the header and checksum of zlib (RFC 1950).
  public static let zlib = CompressionAlgorithm(rawValue: 2)
  /// bzip2; not supported.
  public static let bzip2 = CompressionAlgorithm(rawValue: 3)
}

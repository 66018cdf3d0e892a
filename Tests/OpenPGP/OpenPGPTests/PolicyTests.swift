// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OpenPGP

@Suite("Policy")
struct PolicyTests {
  static let policy = Policy.standard
  static let year2010 = Timestamp(secondsSince1970: 1_262_304_000)
  static let year2024 = Timestamp(secondsSince1970: 1_704_067_200)

  @Test("MD5 and RIPEMD-160 are refused whatever the date", arguments: [HashAlgorithm.md5, .ripemd160])
  func brokenHashes(hash: HashAlgorithm) {
    for use in [Policy.HashUse.document, .certification] {
      #expect(Self.policy.refusal(hash: hash, for: use, at: Self.year2010) == .hashAlgorithm(hash))
    }
  }

  @Test("SHA-1 is refused over documents, and for certifications made since February 2023")
  func sha1() {
    let refusal = Policy.Rule.hashAlgorithm(.sha1)
    #expect(Self.policy.refusal(hash: .sha1, for: .document, at: Self.year2010) == refusal)
    #expect(Self.policy.refusal(hash: .sha1, for: .certification, at: Self.year2010) == nil)
    let cutoff = Timestamp(secondsSince1970: 1_675_209_600)
    let before = Timestamp(secondsSince1970: 1_675_209_599)
    #expect(Self.policy.refusal(hash: .sha1, for: .certification, at: before) == nil)
    #expect(Self.policy.refusal(hash: .sha1, for: .certification, at: cutoff) == refusal)
  }

  @Test("The SHA-2 and SHA-3 families are accepted, and unknown hashes are not")
  func otherHashes() {
    for hash in [HashAlgorithm.sha224, .sha256, .sha384, .sha512, .sha3_256, .sha3_512] {
      #expect(Self.policy.refusal(hash: hash, for: .document, at: Self.year2024) == nil)
    }
    let unknown = HashAlgorithm(rawValue: 99)
    #expect(Self.policy.refusal(hash: unknown, for: .document, at: Self.year2024) == .hashAlgorithm(unknown))
  }

  static func key(_ algorithm: PublicKeyAlgorithm, _ material: PublicKeyMaterial, version: UInt8 = 4)
    -> PublicKey
  {
    PublicKey(version: version, creationTime: year2010, algorithm: algorithm, material: material)
  }

  static func rsa(bitCount: Int) -> PublicKey {
    let highest: UInt8 = 1 << UInt8((bitCount - 1) % 8)
    let modulus = [highest] + [UInt8](repeating: 1, count: (bitCount - 1) / 8)
    return key(.rsa, .rsa(modulus: MPI(modulus), exponent: MPI([1, 0, 1])))
  }

  @Test("RSA keys have at least 2,048 bits")
  func rsaSize() {
    for count in [2048, 3072, 4096] {
      let key = Self.rsa(bitCount: count)
      #expect(Self.policy.refusal(key: key) == nil)
    }
    for count in [512, 1024, 2047] {
      let key = Self.rsa(bitCount: count)
      #expect(Self.policy.refusal(key: key) == .keySize(bitCount: count))
    }
  }

  @Test(
    "An RSA key whose exponent is even or below 3 is refused: with 1, anybody reads what is encrypted to it")
  func rsaExponent() {
    for (exponent, refusal) in [
      (MPI([]), Policy.Rule.publicExponent), (MPI([1]), .publicExponent), (MPI([2]), .publicExponent),
      (MPI([1, 0, 0]), .publicExponent), (MPI([3]), nil), (MPI([17]), nil), (MPI([1, 0, 1]), nil),
    ] {
      let modulus = MPI([UInt8](repeating: 0xFF, count: 256))
      let key = Self.key(.rsa, .rsa(modulus: modulus, exponent: exponent))
      #expect(Self.policy.refusal(key: key) == refusal)
    }
  }

  @Test("DSA, ElGamal, unknown algorithms and unknown curves are refused")
  func algorithms() {
    let one = MPI([1])
    let unknown = PublicKeyAlgorithm(rawValue: 99)
    let refused: [PublicKey] = [
      Self.key(.dsa, .dsa(prime: one, order: one, generator: one, value: one)),
      Self.key(.elgamal, .elgamal(prime: one, generator: one, value: one)), Self.key(unknown, .unknown([])),
      Self.key(.ecdsa, .ecdsa(.brainpoolP256r1, point: one)),
      Self.key(.ecdsa, .ecdsa(Curve(objectIdentifier: [1, 2]), point: one)),
    ]
    for key in refused {
      #expect(Self.policy.refusal(key: key) == .publicKeyAlgorithm(key.algorithm))
    }
    for curve in [Curve.p256, .p384, .p521] {
      let key = Self.key(.ecdsa, .ecdsa(curve, point: one))
      #expect(Self.policy.refusal(key: key) == nil)
    }
  }

  @Test("The legacy forms of Curve25519 belong to version 4 alone")
  func legacyCurves() {
    let one = MPI([1])
    for version in [UInt8(4), 6] {
      let key = Self.key(.eddsaLegacy, .eddsaLegacy(.ed25519Legacy, point: one), version: version)
      #expect((Self.policy.refusal(key: key) == nil) == (version == 4))
    }
  }

  @Test("Old ciphers are read, AES alone is written, and plaintext is not a cipher")
  func ciphers() {
    let old: [SymmetricAlgorithm] = [.tripleDES, .cast5, .blowfish, .twofish, .camellia256]
    for cipher in old {
      #expect(Self.policy.refusal(cipher: cipher, writing: false) == nil)
      #expect(Self.policy.refusal(cipher: cipher, writing: true) == .symmetricAlgorithm(cipher))
    }
    for cipher in [SymmetricAlgorithm.aes128, .aes192, .aes256] {
      #expect(Self.policy.refusal(cipher: cipher, writing: true) == nil)
    }
    for cipher in [SymmetricAlgorithm.plaintext, SymmetricAlgorithm(rawValue: 99)] {
      #expect(Self.policy.refusal(cipher: cipher, writing: false) == .symmetricAlgorithm(cipher))
    }
  }
}

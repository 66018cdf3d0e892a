// SPDX-License-Identifier: Apache-2.0
//
// New keys of every algorithm, and keys with something changed.

import Primitives
import Secrets

@testable import OpenPGP

enum KeyFixtures {
  static let time = Timestamp(secondsSince1970: 1_700_000_000)
  static let curves: [Curve] = [
    .p256, .p384, .p521, .brainpoolP256r1, .brainpoolP384r1, .brainpoolP512r1,
  ]

  /// All that sign, each with the version of its key.
  static let signing: [(KeyAlgorithm, UInt8)] =
    [
      (.rsa(bitCount: 3072), 4), (.eddsaLegacy, 4), (.ed25519, 4), (.ed25519, 6), (.ed448, 4), (.ed448, 6),
    ]
    + curves.map { (.ecdsa($0), 6) }
    + [
      (.compositeSignature(.mldsa65Ed25519), 6), (.compositeSignature(.mldsa87Ed448), 6),
      (.hashBasedSignature(.slhdsa128f), 6),
    ]

  /// All that decrypt, each with the version of its key.
  static let decrypting: [(KeyAlgorithm, UInt8)] =
    [
      (.rsa(bitCount: 3072), 6), (.curve25519Legacy, 4), (.x25519, 4), (.x25519, 6), (.x448, 4), (.x448, 6),
      (.ecdh(.p256), 4), (.compositeKEM(.mlkem768X25519), 4), (.compositeKEM(.mlkem768X25519), 6),
      (.compositeKEM(.mlkem1024X448), 6),
    ]
    + curves.map { (.ecdh($0), 6) }

  /// One of each form of secret fields, for tests that take their time.
  static let oneOfEach: [(KeyAlgorithm, UInt8)] = [
    (.rsa(bitCount: 3072), 4), (.eddsaLegacy, 4), (.curve25519Legacy, 4), (.ed25519, 6), (.x25519, 6),
    (.ed448, 6), (.x448, 6), (.ecdsa(.p521), 6), (.ecdh(.brainpoolP256r1), 6),
    (.compositeSignature(.mldsa65Ed25519), 6), (.hashBasedSignature(.slhdsa128f), 6),
    (.compositeKEM(.mlkem768X25519), 4), (.compositeKEM(.mlkem1024X448), 6),
  ]

  /// A key; of RSA always the same one, since they take long to make.
  static func key(_ algorithm: KeyAlgorithm, _ version: UInt8) throws(OpenPGPError) -> UnlockedKey {
    try make(algorithm, version, rsa: firstRSA)
  }

  /// Another key than ``key(_:_:)`` gives.
  static func otherKey(_ algorithm: KeyAlgorithm, _ version: UInt8) throws(OpenPGPError) -> UnlockedKey {
    try make(algorithm, version, rsa: secondRSA)
  }

  private static let firstRSA = try? UnlockedKey.generate(
    .rsa(bitCount: 3072), version: 4, creationTime: time)
  private static let secondRSA = try? UnlockedKey.generate(
    .rsa(bitCount: 3072), version: 4, creationTime: time)

  private static func make(
    _ algorithm: KeyAlgorithm, _ version: UInt8, rsa: UnlockedKey?
  ) throws(OpenPGPError) -> UnlockedKey {
    guard case .rsa(bitCount: 3072) = algorithm, let rsa else {
      return try UnlockedKey.generate(algorithm, version: version, creationTime: time)
    }
    let publicKey = PublicKey(
      version: version, creationTime: time, algorithm: .rsa, material: rsa.publicKey.material)
    return UnlockedKey(publicKey: publicKey, material: rsa.material)
  }

  /// A session key for the cipher.
  static func sessionKey(_ cipher: SymmetricAlgorithm) -> SessionKey {
    SessionKey(
      cipher: cipher, bytes: SharedSecretBytes(SystemRandom.secretBytes(count: cipher.keyByteCount ?? 0)))
  }
}

/// A copy of what should not be copied: for comparison in tests.
func bytes(_ secret: SharedSecretBytes) -> [UInt8] { secret.withBytes { [UInt8](copying: $0) } }

/// The same secret with one bit changed.
func changed(_ secret: SharedSecretBytes, at offset: Int) -> SharedSecretBytes {
  var copy = secret.withBytes { SecretBytes(copying: $0) }
  copy.withMutableBytes {
    $0.storeBytes(
      of: $0.unsafeLoad(fromByteOffset: offset, as: UInt8.self) ^ 1, toByteOffset: offset, as: UInt8.self)
  }
  return SharedSecretBytes(copy)
}

// SPDX-License-Identifier: Apache-2.0
//
// Signatures of a digest by every algorithm, and bytes that are not a signature.

import Primitives
import Testing

@testable import OpenPGP

@Suite("Signing")
struct SigningTests {
  @Test("Every algorithm verifies what it signed, and nothing else", arguments: KeyFixtures.signing)
  func roundTrip(_ algorithm: KeyAlgorithm, version: UInt8) throws {
    let key = try KeyFixtures.key(algorithm, version)
    let other = try KeyFixtures.otherKey(algorithm, version)
    for hash in [HashAlgorithm.sha256, .sha384, .sha512, .sha3_256, .sha3_512, .sha224] {
      let digest = SystemRandom.publicBytes(count: try #require(hash.digestByteCount))
      let signature = try key.sign(digest: digest, hash: hash)
      #expect(try key.publicKey.isValid(signature, digest: digest, hash: hash))
      #expect(try !other.publicKey.isValid(signature, digest: digest, hash: hash))
      var changed = digest
      changed[0] ^= 1
      #expect(try !key.publicKey.isValid(signature, digest: changed, hash: hash))
      #expect(try !key.publicKey.isValid(signature, digest: digest + [0], hash: hash))
    }
  }

  @Test("A signature that is written and read again is the same", arguments: KeyFixtures.signing)
  func material(_ algorithm: KeyAlgorithm, version: UInt8) throws {
    let key = try KeyFixtures.key(algorithm, version)
    let digest = SystemRandom.publicBytes(count: 64)
    let signature = try key.sign(digest: digest, hash: .sha512)
    var written: [UInt8] = []
    signature.write(to: &written)
    var cursor = PacketCursor()
    let read = try SignatureMaterial(
      &cursor, written.span.bytes, algorithm: key.publicKey.algorithm, version: version)
    #expect(read == signature)
    #expect(cursor.offset == written.count)
  }

  @Test("PKCS#1: the name of the hash in the signature must be the one that is claimed")
  func digestInfo() throws {
    let key = try KeyFixtures.key(.rsa(bitCount: 3072), 4)
    let digest = SystemRandom.publicBytes(count: 32)
    let signature = try key.sign(digest: digest, hash: .sha256)
    #expect(try key.publicKey.isValid(signature, digest: digest, hash: .sha256))
    // SHA3-256 has digests of the same length under another name.
    #expect(try !key.publicKey.isValid(signature, digest: digest, hash: .sha3_256))
  }

  @Test("A signature of one algorithm is none of another's")
  func otherAlgorithm() throws {
    let digest = SystemRandom.publicBytes(count: 32)
    let (modern, legacy) = (try KeyFixtures.key(.ed25519, 4), try KeyFixtures.key(.eddsaLegacy, 4))
    let signature = try modern.sign(digest: digest, hash: .sha256)
    #expect(try !legacy.publicKey.isValid(signature, digest: digest, hash: .sha256))
    #expect(try !modern.publicKey.isValid(.unknown([1]), digest: digest, hash: .sha256))
  }

  @Test("Numbers that are too large for the key are no signature")
  func tooLarge() throws {
    let digest = SystemRandom.publicBytes(count: 32)
    let huge = MPI([UInt8](repeating: 0xFF, count: 600))
    let rsa = try KeyFixtures.key(.rsa(bitCount: 3072), 4).publicKey
    #expect(try !rsa.isValid(.rsa(huge), digest: digest, hash: .sha256))
    #expect(try !rsa.isValid(.rsa(MPI([])), digest: digest, hash: .sha256))
    let ecdsa = try KeyFixtures.key(.ecdsa(.p256), 6).publicKey
    #expect(try !ecdsa.isValid(.ecdsa(r: huge, s: huge), digest: digest, hash: .sha256))
    #expect(try !ecdsa.isValid(.ecdsa(r: MPI([]), s: MPI([])), digest: digest, hash: .sha256))
    let eddsa = try KeyFixtures.key(.eddsaLegacy, 4).publicKey
    #expect(try !eddsa.isValid(.eddsaLegacy(r: huge, s: huge), digest: digest, hash: .sha256))
  }

  @Test("Fields that are no key verify nothing, and algorithms that are not there say so")
  func badKeys() throws {
    let digest = SystemRandom.publicBytes(count: 32)
    func key(_ algorithm: PublicKeyAlgorithm, _ material: PublicKeyMaterial, version: UInt8 = 4) -> PublicKey
    {
      PublicKey(version: version, creationTime: KeyFixtures.time, algorithm: algorithm, material: material)
    }
    let offCurve = MPI([4] + [UInt8](repeating: 1, count: 64))
    let one = MPI([1])
    #expect(
      try !key(.ecdsa, .ecdsa(.p256, point: offCurve))
        .isValid(.ecdsa(r: one, s: one), digest: digest, hash: .sha256))
    #expect(
      try !key(.rsa, .rsa(modulus: MPI([]), exponent: MPI([])))
        .isValid(.rsa(one), digest: digest, hash: .sha256))
    #expect(
      try !key(.rsa, .rsa(modulus: MPI([4]), exponent: one)).isValid(.rsa(one), digest: digest, hash: .sha256)
    )
    #expect(throws: OpenPGPError.unsupported(.curve)) {
      _ = try key(.ecdsa, .ecdsa(Curve(objectIdentifier: [1, 2]), point: one))
        .isValid(.ecdsa(r: one, s: one), digest: digest, hash: .sha256)
    }
    #expect(throws: OpenPGPError.unsupported(.publicKeyAlgorithm(99))) {
      _ = try key(PublicKeyAlgorithm(rawValue: 99), .unknown([]))
        .isValid(.unknown([]), digest: digest, hash: .sha256)
    }
    // EdDSALegacy is not for version 6.
    let legacy = try KeyFixtures.key(.eddsaLegacy, 4)
    let signature = try legacy.sign(digest: digest, hash: .sha256)
    #expect(
      try !key(.eddsaLegacy, legacy.publicKey.material, version: 6)
        .isValid(signature, digest: digest, hash: .sha256))
  }

  @Test("A key for encryption does not sign")
  func wrongUse() throws {
    let key = try KeyFixtures.key(.x25519, 6)
    #expect(throws: OpenPGPError.keyCannot(.sign)) {
      _ = try key.sign(digest: [UInt8](repeating: 0, count: 32), hash: .sha256)
    }
  }

  @Test("What must not be made is not made")
  func refusedGeneration() {
    #expect(throws: OpenPGPError.unsupported(.publicKeyAlgorithm(1))) {
      _ = try KeyFixtures.key(.rsa(bitCount: 2048), 4)
    }
    #expect(throws: OpenPGPError.unsupported(.publicKeyAlgorithm(22))) {
      _ = try KeyFixtures.key(.eddsaLegacy, 6)
    }
    #expect(throws: OpenPGPError.unsupported(.curve)) { _ = try KeyFixtures.key(.curve25519Legacy, 6) }
    #expect(throws: OpenPGPError.unsupported(.curve)) {
      _ = try KeyFixtures.key(.ecdsa(.curve25519Legacy), 4)
    }
  }
}

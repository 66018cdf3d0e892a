// SPDX-License-Identifier: Apache-2.0
//
// Locking and unlocking keys, wrong passwords, changed packets, and keys whose halves do not belong together.

import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("Protected keys")
struct KeyProtectionTests {
  private static let all = KeyFixtures.signing + KeyFixtures.decrypting
  private let password = Array("correct horse battery staple".utf8)

  private func reread(_ key: SecretKey) throws -> SecretKey {
    try key.body().withBytes { body throws(OpenPGPError) in try SecretKey(body: body) }
  }

  @Test("A key without protection comes back as it was", arguments: all)
  func withoutProtection(_ algorithm: KeyAlgorithm, version: UInt8) throws {
    let key = try KeyFixtures.key(algorithm, version)
    let packet = try reread(key.withoutProtection())
    #expect(!packet.isLocked)
    try packet.checkUnprotected()
    #expect(packet.publicKey == key.publicKey)
    let unlocked = try packet.unlocked(password: nil, isSubkey: false)
    #expect(bytes(unlocked.material) == bytes(key.material))
  }

  @Test(
    "A key under a password comes back as it was, and not under another", arguments: KeyFixtures.oneOfEach)
  func universal(_ algorithm: KeyAlgorithm, version: UInt8) throws {
    let key = try KeyFixtures.key(algorithm, version)
    let packet = try reread(
      try key.locked(password: password.span.bytes, with: .universal, isSubkey: true))
    #expect(packet.isLocked)
    guard case .cfb(.aes256, .iterated(.sha256, _, codedCount: 255), _) = packet.protection else {
      Issue.record("another protection")
      return
    }
    let unlocked = try packet.unlocked(password: password.span.bytes, isSubkey: true)
    #expect(bytes(unlocked.material) == bytes(key.material))
    #expect(throws: OpenPGPError.wrongPassword) {
      _ = try packet.unlocked(password: password.span.bytes.extracting(first: 5), isSubkey: true)
    }
    #expect(throws: OpenPGPError.keyIsLocked) { _ = try packet.unlocked(password: nil, isSubkey: true) }
  }

  @Test("The advanced protection is OCB with Argon2id over 512 MiB", arguments: [UInt8(4), 6])
  func advanced(version: UInt8) throws {
    let key = try KeyFixtures.key(.ed448, version)
    let packet = try reread(
      try key.locked(password: password.span.bytes, with: .advanced, isSubkey: false))
    guard case .aead(.aes256, .ocb, let s2k, _) = packet.protection,
      case .argon2(_, passes: 3, lanes: 4, memoryExponent: 19) = s2k
    else {
      Issue.record("another protection")
      return
    }
    let unlocked = try packet.unlocked(password: password.span.bytes, isSubkey: false)
    #expect(bytes(unlocked.material) == bytes(key.material))
  }

  @Test("The advanced protection binds the kind of packet, the public key and every octet")
  func binding() throws {
    for version in [UInt8(4), 6] {
      let key = try KeyFixtures.key(.ed448, version)
      let cheap = StringToKey.argon2(
        salt: [UInt8](repeating: 7, count: 16), passes: 1, lanes: 1, memoryExponent: 6)
      let packet = try reread(try key.lockedByAEAD(password.span.bytes, cheap, isSubkey: false))
      let unlocked = try packet.unlocked(password: password.span.bytes, isSubkey: false)
      #expect(bytes(unlocked.material) == bytes(key.material))
      let other = PublicKey(
        version: version, creationTime: Timestamp(secondsSince1970: 1), algorithm: .ed448,
        material: key.publicKey.material)
      let variants = [
        (packet, true),
        (
          SecretKey(
            publicKey: other, protection: packet.protection, protectedMaterial: packet.protectedMaterial),
          false
        ),
        (
          SecretKey(
            publicKey: packet.publicKey, protection: packet.protection,
            protectedMaterial: changed(packet.protectedMaterial, at: 3)), false
        ),
      ]
      for (variant, isSubkey) in variants {
        #expect(throws: OpenPGPError.wrongPassword) {
          _ = try variant.unlocked(password: password.span.bytes, isSubkey: isSubkey)
        }
      }
      #expect(throws: OpenPGPError.wrongPassword) {
        _ = try packet.unlocked(password: RawSpan(), isSubkey: false)
      }
    }
  }

  @Test("Any changed octet under CFB is a wrong password")
  func changedCFB() throws {
    let packet = try KeyFixtures.key(.ed25519, 4)
      .locked(password: password.span.bytes, with: .universal, isSubkey: false)
    for offset in [0, 31, 32, 51] {
      let variant = SecretKey(
        publicKey: packet.publicKey, protection: packet.protection,
        protectedMaterial: changed(packet.protectedMaterial, at: offset))
      #expect(throws: OpenPGPError.wrongPassword) {
        _ = try variant.unlocked(password: password.span.bytes, isSubkey: false)
      }
    }
  }

  @Test("A wrong checksum of an unprotected key is not authentic")
  func checksum() throws {
    let packet = try KeyFixtures.key(.ed25519, 4).withoutProtection()
    let variant = SecretKey(
      publicKey: packet.publicKey, protection: .none,
      protectedMaterial: changed(packet.protectedMaterial, at: 33))
    #expect(throws: OpenPGPError.notAuthentic) { _ = try variant.unlocked(password: nil, isSubkey: false) }
  }

  @Test(
    "Overwritten public fields: a private key works for its own public key alone",
    arguments: all)
  func overwritten(_ algorithm: KeyAlgorithm, version: UInt8) throws {
    let (key, other) = (
      try KeyFixtures.key(algorithm, version), try KeyFixtures.otherKey(algorithm, version)
    )
    let mixed = SecretKey(
      publicKey: other.publicKey, protection: .none,
      protectedMaterial: key.withoutProtection().protectedMaterial)
    #expect(throws: OpenPGPError.malformed(.secretKey)) {
      _ = try mixed.unlocked(password: nil, isSubkey: false)
    }
  }

  @Test("RSA: a changed exponent is found, though the modulus is right")
  func exponent() throws {
    let key = try KeyFixtures.key(.rsa(bitCount: 3072), 4)
    guard case .rsa(let modulus, _) = key.publicKey.material else {
      Issue.record("another material")
      return
    }
    let changed = PublicKey(
      version: 4, creationTime: KeyFixtures.time, algorithm: .rsa,
      material: .rsa(modulus: modulus, exponent: MPI([3])))
    let packet = SecretKey(
      publicKey: changed, protection: .none, protectedMaterial: key.withoutProtection().protectedMaterial)
    #expect(throws: OpenPGPError.malformed(.secretKey)) {
      _ = try packet.unlocked(password: nil, isSubkey: false)
    }
  }

  @Test("Octets before, behind or missing in the secret fields are refused")
  func length() throws {
    for (algorithm, version) in [(KeyAlgorithm.ed25519, UInt8(6)), (.ecdh(.p256), 6), (.x448, 6)] {
      let key = try KeyFixtures.key(algorithm, version)
      let fields = bytes(key.material)
      for variant in [fields + [0], Array(fields.dropLast()), []] {
        let packet = SecretKey(
          publicKey: key.publicKey, protection: .none,
          protectedMaterial: SharedSecretBytes(SecretBytes(copying: variant.span.bytes)))
        let error = #expect(throws: OpenPGPError.self) {
          _ = try packet.unlocked(password: nil, isSubkey: false)
        }
        guard case .malformed? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
      }
    }
  }

  @Test(
    "A number that counts the zeros in front of it is read in secret keys of version 4, and not of version 6",
    arguments: [
      (KeyAlgorithm.eddsaLegacy, UInt8(4)), (.curve25519Legacy, 4), (.ecdsa(.p256), 4), (.ecdsa(.p256), 6),
    ])
  func leadingZeros(_ algorithm: KeyAlgorithm, version: UInt8) throws {
    let key = try KeyFixtures.key(algorithm, version)
    let number = bytes(key.material).dropFirst(2)
    let bitCount = UInt16(8 * (1 + number.count))
    var fields = [UInt8(bitCount >> 8), UInt8(bitCount & 255), 0] + number
    if version == 4 {
      let sum = SecretMaterial.checksum(fields.span.bytes)
      fields += [UInt8(sum >> 8), UInt8(sum & 255)]
    }
    let packet = SecretKey(
      publicKey: key.publicKey, protection: .none,
      protectedMaterial: SharedSecretBytes(SecretBytes(copying: fields.span.bytes)))
    if version == 4 {
      #expect(try packet.unlocked(password: nil, isSubkey: false).publicKey == key.publicKey)
    } else {
      #expect(throws: OpenPGPError.malformed(.multiprecisionInteger)) {
        _ = try packet.unlocked(password: nil, isSubkey: false)
      }
    }
  }

  @Test("Argon2 anywhere but under AEAD is malformed")
  func argon2UnderCFB() throws {
    let key = try KeyFixtures.key(.ed25519, 6)
    let s2k = StringToKey.argon2(
      salt: [UInt8](repeating: 0, count: 16), passes: 1, lanes: 1, memoryExponent: 4)
    let packet = SecretKey(
      publicKey: key.publicKey, protection: .cfb(.aes256, s2k, iv: [UInt8](repeating: 0, count: 16)),
      protectedMaterial: SharedSecretBytes(SecretBytes(zeroed: 52)))
    #expect(throws: OpenPGPError.malformed(.secretKey)) {
      _ = try packet.unlocked(password: password.span.bytes, isSubkey: false)
    }
  }

  @Test("A key that is on a card says so, with or without a password")
  func elsewhere() throws {
    let key = try KeyFixtures.key(.ed25519, 4)
    let packet = SecretKey(
      publicKey: key.publicKey,
      protection: .unknown(usage: 255, [0, 101, 0, 0x47, 0x4E, 0x55, 1]),
      protectedMaterial: SharedSecretBytes(SecretBytes(zeroed: 0)))
    #expect(throws: OpenPGPError.unsupported(.stringToKey(101))) {
      _ = try packet.unlocked(password: password.span.bytes, isSubkey: false)
    }
  }

  @Test("The checksums of old times are read: usage 255, and the cipher's number as usage")
  func oldChecksums() throws {
    let key = try KeyFixtures.key(.eddsaLegacy, 4)
    let plain = bytes(key.withoutProtection().protectedMaterial)
    let iv = SystemRandom.publicBytes(count: 16)
    for s2k in [StringToKey.salted(.sha256, salt: [1, 2, 3, 4, 5, 6, 7, 8]), nil] {
      let derived = try (s2k ?? .simple(.md5)).deriveKey(password: password.span.bytes, byteCount: 16)
      let cipherKey = derived.withBytes { [UInt8](copying: $0) }
      let encrypted = try cfb(plain, .aes128, .encrypt, key: cipherKey, iv: iv, pieces: [plain.count])
      let packet = try reread(
        SecretKey(
          publicKey: key.publicKey, protection: .cfbChecksum(.aes128, s2k, iv: iv),
          protectedMaterial: SharedSecretBytes(SecretBytes(copying: encrypted.span.bytes))))
      let unlocked = try packet.unlocked(password: password.span.bytes, isSubkey: false)
      #expect(bytes(unlocked.material) == bytes(key.material))
      #expect(throws: OpenPGPError.wrongPassword) {
        _ = try packet.unlocked(password: RawSpan(), isSubkey: false)
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// New keys, profile by profile: what they are, and what they promise to who sends to them.

import Extents
import Secrets
import Testing

@testable import OpenPGP

struct KeyGenerationTests {
  private static let names = [UserID("Ada <ada@example.org>"), UserID("Countess")]

  private func make(
    _ profile: KeyProfile, _ names: [UserID] = names, isSigningOnly: Bool = false,
    validitySeconds: UInt32? = nil
  ) throws -> TransferableSecretKey {
    var generation = KeyGeneration(profile, userIDs: names, creationTime: day(0))
    generation.isSigningOnly = isSigningOnly
    generation.validitySeconds = validitySeconds
    return try generation.generate()
  }

  private func valid(_ key: TransferableSecretKey, on time: Int = 1) -> ValidCertificate {
    ValidCertificate(key.certificate, at: day(time), now: day(time), policy: .standard)
  }

  @Test("A new key certifies, signs and can be encrypted to", arguments: KeyProfile.allCases)
  func usable(profile: KeyProfile) throws {
    let key = try make(profile)
    let valid = valid(key)
    #expect(valid.problem == nil)
    #expect(valid.keys.map(\.publicKey.version) == [profile.version, profile.version])
    #expect(valid.primaryKey.flags == [.certify, .sign])
    #expect(valid.keys[1].flags == [.encryptCommunications, .encryptStorage])
    #expect(try valid.signingKeys() == [key.certificate.primaryKey])
    #expect(try valid.certificationKey() == key.certificate.primaryKey)
    #expect(try valid.encryptionKeys(for: .encryptStorage).count == 1)
    #expect(valid.userIDs.map(\.userID) == Self.names)
    #expect(valid.primaryUserID == Self.names[0])
    #expect(valid.keys.allSatisfy { $0.expirationTime == nil })
    #expect(valid.preferredHashAlgorithms == [.sha512, .sha256])
    #expect(valid.preferredSymmetricAlgorithms.first == .aes256)
  }

  @Test("Universal keys promise version 1 alone: never bit 0x08, never LibrePGP's")
  func universalFeatures() throws {
    for profile in [KeyProfile.universal, .rfc4880] {
      let valid = valid(try make(profile))
      #expect(valid.features.rawValue == 0x01)
      #expect(valid.preferredAEADCiphersuites.isEmpty)
    }
  }

  @Test("Advanced keys promise both versions, and want OCB before GCM")
  func advancedFeatures() throws {
    for profile in [KeyProfile.advanced, .rfc9580] {
      let valid = valid(try make(profile))
      #expect(valid.features.rawValue == 0x09)
      #expect(
        valid.preferredAEADCiphersuites == [
          AEADCiphersuite(.aes256, .ocb), AEADCiphersuite(.aes256, .gcm),
        ])
    }
  }

  @Test("The algorithms are those of the profile")
  func algorithms() throws {
    let expected: KeyValuePairs<KeyProfile, [PublicKeyAlgorithm]> = [
      .universal: [.eddsaLegacy, .ecdh], .advanced: [.ed448, .x448], .rfc4880: [.rsa, .rsa],
      .rfc9580: [.ed25519, .x25519], .postQuantum: [.mldsa65Ed25519, .mlkem768X25519],
      .postQuantumHigh: [.mldsa87Ed448, .mlkem1024X448], .hashBased128s: [.slhdsa128s, .mlkem768X25519],
      .hashBased128f: [.slhdsa128f, .mlkem768X25519], .hashBased256s: [.slhdsa256s, .mlkem1024X448],
    ]
    #expect(expected.count == KeyProfile.allCases.count)
    for (profile, algorithms) in Shares("algorithms of profiles", count: 3).of(expected) {
      #expect(try make(profile).certificate.publicKeys.map(\.algorithm) == algorithms)
    }
  }

  @Test("Nobody is asked to compress", arguments: [KeyProfile.universal, .advanced])
  func compression(profile: KeyProfile) throws {
    let certificate = try make(profile).certificate
    let all = certificate.signatures + certificate.userIDs.flatMap(\.signatures)
    let lists = all.compactMap { signature -> [CompressionAlgorithm]? in
      signature.hashedArea.last {
        if case .preferredCompressionAlgorithms(let list) = $0 { list } else { nil }
      }
    }
    #expect(!lists.isEmpty && lists.allSatisfy { $0 == [.uncompressed] })
  }

  @Test("A key may be for signing alone, and without user IDs", arguments: [KeyProfile.universal, .rfc9580])
  func signingOnly(profile: KeyProfile) throws {
    let valid = valid(try make(profile, [], isSigningOnly: true))
    #expect(valid.problem == nil && valid.keys.count == 1 && valid.userIDs.isEmpty)
    #expect(throws: OpenPGPError.noEncryptionKey) { try valid.encryptionKeys(for: .encryptStorage) }
  }

  @Test("The same user ID twice is there once")
  func sameUserIDTwice() throws {
    #expect(try make(.universal, [Self.names[0], Self.names[0]]).certificate.userIDs.count == 1)
  }

  @Test("A key with an end ends then", arguments: [KeyProfile.universal, .rfc9580])
  func validity(profile: KeyProfile) throws {
    let key = try make(profile, validitySeconds: seconds(days: 10))
    #expect(valid(key, on: 9).keys.allSatisfy { $0.problem == nil && $0.expirationTime == day(10) })
    #expect(valid(key, on: 10).problem == .expired)
  }

  @Test(
    "What is written of a new key is read again",
    arguments: [KeyProfile.universal, .advanced, .postQuantum, .postQuantumHigh, .hashBased128f])
  func roundTrip(profile: KeyProfile) throws {
    let key = try make(profile)
    let sink = ArraySink()
    try key.write(to: sink)
    let read = try TransferableSecretKey.readAll(MemorySource(sink.bytes))[0]
    #expect(read.certificate == key.certificate)
    for fingerprint in key.secrets.keys {
      let unlocked = try read.unlocked(fingerprint, for: .sign, passwords: [])
      #expect(unlocked.publicKey.fingerprint == fingerprint)
    }
  }

  @Test("A locked key opens with its password, and with no other")
  func password() throws {
    let password = SharedSecretBytes(SecretBytes(copying: "correct horse"))
    let wrong = SharedSecretBytes(SecretBytes(copying: "battery staple"))
    var key = try KeyGeneration(.universal, userIDs: Self.names, creationTime: day(0))
      .generate(password: password)
    #expect(key.secrets.values.allSatisfy(\.isLocked) && key.secrets.count == 2)
    for fingerprint in key.secrets.keys {
      #expect(throws: OpenPGPError.keyIsLocked) {
        try key.unlocked(fingerprint, for: .sign, passwords: [wrong])
      }
      _ = try key.unlocked(fingerprint, for: .sign, passwords: [wrong, password])
    }
    let before = key.secrets.mapValues(\.protection)
    #expect(throws: OpenPGPError.keyIsLocked) { try key.changePassword(from: [wrong], to: nil) }
    #expect(key.secrets.mapValues(\.protection) == before)
    try key.changePassword(from: [password], to: wrong)
    _ = try key.unlocked(key.certificate.fingerprint, for: .sign, passwords: [wrong])
    try key.changePassword(from: [wrong], to: nil)
    #expect(key.secrets.values.allSatisfy { !$0.isLocked })
  }

  @Test("A secret key that is on a card cannot be opened, and keeps its place when the password changes")
  func onACard() throws {
    var key = try make(.universal)
    let fingerprint = key.certificate.fingerprint
    let card = SecretKeyProtection.unknown(usage: 254, [9, 101, 0, 0x47, 0x4E, 0x55, 1])
    key.secrets[fingerprint] = SecretKey(
      publicKey: key.certificate.primaryKey, protection: card,
      protectedMaterial: SharedSecretBytes(SecretBytes(zeroed: 0)))
    try key.changePassword(from: [], to: nil)
    #expect(key.secrets[fingerprint]?.protection == card)
    #expect(throws: OpenPGPError.keyCannot(.sign)) {
      try key.unlocked(fingerprint, for: .sign, passwords: [])
    }
  }
}

extension SecretBytes {
  /// A password of a test.
  init(copying text: String) {
    let bytes = Array(text.utf8)
    self.init(copying: bytes.span.bytes)
  }
}

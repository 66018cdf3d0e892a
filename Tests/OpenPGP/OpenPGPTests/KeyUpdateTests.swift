// SPDX-License-Identifier: Apache-2.0
//
// Keys of other software and of earlier days brought up to date; ours stay as they are.

import Secrets
import Testing

@testable import OpenPGP

struct KeyUpdateTests {
  private func valid(_ key: TransferableSecretKey, on time: Int) -> ValidCertificate {
    ValidCertificate(key.certificate, at: day(time), now: day(time), policy: .standard)
  }

  private func refresh(on time: Int) -> KeyUpdate { KeyUpdate(time: day(time), policy: .standard) }

  private func key(_ holder: KeyHolderFixture) -> TransferableSecretKey {
    var secrets: [Fingerprint: SecretKey] = [:]
    for key in [holder.primary] + holder.subkeys {
      secrets[key.publicKey.fingerprint] = key.withoutProtection()
    }
    return TransferableSecretKey(certificate: holder.certificate, secrets: secrets)
  }

  @Test("A key of ours comes back as it was", arguments: [KeyProfile.universal, .advanced, .rfc9580])
  func unchanged(profile: KeyProfile) throws {
    let key = try KeyGeneration(profile, userIDs: [KeyHolderFixture.userID], creationTime: day(0)).generate()
    #expect(try refresh(on: 5).apply(to: key, passwords: []).certificate == key.certificate)
  }

  @Test("An old key says what ours say, and gets what it lacks", arguments: [4, 6] as [UInt8])
  func outdated(version: UInt8) throws {
    let old = key(
      try KeyHolderFixture.usual(
        version: version,
        says: [.preferredSymmetricAlgorithms([.tripleDES]), .keyExpirationTime(seconds: seconds(days: 90))]))
    let new = try refresh(on: 5).apply(to: old, passwords: [])
    let valid = valid(new, on: 5)
    #expect(valid.preferredSymmetricAlgorithms.first == .aes256)
    #expect(valid.features == KeyPreferences.features(version: version))
    #expect(valid.primaryKey.expirationTime == day(90))
    #expect(valid.primaryKey.flags == [.certify, .sign])
    let encryption = try valid.encryptionKeys(for: .encryptCommunications)
    #expect(encryption.count == 1 && new.secrets[encryption[0].fingerprint] != nil)
    #expect(try refresh(on: 6).apply(to: new, passwords: []).certificate == new.certificate)
  }

  @Test("A primary key that only certifies gets a signing subkey, confirmed")
  func signingSubkey() throws {
    var holder = try KeyHolderFixture(version: 6)
    try holder.addDirectKeySignature([.keyFlags(.certify)])
    var refresh = refresh(on: 5)
    refresh.isSigningOnly = true
    let new = try refresh.apply(to: key(holder), passwords: [])
    #expect(valid(new, on: 5).keys.map(\.flags) == [.certify, .sign])
    #expect(try valid(new, on: 5).signingKeys() == [new.certificate.subkeys[0].packet])
    refresh.addsCapabilities = false
    #expect(try refresh.apply(to: key(holder), passwords: []).certificate.subkeys.isEmpty)
  }

  @Test("What version 4 of other software promises beyond ours is kept")
  func moreFeatures() throws {
    let both: Features = [.seipdVersion1, .seipdVersion2]
    let suites = [AEADCiphersuite(.aes128, .ocb)]
    let old = key(
      try KeyHolderFixture.usual(version: 4, says: [.features(both), .preferredAEADCiphersuites(suites)]))
    let valid = valid(try refresh(on: 5).apply(to: old, passwords: []), on: 5)
    #expect(valid.features == both && valid.preferredAEADCiphersuites == suites)
  }

  @Test("Subkeys that a rule refuses are revoked on request")
  func refusedSubkeys() throws {
    var holder = try KeyHolderFixture.usual(version: 4)
    let weak = PublicKey(
      version: 4, creationTime: day(0), algorithm: .rsa,
      material: .rsa(modulus: MPI([UInt8](repeating: 0xFF, count: 64)), exponent: MPI([3])))
    let target = SignedTarget.subkey(primary: holder.primary.publicKey, weak)
    let binding = try holder.signature(.subkeyBinding, over: target, [.keyFlags(.encryptStorage)], on: 0)
    holder.certificate.subkeys = [.init(weak, signatures: [binding])]
    var refresh = refresh(on: 5)
    refresh.revokesRefusedKeys = true
    let new = try refresh.apply(to: key(holder), passwords: [])
    #expect(valid(new, on: 5).key(weak.fingerprint)?.problem == .revoked(RevocationReason(.superseded)))
  }

  @Test("A revoked or expired key is not refreshed")
  func unusable() throws {
    var revoked = try KeyHolderFixture.usual()
    try revoked.revoke(.retired, on: 3)
    let expired = try KeyHolderFixture.usual(says: [.keyExpirationTime(seconds: seconds(days: 2))])
    for holder in [revoked, expired] {
      #expect(throws: OpenPGPError.keyCannot(.certify)) {
        try refresh(on: 5).apply(to: key(holder), passwords: [])
      }
    }
  }

  @Test("New subkeys are locked with the password of the primary key")
  func locked() throws {
    let password = SharedSecretBytes(SecretBytes(copying: "correct horse"))
    var generation = KeyGeneration(.universal, userIDs: [KeyHolderFixture.userID], creationTime: day(0))
    generation.isSigningOnly = true
    let old = try generation.generate(password: password)
    #expect(throws: OpenPGPError.keyIsLocked) { try refresh(on: 5).apply(to: old, passwords: []) }
    let new = try refresh(on: 5).apply(to: old, passwords: [password])
    let subkey = new.certificate.subkeys[0].packet.fingerprint
    #expect(new.secrets[subkey]?.isLocked == true)
    _ = try new.unlocked(subkey, for: .decrypt, passwords: [password])
  }
}

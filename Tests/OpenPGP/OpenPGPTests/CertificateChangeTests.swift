// SPDX-License-Identifier: Apache-2.0
//
// What a holder does to a certificate later: another end, revocations, certifications of others, a refresh.

import Secrets
import Testing

@testable import OpenPGP

struct CertificateChangeTests {
  private func make(_ profile: KeyProfile, validitySeconds: UInt32? = nil) throws -> TransferableSecretKey {
    var generation = KeyGeneration(profile, userIDs: [KeyHolderFixture.userID], creationTime: day(0))
    generation.validitySeconds = validitySeconds
    return try generation.generate()
  }

  private func valid(_ certificate: Certificate, on time: Int) -> ValidCertificate {
    ValidCertificate(certificate, at: day(time), now: day(time), policy: .standard)
  }

  private func primary(_ key: TransferableSecretKey) throws -> UnlockedKey {
    try key.unlocked(key.certificate.fingerprint, for: .certify, passwords: [])
  }

  @Test(
    "An expired key comes back to life, and what it said stays", arguments: [KeyProfile.universal, .rfc9580])
  func newExpiration(profile: KeyProfile) throws {
    let key = try make(profile, validitySeconds: seconds(days: 10))
    let old = valid(key.certificate, on: 20)
    #expect(old.problem == .expired)
    let changed = try old.settingExpiration(to: day(50), by: try primary(key))
    let new = valid(changed, on: 20)
    #expect(new.keys.map(\.problem) == [nil, nil])
    #expect(new.primaryKey.expirationTime == day(50))
    #expect(new.primaryKey.flags == old.primaryKey.flags && new.features == old.features)
    #expect(new.primaryUserID == KeyHolderFixture.userID)
    #expect(valid(changed, on: 15).problem == .expired)
    let endless = try valid(changed, on: 30).settingExpiration(to: nil, by: try primary(key))
    #expect(valid(endless, on: 9_000).problem == nil)
  }

  @Test("A change in the second of the old signature counts", arguments: [KeyProfile.universal, .rfc9580])
  func changeWithinOneSecond(profile: KeyProfile) throws {
    let key = try make(profile)
    let changed = try valid(key.certificate, on: 0).settingExpiration(to: day(5), by: try primary(key))
    #expect(valid(changed, on: 1).primaryKey.expirationTime == day(5))
  }

  @Test("Subkeys that end by themselves get the new end, and still sign")
  func newExpirationOfSubkeys() throws {
    var holder = try KeyHolderFixture.usual()
    try holder.addSigningSubkey([.keyExpirationTime(seconds: seconds(days: 10))], on: 5)
    let changed = try holder.valid(on: 20).settingExpiration(to: day(50), by: holder.primary)
    #expect(valid(changed, on: 20).keys[1].expirationTime == day(50))
    #expect(valid(changed, on: 20).keys[1].flags == .sign)
    #expect(valid(changed, on: 50).problem == .expired)
  }

  @Test("A subkey that is younger than the new end is ended by the primary key")
  func endBeforeSubkey() throws {
    var holder = try KeyHolderFixture.usual()
    try holder.addEncryptionSubkey([.keyExpirationTime(seconds: seconds(days: 90))], on: 15)
    let changed = try holder.valid(on: 20).settingExpiration(to: day(10), by: holder.primary)
    #expect(valid(changed, on: 20).keys.map(\.problem) == [.expired, .expired])
  }

  @Test("Only its own primary key changes a certificate, and nothing a revoked one")
  func notItsOwnKey() throws {
    let key = try make(.rfc9580)
    let stranger = try primary(try make(.rfc9580))
    #expect(throws: OpenPGPError.keyCannot(.certify)) {
      try valid(key.certificate, on: 1).settingExpiration(to: nil, by: stranger)
    }
    #expect(throws: OpenPGPError.keyCannot(.certify)) {
      try key.certificate.revoking(
        .primaryKey, reason: RevocationReason(.retired), at: day(1), by: stranger)
    }
    let revoked = try key.certificate.revoking(
      .primaryKey, reason: RevocationReason(.compromised), at: day(1), by: try primary(key))
    #expect(throws: OpenPGPError.keyCannot(.certify)) {
      try valid(revoked, on: 2).settingExpiration(to: nil, by: try primary(key))
    }
  }

  @Test("What is revoked is revoked, with its reason", arguments: [KeyProfile.universal, .rfc9580])
  func revoked(profile: KeyProfile) throws {
    let key = try make(profile)
    let signer = try primary(key)
    let reason = RevocationReason(.retired, text: Array("new key".utf8))
    let subkey = key.certificate.subkeys[0].packet.fingerprint
    let whole = try key.certificate.revoking(.primaryKey, reason: reason, at: day(5), by: signer)
    #expect(valid(whole, on: 5).problem == .revoked(reason))
    let part = try key.certificate.revoking(.subkey(subkey), reason: reason, at: day(5), by: signer)
    #expect(valid(part, on: 5).keys.map(\.problem) == [nil, .revoked(reason)])
    let name = try key.certificate.revoking(
      .userID(KeyHolderFixture.userID), reason: reason, at: day(5), by: signer)
    #expect(valid(name, on: 5).userIDs.map(\.problem) == [.revoked(reason)])
    let sink = ArraySink()
    try whole.write(to: sink)
    let read = try Certificate.readAll(MemorySource(sink.bytes))[0]
    #expect(valid(read, on: 5).problem == .revoked(reason))
  }

  @Test(
    "A certification by an authority is believed until it is revoked",
    arguments: [KeyProfile.universal, .rfc9580])
  func certified(profile: KeyProfile) throws {
    let key = try make(profile)
    let authority = try make(.rfc9580)
    let signer = try primary(authority)
    let certified = try key.certificate.certifying(KeyHolderFixture.userID, at: day(2), by: signer)
    func isCertified(_ certificate: Certificate, on time: Int, by other: Certificate? = nil) -> Bool {
      valid(certificate, on: time).isCertified(
        KeyHolderFixture.userID, by: [valid(other ?? authority.certificate, on: time)])
    }
    #expect(isCertified(certified, on: 2))
    #expect(!isCertified(certified, on: 1))
    #expect(!isCertified(key.certificate, on: 2))
    #expect(!isCertified(certified, on: 2, by: try make(.rfc9580).certificate))
    var builder = SignatureBuilder(type: .certificationRevocation, creationTime: day(5))
    builder.subpackets = [Subpacket(.reasonForRevocation(RevocationReason(.userIDInvalid)))]
    let revocation = try builder.sign(
      .userID(key.certificate.primaryKey, KeyHolderFixture.userID), with: signer)
    let revoked = certified.adding(revocation, to: .userID(KeyHolderFixture.userID))
    #expect(isCertified(revoked, on: 4) && !isCertified(revoked, on: 5))
    let gone = try authority.certificate.revoking(
      .primaryKey, reason: RevocationReason(.compromised), at: day(9), by: signer)
    #expect(!isCertified(certified, on: 2, by: gone))
  }

  @Test("A certification of what the holder does not claim is worth nothing")
  func certifiedAgainstTheHolder() throws {
    let key = try make(.rfc9580)
    let authority = try make(.rfc9580)
    let other = UserID("Somebody else <else@example.org>")
    let certified = try key.certificate.certifying(other, at: day(2), by: try primary(authority))
    #expect(!valid(certified, on: 3).isCertified(other, by: [valid(authority.certificate, on: 3)]))
  }

  @Test("The address of a user ID is between the angle brackets, or the whole")
  func address() {
    let expected: [String: String?] = [
      "Ada <ada@example.org>": "ada@example.org", "ada@example.org": "ada@example.org",
      "<ada@example.org>": "ada@example.org", "Ada": nil, "Ada <ada>": nil, "a@b@c": nil,
      "Ada <x> <ada@example.org>": "ada@example.org", "ada@example.org (work)": nil, "": nil,
      "<eve@example.org> <": nil,
    ]
    for (text, address) in expected { #expect(UserID(text).address == address, "\(text)") }
    #expect(UserID(bytes: [0xFF]).address == nil)
  }
}

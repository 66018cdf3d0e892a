// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OpenPGP

@Suite("A certificate reduced to what is needed now")
struct SmallCertificateTests {
  private static let userIDs = [UserID("Ada <ada@example.org>"), UserID("Ada at work <ada@example.com>")]

  private func make(_ profile: KeyProfile) throws -> TransferableSecretKey {
    try KeyGeneration(profile, userIDs: Self.userIDs, creationTime: day(0)).generate()
  }

  private func primary(_ key: TransferableSecretKey) throws -> UnlockedKey {
    try key.unlocked(key.certificate.fingerprint, for: .certify, passwords: [])
  }

  private func valid(_ certificate: Certificate, on time: Int) -> ValidCertificate {
    ValidCertificate(certificate, at: day(time), now: day(time), policy: .standard)
  }

  private func count(_ certificate: Certificate) throws -> Int {
    let sink = ArraySink()
    try certificate.write(to: sink)
    return sink.bytes.count
  }

  @Test(
    "It says the same of the key, with one user ID and the newest statements",
    arguments: [KeyProfile.universal, .advanced])
  func same(profile: KeyProfile) throws {
    let key = try make(profile)
    var certificate = key.certificate
    for end in 1...4 {
      certificate = try valid(certificate, on: end).settingExpiration(
        to: day(100 * end), by: try primary(key))
    }
    let small = certificate.reducedToNecessities(at: day(10), policy: .standard)
    let (before, after) = (valid(certificate, on: 10), valid(small, on: 10))
    #expect(after.problem == nil && after.primaryUserID == Self.userIDs[0])
    #expect(after.keys.map(\.publicKey) == before.keys.map(\.publicKey))
    #expect(after.keys.map(\.flags) == before.keys.map(\.flags))
    #expect(after.keys.map(\.expirationTime) == [day(400), day(400)])
    #expect(after.features == before.features)
    #expect(after.preferredHashAlgorithms == before.preferredHashAlgorithms)
    #expect(small.userIDs.map(\.packet) == [Self.userIDs[0]])
    #expect(try count(small) * 2 < count(certificate))
    #expect(small.reducedToHolderStatements() == small)
    #expect(small.reducedToNecessities(at: day(10), policy: .standard) == small)
  }

  @Test("Merged into a whole copy it takes nothing away", arguments: [KeyProfile.universal, .advanced])
  func merged(profile: KeyProfile) throws {
    let whole = try make(profile).certificate
    let small = whole.reducedToNecessities(at: day(1), policy: .standard)
    #expect(small != whole && whole.merging(small) == whole)
    #expect(small.merging(whole).reducedToHolderStatements() == whole)
  }

  @Test("A subkey that is revoked is left out; what revokes a user ID stays with it")
  func revokedParts() throws {
    let key = try make(.universal)
    let reason = RevocationReason(.retired)
    let subkey = key.certificate.subkeys[0].packet.fingerprint
    let changed = try key.certificate
      .revoking(.subkey(subkey), reason: reason, at: day(5), by: primary(key))
      .revoking(.userID(Self.userIDs[0]), reason: reason, at: day(5), by: primary(key))
    let small = changed.reducedToNecessities(at: day(6), policy: .standard)
    #expect(small.subkeys.isEmpty)
    #expect(small.userIDs.map(\.packet) == [Self.userIDs[1]])
    let nameless = try changed.revoking(
      .userID(Self.userIDs[1]), reason: reason, at: day(5), by: primary(key)
    )
    .reducedToNecessities(at: day(6), policy: .standard)
    #expect(!valid(nameless, on: 6).userIDs.contains { $0.problem == nil })
  }

  @Test("A revoked certificate stays revoked, and an expired one whole")
  func unusable() throws {
    let key = try make(.universal)
    let revoked = try key.certificate.revoking(
      .primaryKey, reason: RevocationReason(.compromised), at: day(5), by: primary(key))
    let small = revoked.reducedToNecessities(at: day(6), policy: .standard)
    #expect(valid(small, on: 6).problem == .revoked(RevocationReason(.compromised)))
    let expired = try valid(key.certificate, on: 1).settingExpiration(to: day(5), by: primary(key))
    #expect(expired.reducedToNecessities(at: day(6), policy: .standard) == expired)
  }

  @Test("What others have said is left out, also of a key that cannot be used")
  func others() throws {
    let (key, stranger) = (try make(.universal), try make(.universal))
    let certified = try key.certificate.certifying(Self.userIDs[0], at: day(2), by: primary(stranger))
    #expect(
      certified.reducedToNecessities(at: day(3), policy: .standard)
        == key.certificate.reducedToNecessities(at: day(3), policy: .standard))
  }
}

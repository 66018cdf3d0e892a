// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.1.11 to 5.2.1.13 and 5.2.3.31: who may revoke what, and from when on it counts.

import Testing

@testable import OpenPGP

struct ValidCertificateRevocationTests {
  private static let hard: [RevocationReason.Code?] = [
    nil, RevocationReason.Code.none, .compromised, RevocationReason.Code(rawValue: 99),
  ]
  private static let soft: [RevocationReason.Code] = [.superseded, .retired]

  private func isRevoked(_ problem: ValidCertificate.Problem?) -> Bool {
    if case .revoked = problem { true } else { false }
  }

  @Test("A hard revocation ends the key at all times, earlier ones too", arguments: hard)
  func hardRevocation(code: RevocationReason.Code?) throws {
    var holder = try KeyHolderFixture.usual()
    try holder.addEncryptionSubkey()
    try holder.revoke(code, on: 10)
    for time in [1, 10, 20] {
      #expect(holder.valid(on: time).keys.allSatisfy { isRevoked($0.problem) })
    }
  }

  @Test("A soft revocation ends the key from its day on", arguments: soft)
  func softRevocation(code: RevocationReason.Code) throws {
    var holder = try KeyHolderFixture.usual()
    try holder.addEncryptionSubkey()
    try holder.revoke(code, on: 10)
    #expect(holder.valid(on: 9).keys.map(\.problem) == [nil, nil])
    #expect(holder.valid(on: 10).problem == .revoked(RevocationReason(code)))
    #expect(throws: OpenPGPError.noEncryptionKey) {
      try holder.valid(on: 10).encryptionKeys(for: .encryptStorage)
    }
  }

  @Test("A newer self-signature takes a soft revocation back, and no hard one")
  func takenBack() throws {
    for (code, isTakenBack) in [(RevocationReason.Code.retired, true), (.compromised, false)] {
      var holder = try KeyHolderFixture.usual()
      try holder.revoke(code, on: 10)
      try holder.addDirectKeySignature([.keyFlags(.sign)], on: 20)
      #expect(isRevoked(holder.valid(on: 15).problem))
      #expect(isRevoked(holder.valid(on: 25).problem) != isTakenBack)
    }
  }

  @Test("A user ID that is added later does not take a soft revocation back for the time before")
  func takenBackLater() throws {
    var holder = try KeyHolderFixture(version: 6)
    try holder.addDirectKeySignature([.keyFlags(.sign)])
    try holder.revoke(.retired, on: 10)
    try holder.addUserID(KeyHolderFixture.userID, on: 20)
    #expect(holder.valid(on: 9).problem == nil)
    #expect(isRevoked(holder.valid(on: 15).problem))
  }

  @Test("A revocation that a stranger made is ignored")
  func byStranger() throws {
    var holder = try KeyHolderFixture.usual()
    try holder.addEncryptionSubkey()
    let subkey = holder.subkeys[0].publicKey.fingerprint
    let stranger = try KeyHolderFixture().primary
    try holder.revoke(.compromised, on: 1, by: stranger)
    try holder.revoke(.compromised, .subkey(subkey), on: 1, by: stranger)
    try holder.revoke(.userIDInvalid, .userID(KeyHolderFixture.userID), on: 1, by: stranger)
    let valid = holder.valid(on: 2)
    #expect(valid.keys.map(\.problem) == [nil, nil])
    #expect(valid.userIDs.map(\.problem) == [nil])
  }

  @Test("A broken revocation is ignored")
  func broken() throws {
    var holder = try KeyHolderFixture.usual()
    try holder.revoke(.compromised, on: 1)
    holder.certificate.signatures = holder.certificate.signatures.map {
      $0.type == .keyRevocation ? $0.broken : $0
    }
    #expect(holder.valid(on: 2).problem == nil)
  }

  @Test("A revoked key stays revoked without any other signature: a revocation certificate")
  func revocationAlone() throws {
    let holder = try KeyHolderFixture.usual()
    let certificate = try holder.certificate.revocationCertificate(
      reason: RevocationReason(.retired), at: day(3), by: holder.primary)
    #expect(certificate.userIDs.isEmpty && certificate.signatures.count == 1)
    let valid = ValidCertificate(certificate, at: day(4), now: day(4), policy: .standard)
    #expect(valid.problem == .revoked(RevocationReason(.retired)))
  }

  @Test("A revoked subkey leaves the others alone")
  func subkey() throws {
    var holder = try KeyHolderFixture.usual()
    let good = try holder.addEncryptionSubkey()
    let revoked = try holder.addEncryptionSubkey()
    try holder.revoke(.compromised, .subkey(revoked.publicKey.fingerprint), on: 10)
    #expect(try holder.valid(on: 1).encryptionKeys(for: .encryptStorage) == [good.publicKey])
    #expect(holder.valid(on: 1).problem == nil)
  }

  @Test("A revocation of a subkey counts wherever it stands, and for that subkey alone")
  func misplacedSubkeyRevocation() throws {
    var holder = try KeyHolderFixture.usual()
    let good = try holder.addEncryptionSubkey()
    let revoked = try holder.addEncryptionSubkey()
    let plain = holder.certificate
    try holder.revoke(.compromised, .subkey(revoked.publicKey.fingerprint), on: 10)
    let revocation = try #require(
      holder.certificate.subkeys[1].signatures.first { $0.type == .subkeyRevocation })
    var places = [plain, plain, plain]
    places[0].signatures.append(revocation)
    places[1].userIDs[0].signatures.append(revocation)
    places[2].subkeys[0].signatures.append(revocation)
    for place in places {
      holder.certificate = place
      #expect(try holder.valid(on: 1).encryptionKeys(for: .encryptStorage) == [good.publicKey])
      #expect(isRevoked(holder.valid(on: 1).keys[2].problem))
    }
  }

  @Test("A misplaced revocation of a subkey counts behind however many that do not verify")
  func floodedSubkeyRevocation() throws {
    var holder = try KeyHolderFixture.usual()
    let key = try holder.addEncryptionSubkey()
    let stranger = try KeyHolderFixture().primary
    let target = SignedTarget.subkey(primary: holder.primary.publicKey, key.publicKey)
    let junk = try (1...200).map { number in
      try holder.signature(.subkeyRevocation, over: target, [], on: number, by: stranger)
        .naming(holder.primary.publicKey)
    }
    let revocation = try holder.signature(.subkeyRevocation, over: target, [], on: 10)
    holder.certificate.userIDs[0].signatures += junk + [revocation]
    #expect(isRevoked(holder.valid(on: 1).keys[1].problem))
    let reduced = holder.certificate.reducedToHolderStatements()
    #expect(reduced.subkeys[0].signatures.filter { $0.type == .subkeyRevocation } == [revocation])
  }

  @Test("A binding made later does not make good what was signed while the subkey was revoked")
  func boundLater() throws {
    for version: UInt8 in [4, 6] {
      var holder = try KeyHolderFixture.usual(version: version)
      let key = try holder.addUnboundSubkey(.ed25519)
      try holder.revoke(.retired, .subkey(key.publicKey.fingerprint), on: 10)
      let confirmation = try holder.confirmation(of: key, on: 40)
      try holder.bind(key, [.keyFlags(.sign), .embeddedSignature(confirmation)], on: 40)
      // As where GnuPG keeps the newest alone, the later binding counts for the time before the revocation.
      #expect(holder.valid(on: 9).keys[1].problem == nil)
      #expect(isRevoked(holder.valid(on: 35).keys[1].problem))
      #expect(holder.valid(on: 41).keys[1].problem == nil)
    }
  }

  @Test("A user ID claimed again is not valid in between, nor a key of which nothing older is left")
  func claimedLater() throws {
    for version: UInt8 in [4, 6] {
      var holder = try KeyHolderFixture(version: version)
      try holder.state([], on: 30)
      try holder.revoke(.userIDInvalid, .userID(KeyHolderFixture.userID), on: 10)
      try holder.revoke(.retired, on: 12)
      #expect(holder.valid(on: 9).userIDs.map(\.problem) == [nil])
      #expect(isRevoked(holder.valid(on: 20).userIDs[0].problem))
      #expect(holder.valid(on: 11).problem == nil)
      #expect(isRevoked(holder.valid(on: 20).problem))
      #expect(holder.valid(on: 31).problem == nil)
    }
  }

  @Test("A subkey that was superseded serves until then")
  func softlyRevokedSubkey() throws {
    var holder = try KeyHolderFixture.usual()
    let key = try holder.addSigningSubkey()
    try holder.revoke(.superseded, .subkey(key.publicKey.fingerprint), on: 10)
    #expect(holder.valid(on: 9).keys[1].problem == nil)
    #expect(holder.valid(on: 10).keys[1].problem == .revoked(RevocationReason(.superseded)))
  }

  @Test("A user ID that was given up is revoked from then on, until it is certified again")
  func userID() throws {
    for code in [RevocationReason.Code.userIDInvalid, .none] {
      var holder = try KeyHolderFixture.usual()
      try holder.revoke(code, .userID(KeyHolderFixture.userID), on: 10)
      #expect(holder.valid(on: 9).userIDs.map(\.problem) == [nil])
      #expect(holder.valid(on: 10).userIDs.map(\.problem) == [.revoked(RevocationReason(code))])
      #expect(holder.valid(on: 10).problem == nil)
      try holder.addUserID(KeyHolderFixture.userID, on: 20)
      #expect(holder.valid(on: 20).userIDs.map(\.problem) == [nil])
    }
  }

  @Test("Of version 4, the primary user ID that is in use speaks before one that was given up")
  func primaryUserIDGivenUp() throws {
    var holder = try KeyHolderFixture.usual(
      version: 4, says: [.primaryUserID(true), .features(.seipdVersion1)])
    let other = UserID("Countess")
    try holder.addUserID(other, [.keyFlags([.certify, .sign]), .features([])])
    #expect(holder.valid(on: 1).primaryUserID == KeyHolderFixture.userID)
    try holder.revoke(.userIDInvalid, .userID(KeyHolderFixture.userID), on: 10)
    #expect(holder.valid(on: 11).primaryUserID == other)
    #expect(holder.valid(on: 11).features == [])
  }

  @Test("Of several user IDs that are marked as primary, the one with the newest self-signature is")
  func severalPrimaryUserIDs() throws {
    var holder = try KeyHolderFixture.usual(says: [])
    let names = ["a", "b", "c"].map { UserID($0) }
    try holder.addUserID(names[0], [.primaryUserID(true)], on: 5)
    try holder.addUserID(names[1], [.primaryUserID(true)], on: 7)
    try holder.addUserID(names[2], on: 9)
    #expect(holder.valid(on: 1).primaryUserID == KeyHolderFixture.userID)
    #expect(holder.valid(on: 6).primaryUserID == names[0])
    #expect(holder.valid(on: 10).primaryUserID == names[1])
  }

  @Test("A key that the holder has named may revoke, when its certificate is at hand")
  func designatedRevoker() throws {
    let revoker = try KeyHolderFixture(version: 4)
    let stranger = try KeyHolderFixture(version: 4)
    var holder = try KeyHolderFixture(version: 4)
    try holder.addUserID(KeyHolderFixture.userID, [.keyFlags(.sign)])
    let body = [0x80, revoker.primary.publicKey.algorithm.rawValue] + revoker.certificate.fingerprint.bytes
    let naming = try Subpacket(typeOctet: SubpacketType.revocationKey.rawValue, body: body, isEmbedded: false)
    let builder = SignatureBuilder(type: .directKey, creationTime: day(0), subpackets: [naming])
    holder.certificate.signatures = [
      try builder.sign(.directKey(holder.primary.publicKey), with: holder.primary)
    ]
    try holder.revoke(.compromised, on: 5, by: stranger.primary)
    #expect(holder.valid(on: 6, revokers: [revoker.certificate, stranger.certificate]).problem == nil)
    try holder.revoke(.compromised, on: 5, by: revoker.primary)
    #expect(holder.valid(on: 6).problem == nil)
    #expect(isRevoked(holder.valid(on: 6, revokers: [stranger.certificate, revoker.certificate]).problem))
  }

  @Test("Nothing is encrypted to a certificate of which another copy is revoked")
  func revokedCopy() throws {
    var holder = try KeyHolderFixture.usual()
    try holder.addEncryptionSubkey()
    let revocation = try holder.certificate.revocationCertificate(
      reason: RevocationReason(.compromised), at: day(1), by: holder.primary)
    _ = try MessageEncryption(to: [holder.certificate], time: day(2))
    #expect(throws: OpenPGPError.noEncryptionKey) {
      try MessageEncryption(to: [holder.certificate, revocation], time: day(2))
    }
  }

  @Test("A direct-key signature that was revoked counts no more, until there is a newer one")
  func directKeySignature() throws {
    var holder = try KeyHolderFixture.usual()
    let target = SignedTarget.directKey(holder.primary.publicKey)
    holder.certificate.signatures.append(
      try holder.signature(.certificationRevocation, over: target, [], on: 10))
    #expect(holder.valid(on: 9).problem == nil)
    #expect(holder.valid(on: 10).problem == .revoked(nil))
    try holder.addDirectKeySignature([.keyFlags(.sign)], on: 20)
    #expect(holder.valid(on: 20).problem == nil)
  }
}

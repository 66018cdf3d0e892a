// SPDX-License-Identifier: Apache-2.0
//
// What becomes of an identity after it was made: its end, names, parts and revocation. Private part and public part
// say the same after each change.

import Identities
import OpenPGP
import ProtectedData
import Secrets
import Testing

@Suite("Changes of an identity")
struct IdentityLifeTests {
  private static let later = IdentityFixture.now + 3600

  private func make(_ change: IdentityChange, _ identity: Identity, _ fixture: IdentityFixture) throws
    -> Identity
  {
    let changed = try fixture.store.make(change, of: identity, fixture.passcode, at: Self.later)
    let found = try #require(
      try fixture.store.all(at: Self.later).first { $0.fingerprint == identity.fingerprint })
    #expect(found.certificate == changed.certificate && found.userIDs == changed.userIDs)
    #expect(found.expires == changed.expires && found.backedUp == changed.backedUp)
    #expect(try fixture.privatePart(identity).certificate == found.certificate)
    #expect(try fixture.records.metadata().staged.isEmpty)
    return found
  }

  private func note(_ fixture: IdentityFixture) throws -> Identity {
    try fixture.records.changeIdentities { $0[0].backedUpAt = 1 }
    return try fixture.all()[0]
  }

  @Test("Another end, and none, in either profile; the backup stays good", arguments: [true, false])
  func end(isUniversal: Bool) throws {
    let fixture = try IdentityFixture()
    _ = try fixture.generate("Ada <ada@example.org>", isUniversal: isUniversal)
    var ada = try note(fixture)
    let end = Self.later + 86_400 * 3650
    ada = try make(.end(end), ada, fixture)
    #expect(ada.expires == end && ada.backedUp == 1 && ada.state == .good)
    ada = try make(.end(nil), ada, fixture)
    #expect(ada.expires == nil && ada.isDefault)
  }

  @Test("An identity that has ended comes back to life; a revoked one does not")
  func backToLife() throws {
    let fixture = try IdentityFixture()
    let end = IdentityFixture.now + 60
    _ = try fixture.generate("Ada", expiry: .at(end))
    let ended = try fixture.store.all(at: Self.later)[0]
    #expect(ended.state == .expired)
    let ada = try make(.end(Self.later + 60), ended, fixture)
    #expect(ada.state == .good)
    let revoked = try make(.revocation(.retired), ada, fixture)
    #expect(revoked.state == .revoked)
    #expect(throws: IdentityError.revoked) { try make(.end(nil), revoked, fixture) }
    #expect(throws: IdentityError.revoked) { try make(.revocation(.lost), revoked, fixture) }
    #expect(try make(.revocation(.compromised), revoked, fixture).state == .revoked)
  }

  @Test(
    "The four reasons: only the stolen one takes back what was signed before",
    arguments: RevocationCause.allCases)
  func reasons(cause: RevocationCause) throws {
    let fixture = try IdentityFixture()
    let ada = try fixture.generate("Ada")
    let revoked = try make(.revocation(cause), ada, fixture)
    let before = Timestamp(secondsSince1970: UInt32(IdentityFixture.now) + 1)
    let now = Timestamp(secondsSince1970: UInt32(Self.later) + 1)
    let then = ValidCertificate(revoked.certificate, at: before, now: now, policy: .standard)
    #expect((then.problem == nil) == (cause != .compromised))
  }

  @Test(
    "Names come and go, the last one stays; a name that was revoked can come back", arguments: [true, false])
  func userIDs(isUniversal: Bool) throws {
    let fixture = try IdentityFixture()
    var ada = try fixture.generate("Ada <ada@example.org>", isUniversal: isUniversal)
    let new = try UserIDText(new: "Ada <ada@new.example>")
    ada = try make(.newUserID(new), ada, fixture)
    #expect(ada.userIDs.map(\.address) == ["ada@example.org", "ada@new.example"])
    #expect(ada.expires != nil && ada.parts[0].purposes == ["certify", "sign"])
    #expect(throws: IdentityError.userIDExists) { try make(.newUserID(new), ada, fixture) }
    ada = try make(.userIDRevocation(ada.userIDs[0]), ada, fixture)
    #expect(ada.userIDs == [new] && ada.state == .good && ada.expires != nil)
    #expect(throws: IdentityError.lastUserID) { try make(.userIDRevocation(new), ada, fixture) }
    let other = try UserIDText(new: "Somebody")
    #expect(throws: IdentityError.userIDMissing) { try make(.userIDRevocation(other), ada, fixture) }
  }

  @Test("A new part for reading takes the backup away, one for signing does not", arguments: [true, false])
  func subkeys(isUniversal: Bool) throws {
    let fixture = try IdentityFixture()
    _ = try fixture.generate("Ada", isUniversal: isUniversal)
    var ada = try note(fixture)
    ada = try make(.newSubkey(.sign), ada, fixture)
    #expect(ada.backedUp == 1)
    #expect(ada.parts.map(\.purposes) == [["certify", "sign"], ["encrypt"], ["sign"]])
    ada = try make(.newSubkey(.encrypt), ada, fixture)
    #expect(ada.backedUp == nil && ada.parts.count == 4)
    let old = ada.parts[1].fingerprint.hexadecimal.lowercased()
    ada = try make(.subkeyRevocation(old, .superseded), ada, fixture)
    #expect(ada.parts.map(\.isRevoked) == [false, true, false, false] && ada.state == .good)
    #expect(throws: IdentityError.subkeyMissing) {
      try make(.subkeyRevocation(old, .superseded), ada, fixture)
    }
    #expect(throws: IdentityError.subkeyMissing) {
      try make(.subkeyRevocation(ada.fingerprint, .superseded), ada, fixture)
    }
    // What was written to the old part can still be read.
    #expect(try fixture.privatePart(ada).secrets.count == 4)
  }

  /// An identity of SLH-DSA-SHAKE-128f, whose signatures have 17,088 bytes each.
  private func large(_ fixture: IdentityFixture) throws -> Identity {
    let time = Timestamp(secondsSince1970: UInt32(IdentityFixture.now))
    let key = try KeyGeneration(.hashBased128f, userIDs: [UserID("Ada")], creationTime: time).generate()
    let sink = ArraySink()
    try key.write(to: sink)
    let file = try KeyFile(
      SharedSecretBytes(SecretBytes(copying: sink.bytes.span.bytes)), at: IdentityFixture.now)
    try fixture.store.importKeys([file.keys[0].opened([])], fixture.passcode, at: IdentityFixture.now)
    return try fixture.all()[0]
  }

  @Test("However much was said before, an identity can be revoked, and revoked again when it was stolen")
  func roomForRevocations() throws {
    let fixture = try IdentityFixture()
    var ada = try large(fixture)
    var changeCount = 0
    #expect(throws: IdentityError.tooLarge) {
      while changeCount < 20 {
        ada = try make(.newUserID(UserIDText(new: "Ada \(changeCount)")), ada, fixture)
        changeCount += 1
      }
    }
    #expect((1..<20).contains(changeCount))
    let refused = try #require(try fixture.all().first)
    #expect(refused.certificate == ada.certificate && refused.userIDs == ada.userIDs)
    ada = try make(.revocation(.lost), ada, fixture)
    #expect(ada.state == .revoked)
    #expect(try make(.revocation(.compromised), ada, fixture).state == .revoked)
  }

  @Test("A wrong passphrase changes nothing")
  func refused() throws {
    let fixture = try IdentityFixture()
    let ada = try fixture.generate("Ada")
    let stranger = try IdentityFixture()
    #expect(throws: (any Error).self) {
      try fixture.store.make(.end(nil), of: ada, stranger.passcode, at: Self.later)
    }
    #expect(try fixture.all()[0].certificate == ada.certificate)
    #expect(try fixture.privatePart(ada).certificate == ada.certificate)
    #expect(try fixture.records.control().recoveryJournal == nil)
  }

  @Test("An identity without a revocation certificate gets one with its next change, or for itself")
  func backFill() throws {
    let fixture = try IdentityFixture()
    _ = try fixture.generate("Ada")
    for isChange in [true, false] {
      try fixture.records.changeIdentities { $0[0].revocationCertificate = [] }
      let ada = try fixture.all()[0]
      #expect(!ada.hasRevocation)
      if isChange {
        _ = try make(.end(nil), ada, fixture)
      } else {
        try fixture.store.makeRevocation(ada, fixture.passcode, at: Self.later)
      }
      #expect(try fixture.all()[0].hasRevocation)
    }
  }
}

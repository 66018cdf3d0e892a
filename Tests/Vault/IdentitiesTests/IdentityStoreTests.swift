// SPDX-License-Identifier: Apache-2.0

import Foundation
import Identities
import KeyCustody
import Keychains
import OpenPGP
import Primitives
import ProtectedData
import Secrets
import Testing

@Suite("Identities in custody")
struct IdentityStoreTests {
  @Test("An identity has its names, its end two years on, and a private part that makes its public part")
  func generates() throws {
    let fixture = try IdentityFixture()
    let identity = try fixture.generate("Ada Lovelace <ada@example.org>")
    #expect(identity.version == 4 && identity.isUniversal && identity.fingerprint.count == 40)
    #expect(identity.userIDs.map(\.address) == ["ada@example.org"])
    #expect(identity.created == IdentityFixture.now)
    // 2027-01-15 and 2029-01-15: 2028 has a day more.
    #expect(identity.expires == IdentityFixture.now + (365 + 366) * 86_400)
    #expect(identity.state == .good && identity.isDefault && identity.hasPrivatePart)
    #expect(identity.hasRevocation && identity.backedUp == nil)
    #expect(identity.parts.map(\.purposes) == [["certify", "sign"], ["encrypt"]])
    #expect(try fixture.privatePart(identity).certificate == identity.certificate)
    let found = try fixture.all()
    #expect(found.map(\.fingerprint) == [identity.fingerprint])
    #expect(found[0].certificate == identity.certificate)
  }

  @Test("An advanced identity is of version 6, with Ed448 and X448")
  func advanced() throws {
    let fixture = try IdentityFixture()
    let identity = try fixture.generate("Ada", isUniversal: false, expiry: .never)
    #expect(identity.version == 6 && identity.fingerprint.count == 64 && identity.expires == nil)
    #expect(identity.parts.map(\.algorithm) == ["Ed448", "X448"])
    #expect(try fixture.privatePart(identity).certificate == identity.certificate)
  }

  @Test("The revocation certificate that is kept revokes the identity")
  func revocation() throws {
    let fixture = try IdentityFixture()
    let identity = try fixture.generate("Ada <ada@example.org>")
    let stored = try #require(fixture.records.identities().first)
    let source = MemorySource(stored.certificate + stored.revocationCertificate)
    // The signature is over the primary key, so it belongs directly after it.
    let packets = ArraySink()
    try Packet.publicKey(identity.certificate.primaryKey).write(to: packets)
    try packets.write(stored.revocationCertificate)
    let revocation = try Certificate.readAll(MemorySource(packets.bytes))[0]
    let time = Timestamp(secondsSince1970: UInt32(IdentityFixture.now) + 60)
    let merged = try Certificate.readAll(source)[0].merging(revocation)
    let valid = ValidCertificate(merged, at: time, now: time, policy: .standard)
    guard case .revoked = valid.problem else {
      Issue.record("\(String(describing: valid.problem))")
      return
    }
  }

  @Test("Without the passphrase nothing is made, and nothing is written")
  func refused() throws {
    let fixture = try IdentityFixture()
    #expect(throws: CustodyError.passcodeRequired) {
      try fixture.store.generate(
        IdentityFixture.wanted("Ada"), CustodyAuthorization(), at: IdentityFixture.now)
    }
    #expect(try fixture.all().isEmpty)
    #expect(try fixture.custody.fingerprints().isEmpty)
  }

  @Test(
    "An end in the past, and one that OpenPGP cannot say, are refused",
    arguments: [NewIdentity.Expiry.at(IdentityFixture.now), .years(0), .years(200), .at(1 << 33)])
  func ends(expiry: NewIdentity.Expiry) throws {
    let fixture = try IdentityFixture()
    #expect(throws: IdentityError.invalidExpiry) { try fixture.generate("Ada", expiry: expiry) }
    #expect(try fixture.custody.fingerprints().isEmpty)
  }

  @Test("The end passes: the identity is expired, and still listed")
  func expired() throws {
    let fixture = try IdentityFixture()
    _ = try fixture.generate("Ada", expiry: .at(IdentityFixture.now + 100))
    #expect(try fixture.all()[0].state == .good)
    #expect(try fixture.store.all(at: IdentityFixture.now + 100)[0].state == .expired)
  }

  @Test("February 29 and a year without one end on February 28")
  func leapDay() throws {
    // 2028-02-29T00:00:00Z and 2030-02-28T00:00:00Z
    #expect(try IdentityFixture.wanted("Ada").end(from: 1_835_395_200) == 1_898_467_200)
  }

  @Test("The default identity is the first, and another one can be moved there")
  func order() throws {
    let fixture = try IdentityFixture()
    let ada = try fixture.generate("Ada")
    let bob = try fixture.generate("Bob")
    #expect(try fixture.all().map(\.isDefault) == [true, false])
    try fixture.store.makeDefault(bob)
    #expect(try fixture.all().map(\.fingerprint) == [bob.fingerprint, ada.fingerprint])
    try fixture.store.delete(bob, acknowledgesMissingBackup: true)
    #expect(throws: IdentityError.missing) { try fixture.store.makeDefault(bob) }
  }

  @Test("Deleting wants the missing backup acknowledged, and then leaves nothing of that identity alone")
  func deletes() throws {
    let fixture = try IdentityFixture()
    let ada = try fixture.generate("Ada")
    let bob = try fixture.generate("Bob")
    #expect(throws: IdentityError.noBackup) {
      try fixture.store.delete(ada, acknowledgesMissingBackup: false)
    }
    #expect(try fixture.all().count == 2)
    try fixture.store.delete(ada, acknowledgesMissingBackup: true)
    #expect(try fixture.all().map(\.fingerprint) == [bob.fingerprint])
    #expect(try fixture.custody.fingerprints() == [bob.certificate.fingerprint])
    #expect(throws: CustodyError.missing) { try fixture.privatePart(ada) }
    #expect(try fixture.privatePart(bob).certificate == bob.certificate)
    try fixture.records.changeIdentities { $0[0].backedUpAt = 1 }
    try fixture.store.delete(bob, acknowledgesMissingBackup: false)
    #expect(try fixture.custody.fingerprints().isEmpty)
  }

  @Test("A private key whose metadata was lost is counted, and listed again from the key itself")
  func listedAgain() throws {
    let fixture = try IdentityFixture()
    let ada = try fixture.generate("Ada <ada@example.org>")
    try fixture.records.changeIdentities { $0 = [] }
    #expect(try fixture.store.unlisted().count == 1)
    // Without what opens it, it stays as it is.
    #expect(try fixture.store.listUnlisted(CustodyAuthorization(), at: IdentityFixture.now) == 0)
    #expect(try fixture.store.unlisted().map(\.fingerprint) == [ada.fingerprint])
    #expect(try fixture.store.listUnlisted(fixture.passcode, at: IdentityFixture.now + 5) == 1)
    let found = try #require(fixture.all().first)
    #expect(found.certificate == ada.certificate && found.expires == ada.expires && found.hasRevocation)
    #expect(try fixture.store.unlisted().isEmpty)
  }

  @Test("A lost private key hides no other one, whatever its fingerprint is, and is deleted by its name")
  func lostAmongOthers() throws {
    let fixture = try IdentityFixture()
    let all = try ["Ada", "Bob", "Cleo", "Dan"].map { try fixture.generate($0) }
    for lost in all {
      let account = "com.cypherair.v1.se-key." + lost.fingerprint
      let envelope = try fixture.keychain.requireSecret(forKey: account).withBytes { [UInt8](copying: $0) }
      try fixture.keychain.delete(forKey: account)
      try fixture.records.changeIdentities { $0 = [] }
      #expect(try fixture.store.listUnlisted(fixture.passcode, at: IdentityFixture.now) == 3)
      #expect(
        try Set(fixture.all().map(\.fingerprint))
          == Set(all.map(\.fingerprint).filter { $0 != lost.fingerprint }))
      #expect(try fixture.store.unlisted().map(\.fingerprint) == [lost.fingerprint])
      #expect(try fixture.store.unlisted().map(\.place.state) == [.lost(.damaged)])
      try fixture.keychain.save(
        SecretBytes(copying: envelope.span.bytes), forKey: account,
        accessibility: .whenUnlockedThisDeviceOnly)
    }
    try fixture.records.changeIdentities { $0 = [] }
    let key = try #require(fixture.store.unlisted().first)
    #expect(throws: IdentityError.noBackup) {
      try fixture.store.delete(key, acknowledgesMissingBackup: false)
    }
    try fixture.store.delete(key, acknowledgesMissingBackup: true)
    #expect(try fixture.custody.fingerprints().count == 3)
  }

  @Test("Metadata whose private part was lost is shown as that, and can be deleted")
  func withoutPrivatePart() throws {
    let fixture = try IdentityFixture()
    let other = try IdentityFixture()
    _ = try other.generate("Ada")
    let stray = try other.records.identities()
    try fixture.records.changeIdentities { $0 = stray }
    #expect(try fixture.custody.recover() == .nothingPending)
    let identity = try #require(fixture.all().first)
    #expect(!identity.hasPrivatePart)
    try fixture.store.delete(identity, acknowledgesMissingBackup: false)
    #expect(try fixture.all().isEmpty)
  }

  @Test("A public part that was changed is corrupt")
  func changedCertificate() throws {
    let fixture = try IdentityFixture()
    _ = try fixture.generate("Ada")
    try fixture.records.changeIdentities { $0[0].certificate.removeLast(40) }
    #expect(throws: IdentityError.corrupt) { try fixture.all() }
  }

  @Test("The public part holds nothing secret, and is written to a new file alone")
  func publicPart() throws {
    let fixture = try IdentityFixture()
    let identity = try fixture.generate("Ada")
    let text = String(decoding: try identity.publicPart(), as: UTF8.self)
    #expect(text.hasPrefix("-----BEGIN PGP PUBLIC KEY BLOCK-----"))
    let packets = try OpenPGPInput.packets(MemorySource(Array(text.utf8)), .allBlocks)
    #expect(try Certificate.readAll(packets) == [identity.certificate])
    let path = fixture.home.path + "/ada.asc"
    try identity.writePublicPart(path: path)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    #expect(throws: IdentityError.cannotWrite(errno: EEXIST)) { try identity.writePublicPart(path: path) }
    #expect(throws: IdentityError.cannotWrite(errno: ENOENT)) {
      try identity.writePublicPart(path: fixture.home.path + "/no/ada.asc")
    }
  }
}

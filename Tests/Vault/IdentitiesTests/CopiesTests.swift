// SPDX-License-Identifier: Apache-2.0
//
// A key of one's own that was changed with another program: what its owner said there counts here.

import Foundation
import Identities
import KeyCustody
import OpenPGP
import Secrets
import TemporaryHomes
import Testing

@Suite("Copies of an identity that were changed elsewhere", .leastCosts)
struct CopiesTests {
  private static let later = IdentityFixture.now + 60
  private let here: IdentityFixture
  private let elsewhere: IdentityFixture

  init() throws {
    here = try IdentityFixture()
    elsewhere = try IdentityFixture()
  }

  private func file(_ key: TransferableSecretKey) throws -> KeyFile.Key {
    let sink = ArraySink()
    try key.write(to: sink)
    return try KeyFile(SharedSecretBytes(SecretBytes(copying: sink.bytes.span.bytes)), at: Self.later).keys[0]
  }

  /// The same identity on both sides.
  private func shared(isUniversal: Bool = true) throws -> (ada: Identity, copy: Identity) {
    let ada = try here.generate("Ada <ada@example.org>", isUniversal: isUniversal)
    let opened = try file(here.privatePart(ada)).opened([])
    try elsewhere.store.importKeys([opened], elsewhere.passcode, at: IdentityFixture.now)
    return (ada, try elsewhere.all()[0])
  }

  private func change(_ copy: Identity, _ changes: IdentityChange...) throws -> Identity {
    try changes.reduce(copy) { identity, change in
      try elsewhere.store.make(change, of: identity, elsewhere.passcode, at: Self.later)
    }
  }

  @Test(
    "Another end is taken from a public part, and stays when the private part changes",
    arguments: [true, false])
  func end(isUniversal: Bool) throws {
    let (ada, copy) = try shared(isUniversal: isUniversal)
    let end = IdentityFixture.now + 20 * 365 * 86_400
    let changed = try change(copy, .end(end), .newUserID(try UserIDText(new: "Countess <c@example.org>")))
    let news = ada.news(in: changed.certificate)
    #expect(news.newSubkeys.isEmpty)
    let updated = try here.store.take(news, of: ada, at: Self.later)
    #expect(updated.expires == end && updated.userIDs.count == 2 && updated.hasPrimaryKey)
    #expect(updated.hasRevocation == ada.hasRevocation && updated.isBackedUp == ada.isBackedUp)
    #expect(updated.news(in: changed.certificate).certificate == nil)
    let third = try here.store.make(
      .newUserID(try UserIDText(new: "Third")), of: updated, here.passcode, at: Self.later + 60)
    #expect(third.expires == end && third.userIDs.count == 3)
    #expect(try here.privatePart(third).certificate == third.certificate)
  }

  @Test("A revocation counts from a public part alone, and nobody has to be asked")
  func revocation() throws {
    let (ada, copy) = try shared()
    let revoked = try change(copy, .revocation(.compromised))
    let updated = try here.store.take(ada.news(in: revoked.certificate), of: ada, at: Self.later)
    #expect(updated.state == .revoked)
    #expect(try here.all()[0].state == .revoked)
    #expect(throws: IdentityError.revoked) {
      try here.store.make(.end(nil), of: updated, here.passcode, at: Self.later)
    }
  }

  @Test("What is not the owner's is nothing new: another's statements, a copy that is spoilt or older")
  func forged() throws {
    let (ada, copy) = try shared()
    let stranger = try elsewhere.generate("Mallory")
    let revoked = try change(stranger, .revocation(.compromised))
    var forged = copy.certificate
    forged.signatures += revoked.certificate.signatures
    forged.userIDs += revoked.certificate.userIDs
    forged.subkeys += revoked.certificate.subkeys
    let news = ada.news(in: forged)
    #expect(news.certificate == nil && news.newSubkeys.isEmpty)
    #expect(try here.store.take(news, of: ada, at: Self.later).certificate == ada.certificate)
    let updated = try here.store.take(
      ada.news(in: change(copy, .end(Self.later + 86_400)).certificate), of: ada, at: Self.later)
    #expect(updated.news(in: ada.certificate).certificate == nil)
  }

  @Test("A new subkey comes with its private part alone, and a backup made before is none then")
  func subkey() throws {
    let (ada, copy) = try shared()
    let changed = try change(copy, .newSubkey(.encrypt), .end(nil))
    let news = ada.news(in: changed.certificate)
    #expect(news.newSubkeys.count == 1)
    let updated = try here.store.take(news, of: ada, at: Self.later)
    #expect(updated.parts.count == ada.parts.count && updated.expires == nil)
    let key = try file(elsewhere.privatePart(changed))
    let (_, hasNewParts) = updated.news(in: key)
    #expect(hasNewParts)
    try here.store.importKeys([key.opened([])], here.passcode, at: Self.later)
    let found = try here.all()[0]
    #expect(found.parts.count == ada.parts.count + 1 && !found.isBackedUp)
    let kept = try here.privatePart(found)
    #expect(found.certificate.publicKeys.allSatisfy { kept.hasSecret(of: $0.fingerprint) })
    #expect(!found.news(in: key).hasNewParts && found.news(in: key).news.certificate == nil)
  }

  @Test("The primary key comes to an identity that was taken without it")
  func primary() throws {
    let ada = try elsewhere.generate("Ada")
    let whole = try elsewhere.privatePart(ada)
    var daily = whole
    daily.secrets[whole.certificate.fingerprint] = nil
    try here.store.importKeys([file(daily).opened([])], here.passcode, at: IdentityFixture.now)
    let found = try here.all()[0]
    let (few, all) = (try file(daily), try file(whole))
    #expect(!found.hasPrimaryKey && !found.news(in: few).hasNewParts)
    #expect(found.news(in: all).hasNewParts)
    try here.store.importKeys([file(whole).opened([])], here.passcode, at: IdentityFixture.now)
    let complete = try here.all()[0]
    #expect(complete.hasPrimaryKey && complete.hasRevocation)
    _ = try here.store.make(.end(nil), of: complete, here.passcode, at: Self.later)
  }

  @Test("With the wrong passcode nothing of a private part is taken, and all stays as it is")
  func wrongPasscode() throws {
    let (ada, copy) = try shared()
    let key = try file(elsewhere.privatePart(change(copy, .newSubkey(.encrypt))))
    let opened = try key.opened([])
    #expect(throws: (any Error).self) {
      try here.store.importKeys([opened], IdentityFixture().passcode, at: Self.later)
    }
    #expect(try here.all()[0].certificate == ada.certificate)
    #expect(try here.privatePart(ada).secrets.count == ada.parts.count)
  }
}

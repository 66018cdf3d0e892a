// SPDX-License-Identifier: Apache-2.0
//
// Backups and what is taken from files: a backup on one machine is the same identity on another.

import Extents
import Foundation
import Identities
import KeyCustody
import Keychains
import OpenPGP
import ProtectedData
import Secrets
import TemporaryHomes
import Testing

@Suite("Backup and import of identities", .leastCosts)
struct BackupTests {
  private let folder: TemporaryHome

  init() throws {
    folder = try TemporaryHome()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
  }

  static func secret(_ text: String) -> SharedSecretBytes {
    SharedSecretBytes(SecretBytes(copying: Array(text.utf8).span.bytes))
  }

  private func read(_ path: String) throws -> SharedSecretBytes {
    SharedSecretBytes(SecretBytes(copying: Array(try Data(contentsOf: URL(filePath: path))).span.bytes))
  }

  private func backUp(_ identity: Identity, _ fixture: IdentityFixture, _ name: String = "backup") throws
    -> String
  {
    let path = folder.path + "/" + name
    try fixture.store.backUp(
      identity, to: BackupTarget(path: path), under: Self.secret("marble-otter"), fixture.passcode,
      at: IdentityFixture.now + 5)
    return path
  }

  @Test(
    "A backup of either profile is the same identity elsewhere, and its date is noted",
    arguments: Shares("identity backups", count: 2).of([true, false]))
  func roundTrip(isUniversal: Bool) throws {
    let fixture = try IdentityFixture()
    let ada = try fixture.generate("Ada <ada@example.org>", isUniversal: isUniversal)
    let path = try backUp(ada, fixture)
    #expect(try fixture.all()[0].backedUp == IdentityFixture.now + 5)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let elsewhere = try IdentityFixture()
    let file = try KeyFile(read(path), at: IdentityFixture.now)
    #expect(file.keys.count == 1)
    let key = file.keys[0]
    #expect(
      key.fingerprint == ada.fingerprint && key.isProtected && key.hasPrimaryKey && key.absentPartCount == 0)
    #expect(throws: IdentityError.wrongPassphrase) { try key.opened([]) }
    #expect(throws: IdentityError.wrongPassphrase) { try key.opened([Self.secret("another")]) }
    let opened = try key.opened([Self.secret("another"), Self.secret("marble-otter")])
    try elsewhere.store.importKeys([opened], elsewhere.passcode, at: IdentityFixture.now)
    let found = try elsewhere.all()[0]
    #expect(found.certificate == ada.certificate && found.userIDs == ada.userIDs && found.hasRevocation)
    #expect(found.profile == ada.profile && found.backedUp == nil && found.expires == ada.expires)
    #expect(try elsewhere.privatePart(found).certificate == ada.certificate)
    #expect(try elsewhere.store.keptFingerprints() == [ada.fingerprint])
  }

  @Test("A backup takes the place of its own private part that cannot be opened any more, and of no other")
  func replacesLost() throws {
    let fixture = try IdentityFixture()
    let ada = try fixture.generate("Ada <ada@example.org>")
    let bob = try fixture.generate("Bob <bob@example.org>")
    let opened = try KeyFile(read(backUp(ada, fixture)), at: IdentityFixture.now).keys[0]
      .opened([Self.secret("marble-otter")])
    // One that opens is not replaced: what is new in the backup would be taken, and nothing is.
    let before = try fixture.privatePart(ada).certificate
    try fixture.store.importKeys([opened], fixture.passcode, at: IdentityFixture.now)
    #expect(try fixture.privatePart(ada).certificate == before)
    #expect(try fixture.all()[0].isBackedUp)
    let bytes = Array("no envelope".utf8)
    try fixture.keychain.save(
      SecretBytes(copying: bytes.span.bytes), forKey: "com.cypherair.v1.se-key." + ada.fingerprint,
      accessibility: .whenUnlockedThisDeviceOnly)
    #expect(try fixture.all().map(\.hasPrivatePart) == [false, true])
    #expect(try fixture.store.keptFingerprints() == [bob.fingerprint])
    try fixture.store.importKeys([opened], fixture.passcode, at: IdentityFixture.now)
    let found = try fixture.all()
    #expect(found.map(\.fingerprint) == [ada.fingerprint, bob.fingerprint])
    #expect(found[0].hasPrivatePart && found[0].isDefault && found[0].certificate == ada.certificate)
    #expect(try fixture.privatePart(found[0]).certificate == ada.certificate)
    #expect(try fixture.privatePart(bob).certificate == bob.certificate)
  }

  @Test("Nothing is overwritten, and a folder that is not there is told before anything is asked")
  func targets() throws {
    let fixture = try IdentityFixture()
    let ada = try fixture.generate("Ada")
    let path = try backUp(ada, fixture)
    let before = try Data(contentsOf: URL(filePath: path))
    #expect(throws: IdentityError.cannotWrite(errno: EEXIST)) { try BackupTarget(path: path) }
    #expect(throws: IdentityError.cannotWrite(errno: ENOENT)) {
      try BackupTarget(path: folder.path + "/none/y")
    }
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }

  @Test("Without the passphrase of the coffer there is no file, and no date")
  func refused() throws {
    let fixture = try IdentityFixture()
    let stranger = try IdentityFixture()
    let ada = try fixture.generate("Ada")
    let path = folder.path + "/refused"
    #expect(throws: (any Error).self) {
      try fixture.store.backUp(
        ada, to: BackupTarget(path: path), under: Self.secret("x"), stranger.passcode, at: IdentityFixture.now
      )
    }
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try fixture.all()[0].backedUp == nil)
  }

  @Test("A backup with a changed byte is no identity")
  func tampered() throws {
    let fixture = try IdentityFixture()
    let path = try backUp(fixture.generate("Ada"), fixture)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let packets = try #require(Data(base64Encoded: lines[2..<(lines.count - 3)].joined()))
    var accepted = 0
    for offset in stride(from: 60, to: 140, by: 7) {
      var changed = Array(packets)
      changed[offset] ^= 1
      let key = try? KeyFile(
        SharedSecretBytes(SecretBytes(copying: changed.span.bytes)), at: IdentityFixture.now)
      if let key = key?.keys.first, (try? key.opened([Self.secret("marble-otter")])) != nil { accepted += 1 }
    }
    #expect(accepted == 0)
  }

  @Test("Public parts and other files are not taken")
  func others() throws {
    let fixture = try IdentityFixture()
    let ada = try fixture.generate("Ada")
    let text = try ada.publicPart()
    #expect(throws: IdentityError.publicPartsOnly) {
      try KeyFile(SharedSecretBytes(SecretBytes(copying: text.span.bytes)), at: IdentityFixture.now)
    }
    #expect(throws: IdentityError.notAPrivateKey) {
      try KeyFile(Self.secret("hello"), at: IdentityFixture.now)
    }
  }

  @Test("An identity whose private part was lost has it again, with what it said since")
  func restored() throws {
    let fixture = try IdentityFixture()
    let ada = try fixture.generate("Ada")
    let path = try backUp(ada, fixture)
    let changed = try fixture.store.make(.end(nil), of: ada, fixture.passcode, at: IdentityFixture.now + 60)
    let stored = try fixture.records.identities()
    try fixture.custody.delete(ada.certificate.fingerprint)
    try fixture.records.changeIdentities { $0 = stored }
    #expect(try fixture.all()[0].hasPrivatePart == false)
    let key = try KeyFile(read(path), at: IdentityFixture.now).keys[0].opened([Self.secret("marble-otter")])
    try fixture.store.importKeys([key], fixture.passcode, at: IdentityFixture.now + 90)
    let found = try fixture.store.all(at: IdentityFixture.now + 90)
    #expect(found.count == 1 && found[0].hasPrivatePart && found[0].expires == nil)
    #expect(found[0].backedUp == IdentityFixture.now + 5)
    #expect(try fixture.privatePart(ada).certificate == changed.certificate)
  }

  @Test("The revocation file is taken by no program before its colon is removed", arguments: [true, false])
  func revocationFile(isUniversal: Bool) throws {
    let fixture = try IdentityFixture()
    let ada = try fixture.generate("Ada", isUniversal: isUniversal)
    let path = folder.path + "/revocation"
    try fixture.store.writeRevocation(ada, path: path)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains("\n:-----BEGIN PGP PUBLIC KEY BLOCK-----\n"))
    #expect(throws: OpenPGPError.self) { try ArmorReader(MemorySource(Array(text.utf8))) }
    let edited = text.replacing("\n:-----", with: "\n-----")
    _ = try ArmorReader(MemorySource(Array(edited.utf8)))
    #expect(throws: IdentityError.cannotWrite(errno: EEXIST)) {
      try fixture.store.writeRevocation(ada, path: path)
    }
  }
}

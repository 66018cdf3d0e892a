// SPDX-License-Identifier: Apache-2.0
//
// The process ends before any one write of an operation. After recovery a key is listed exactly when it is in custody
// (Specs/envelopes.md, "Key and metadata").

import Extents
import Foundation
import Identities
import KeyCustody
import OpenPGP
import Secrets
import Testing

@Suite("An interrupted change of identities", .leastCosts)
struct IdentityCrashTests {
  /// More writes than an operation makes.
  private static let limit = 20
  private static let points = Shares("identities, failing writes", count: 4).of(0..<limit)

  @Test(
    "Making one: afterwards there is all of it or nothing, and all if it was reported", arguments: 0..<limit)
  func generate(writes: Int) throws {
    let fixture = try IdentityFixture()
    let former = try fixture.generate("Former")
    fixture.budget.set(writes)
    let made = try? fixture.generate("Ada")
    fixture.budget.set(nil)
    _ = try fixture.custody.recover()
    let (listed, kept) = try fixture.found()
    #expect(listed == kept)
    #expect(kept.contains(former.certificate.fingerprint))
    if let made { #expect(kept.contains(made.certificate.fingerprint)) }
    for identity in try fixture.all() {
      #expect(try fixture.privatePart(identity).certificate == identity.certificate)
    }
    #expect(try fixture.custody.recover() == .nothingPending)
    #expect(try fixture.records.control().recoveryJournal == nil)
    // Nothing prevents the next one.
    _ = try fixture.generate("Next")
  }

  @Test("Deleting one: it is there or it is gone, and gone if that was reported", arguments: 0..<limit)
  func delete(writes: Int) throws {
    let fixture = try IdentityFixture()
    let kept = try fixture.generate("Kept")
    let ada = try fixture.generate("Ada")
    fixture.budget.set(writes)
    let isReported = (try? fixture.store.delete(ada, acknowledgesMissingBackup: true)) != nil
    fixture.budget.set(nil)
    _ = try fixture.custody.recover()
    let found = try fixture.found()
    #expect(found.listed == found.kept)
    #expect(found.kept.contains(kept.certificate.fingerprint))
    if isReported { #expect(!found.kept.contains(ada.certificate.fingerprint)) }
    #expect(try fixture.custody.recover() == .nothingPending)
    #expect(try fixture.records.control().recoveryJournal == nil)
  }

  /// Changes of Ada, and whether she is then as they want her.
  static let changes: [(change: IdentityChange, isMade: @Sendable (Identity) -> Bool)] = [
    (.end(IdentityFixture.now + 999_999), { $0.expires == IdentityFixture.now + 999_999 }),
    (.revocation(.superseded), { $0.state == .revoked }),
    (.newSubkey(.encrypt), { $0.parts.count == 3 }),
  ]

  @Test(
    "A change: private part and metadata say the same, that before or that after, and that after if reported",
    arguments: points, changes.indices)
  func change(writes: Int, index: Int) throws {
    let (change, isMade) = Self.changes[index]
    let fixture = try IdentityFixture()
    let kept = try fixture.generate("Kept")
    let ada = try fixture.generate("Ada")
    try fixture.records.changeIdentities { $0[1].backedUpAt = 1 }
    fixture.budget.set(writes)
    let later = IdentityFixture.now + 60
    let isReported = (try? fixture.store.make(change, of: ada, fixture.passcode, at: later)) != nil
    fixture.budget.set(nil)
    _ = try fixture.custody.recover()
    let all = try fixture.store.all(at: later)
    #expect(all.map(\.fingerprint) == [kept.fingerprint, ada.fingerprint])
    #expect(isMade(all[1]) || all[1].certificate == ada.certificate)
    if isReported { #expect(isMade(all[1])) }
    #expect(all[1].isBackedUp == (all[1].parts.count == 2))
    for identity in all { #expect(try fixture.privatePart(identity).certificate == identity.certificate) }
    #expect(try fixture.records.metadata().staged.isEmpty)
    #expect(try fixture.custody.recover() == .nothingPending)
    _ = try fixture.store.make(.end(nil), of: all[0], fixture.passcode, at: later)
  }

  @Test(
    "Replacing one by another: private part and metadata say the same; both say it if reported, else not both or both",
    arguments: points)
  func replace(writes: Int) throws {
    let fixture = try IdentityFixture()
    let (old, new) = (try fixture.generate("Old"), try fixture.generate("New", isUniversal: false))
    let later = IdentityFixture.now + 60
    fixture.budget.set(writes)
    let isReported = (try? fixture.store.replace(old, by: new, fixture.passcode, at: later)) != nil
    fixture.budget.set(nil)
    _ = try fixture.custody.recover()
    func relation(_ all: [Identity]) -> ReplacementStatement.Relation {
      all[0].statement.relation(toSuccessor: all[1].statement)
    }
    let all = try fixture.store.all(at: later)
    #expect(all.map(\.fingerprint) == [old.fingerprint, new.fingerprint])
    if isReported { #expect(relation(all) == .confirmed) }
    // The old one says nothing before the new one does.
    if all[0].statement.replacement != nil { #expect(relation(all) == .confirmed) }
    for identity in all { #expect(try fixture.privatePart(identity).certificate == identity.certificate) }
    #expect(try fixture.records.metadata().staged.isEmpty)
    #expect(try fixture.custody.recover() == .nothingPending)
    _ = try fixture.store.replace(all[0], by: all[1], fixture.passcode, at: later + 60)
    #expect(relation(try fixture.store.all(at: later + 60)) == .confirmed)
  }

  @Test(
    "Taking two keys from a file: both are here or none, and both if that was reported", arguments: points)
  func importing(writes: Int) throws {
    let source = try IdentityFixture()
    let folder = source.home.path
    var opened: [OpenedKey] = []
    for name in ["Ada", "Bob"] {
      let path = folder + "/" + name
      try source.store.backUp(
        source.generate(name), to: BackupTarget(path: path), under: BackupTests.secret("x"), source.passcode,
        at: IdentityFixture.now)
      let bytes = Array(try Data(contentsOf: URL(filePath: path)))
      let file = try KeyFile(
        SharedSecretBytes(SecretBytes(copying: bytes.span.bytes)), at: IdentityFixture.now)
      opened.append(try file.keys[0].opened([BackupTests.secret("x")]))
    }
    let fixture = try IdentityFixture()
    let former = try fixture.generate("Former")
    fixture.budget.set(writes)
    let isReported =
      (try? fixture.store.importKeys(opened, fixture.passcode, at: IdentityFixture.now)) != nil
    fixture.budget.set(nil)
    _ = try fixture.custody.recover()
    let found = try fixture.found()
    #expect(found.listed == found.kept && found.kept.contains(former.certificate.fingerprint))
    #expect(found.kept.count == 3 || (found.kept.count == 1 && !isReported))
    #expect(try fixture.records.metadata().staged.isEmpty)
    for identity in try fixture.all() {
      #expect(try fixture.privatePart(identity).certificate == identity.certificate)
    }
    #expect(try fixture.custody.recover() == .nothingPending)
  }

  @Test("The budget stops at every write: the longest operation is shorter than the limit")
  func limitIsEnough() throws {
    let fixture = try IdentityFixture()
    fixture.budget.set(Self.limit - 1)
    let ada = try fixture.generate("Ada")
    let new = try fixture.generate("New")
    fixture.budget.set(Self.limit - 1)
    _ = try fixture.store.replace(ada, by: new, fixture.passcode, at: IdentityFixture.now + 60)
    fixture.budget.set(Self.limit - 1)
    try fixture.store.delete(ada, acknowledgesMissingBackup: true)
    fixture.budget.set(1)
    #expect(throws: (any Error).self) { try fixture.generate("Ada") }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The process ends before any one write of an operation. After recovery a key is listed exactly when it is in custody
// (Specs/envelopes.md, "Key and metadata").

import Identities
import KeyCustody
import Testing

@Suite("An interrupted change of identities")
struct IdentityCrashTests {
  /// More writes than an operation makes.
  private static let limit = 20

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

  @Test("The budget stops at every write: the longest operation is shorter than the limit")
  func limitIsEnough() throws {
    let fixture = try IdentityFixture()
    fixture.budget.set(Self.limit - 1)
    let ada = try fixture.generate("Ada")
    fixture.budget.set(Self.limit - 1)
    try fixture.store.delete(ada, acknowledgesMissingBackup: true)
    fixture.budget.set(1)
    #expect(throws: (any Error).self) { try fixture.generate("Ada") }
  }
}

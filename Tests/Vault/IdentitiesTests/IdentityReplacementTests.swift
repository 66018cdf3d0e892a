// SPDX-License-Identifier: Apache-2.0
//
// One identity replaces another: what both say then, and what cannot be.

import Identities
import OpenPGP
import Testing

@Suite("Replacement of an identity")
struct IdentityReplacementTests {
  private static let later = IdentityFixture.now + 3600

  private func relation(_ old: Identity, _ new: Identity) -> ReplacementStatement.Relation {
    old.statement.relation(toSuccessor: new.statement)
  }

  private func replace(_ old: Identity, _ new: Identity, _ fixture: IdentityFixture) throws
    -> (old: Identity, new: Identity)
  {
    try fixture.store.replace(old, by: new, fixture.passcode, at: Self.later)
  }

  @Test("Both say it, whatever their versions; backups stay, and nothing ends", arguments: [true, false])
  func bothSay(isUniversal: Bool) throws {
    let fixture = try IdentityFixture()
    let old = try fixture.generate("Ada <ada@old.example>")
    let new = try fixture.generate("Ada <ada@new.example>", isUniversal: isUniversal)
    try fixture.records.changeIdentities { for index in $0.indices { $0[index].backedUpAt = 1 } }
    #expect(relation(old, new) == .unrelated)
    let made = try replace(old, new, fixture)
    #expect(relation(made.old, made.new) == .confirmed && relation(made.new, made.old) == .unrelated)
    let all = try fixture.store.all(at: Self.later)
    #expect(all.map(\.certificate) == [made.old.certificate, made.new.certificate])
    #expect(all.allSatisfy { $0.state == .good && $0.isBackedUp })
    for identity in all { #expect(try fixture.privatePart(identity).certificate == identity.certificate) }
    // What both say already is not written again.
    let again = try replace(made.old, made.new, fixture)
    #expect(again.old.certificate == made.old.certificate && again.new.certificate == made.new.certificate)
  }

  @Test("The half of the new one is added to what it says; alone it proves nothing")
  func halves() throws {
    let fixture = try IdentityFixture()
    let (first, second) = (try fixture.generate("First"), try fixture.generate("Second"))
    let new = try fixture.generate("New")
    let stating = try replace(first, new, fixture)
    let both = try replace(second, stating.new, fixture)
    #expect(relation(stating.old, both.new) == .confirmed && relation(both.old, both.new) == .confirmed)
    #expect(relation(first, both.new) == .claimed)
    #expect(relation(stating.old, new) == .claimed)
  }

  @Test("It can be turned round, and then says only that")
  func turnedRound() throws {
    let fixture = try IdentityFixture()
    let made = try replace(fixture.generate("Ada"), fixture.generate("Bea"), fixture)
    let turned = try replace(made.new, made.old, fixture)
    #expect(relation(turned.old, turned.new) == .confirmed)
    #expect(relation(turned.new, turned.old) == .unrelated)
  }

  @Test("A replaced identity can be revoked, and is replaced then too, unless it is stolen")
  func revoked() throws {
    for (cause, expected) in [
      (RevocationCause.superseded, ReplacementStatement.Relation.confirmed), (.compromised, .unrelated),
    ] {
      let fixture = try IdentityFixture()
      let made = try replace(fixture.generate("Ada"), fixture.generate("Bea"), fixture)
      let revoked = try fixture.store.make(
        .revocation(cause), of: made.old, fixture.passcode, at: Self.later + 60)
      #expect(relation(revoked, made.new) == expected)
    }
  }

  @Test("Not by itself, not by one that is replaced, not by one that is no good, and not when it is revoked")
  func refused() throws {
    let fixture = try IdentityFixture()
    let ada = try fixture.generate("Ada")
    #expect(throws: IdentityError.cannotReplace) { try replace(ada, ada, fixture) }
    let made = try replace(fixture.generate("Bea"), fixture.generate("Cleo"), fixture)
    #expect(throws: IdentityError.cannotReplace) { try replace(ada, made.old, fixture) }
    let ended = try fixture.generate("Dora", expiry: .at(IdentityFixture.now + 60))
    _ = ended
    let all = try fixture.store.all(at: Self.later)
    let dora = try #require(all.last)
    #expect(dora.state == .expired)
    #expect(throws: IdentityError.unusable) { try replace(ada, dora, fixture) }
    // One that has ended can be replaced.
    #expect(
      relation(try replace(dora, ada, fixture).old, try #require(fixture.store.all(at: Self.later).first))
        == .confirmed)
    let revoked = try fixture.store.make(
      .revocation(.retired), of: made.new, fixture.passcode, at: Self.later)
    #expect(throws: IdentityError.revoked) { try replace(revoked, ada, fixture) }
    #expect(throws: IdentityError.unusable) { try replace(ada, revoked, fixture) }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Keys that cannot be opened any more, and a guard that is lost: neither stands in the way of other keys, and nothing
// that is protected opens because of them.

import Enclaves
import Keychains
import MemorySearch
import OpenPGP
import Primitives
import ProtectedData
import Secrets
import Testing

@testable import KeyCustody

@Suite("Keys that cannot be opened")
struct LostKeyTests {
  /// Three keys, of which the first has no envelope.
  private func withGap() throws -> CustodyFixture {
    let fixture = try CustodyFixture()
    try fixture.wrap(3)
    try fixture.change(CustodyItems.Place.permanent.account(CustodyFixture.fingerprint(0))) { _ in nil }
    return fixture
  }

  private func listed(_ number: Int) -> ListedPrivateKey {
    let secret = CustodyFixture.secret(number)
    return ListedPrivateKey(
      SharedSecretBytes(SecretBytes(copying: secret.span.bytes)), .transferableSecretKeyV4,
      PGPKeyIdentity(
        profile: .a, fingerprint: CustodyFixture.fingerprint(number), backedUpAt: nil, created: 0,
        expires: nil, userIDs: [], revocationCertificate: [], certificate: []))
  }

  @Test("A lost key is named; others change, and a change of mode leaves it behind only if that is said")
  func leftBehind() throws {
    let fixture = try withGap()
    let lost = CustodyFixture.fingerprint(0)
    #expect(try fixture.custody.places()[lost]?.state == .lost(.damaged))
    #expect(try fixture.custody.places().values.count(where: \.isLost) == 1)
    let before = try fixture.items()
    #expect(throws: CustodyError.corrupt) {
      try fixture.custody.switchMode(
        to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    }
    #expect(try fixture.items() == before)
    try fixture.custody.switchMode(
      to: .highSecurityWithFinger, fixture.both(), leaving: .lost, acknowledgesMissingBackup: true)
    for number in 1..<3 {
      #expect(try fixture.read(number, fixture.finger()) == CustodyFixture.secret(number))
      #expect(throws: CustodyError.fingerRequired) { try fixture.read(number, fixture.passcode) }
    }
    #expect(try fixture.custody.fingerprints().contains(lost))
    #expect(throws: CustodyError.corrupt) { try fixture.read(0, fixture.both()) }
    try fixture.custody.delete(lost)
    #expect(try fixture.custody.places().values.allSatisfy { !$0.isLost })
    #expect(try fixture.pendingCount() == 0)
  }

  @Test("A key of the same fingerprint takes the place of a lost one, exactly, and of no key that opens")
  func replaced() throws {
    let fixture = try withGap()
    #expect(throws: CustodyError.alreadyExists) {
      try fixture.custody.wrap(listing: [listed(0), listed(1)], fixture.passcode)
    }
    #expect(try fixture.custody.places().values.count(where: \.isLost) == 1)
    try fixture.custody.wrap(listing: [listed(0)], fixture.passcode)
    for number in 0..<3 {
      #expect(try fixture.read(number, fixture.passcode) == CustodyFixture.secret(number))
    }
  }

  @Test("An interrupted change of others is undone as if the lost key were not there", arguments: [0, 1])
  func interrupted(after count: Int) throws {
    let fixture = try withGap()
    fixture.store.plan.withLock { $0.batchesLeft = count }
    #expect(throws: CustodyError.self) {
      try fixture.custody.switchMode(
        to: .highSecurityWithFinger, fixture.both(), leaving: .lost, acknowledgesMissingBackup: true)
    }
    fixture.store.plan.withLock { $0.batchesLeft = nil }
    #expect(try fixture.custody.recover() == (count == 0 ? .nothingPending : .rolledBack))
    for number in 1..<3 {
      #expect(try fixture.read(number, fixture.passcode) == CustodyFixture.secret(number))
    }
  }

  @Test("Under another mode nothing is promoted that would leave a key behind which opens")
  func promotion() throws {
    let fixture = try withGap()
    fixture.store.plan.withLock { $0.batchesLeft = 1 }
    #expect(throws: CustodyError.self) {
      try fixture.custody.switchMode(
        to: .highSecurityWithFinger, fixture.both(), leaving: .lost, acknowledgesMissingBackup: true)
    }
    fixture.store.plan.withLock { $0.batchesLeft = nil }
    try fixture.change(CustodyItems.Place.permanent.account(CustodyFixture.fingerprint(1))) { _ in nil }
    #expect(try fixture.custody.recover() == .promoted)
    for number in 1..<3 {
      #expect(try fixture.read(number, fixture.finger()) == CustodyFixture.secret(number))
    }
    #expect(try fixture.custody.places().values.count(where: \.isLost) == 1)
  }

  // MARK: A lost guard

  /// Keys that only a finger opens, and no reader.
  private func guarded(_ count: Int) throws -> CustodyFixture {
    let fixture = try CustodyFixture()
    try fixture.wrap(count)
    try fixture.custody.switchMode(
      to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    return fixture
  }

  @Test("A lost guard is left with the passphrase, if each key has a backup; no key opens by that")
  func lostGuard() throws {
    let fixture = try guarded(2)
    let before = try fixture.items()
    #expect(throws: CustodyError.backupRequired(keysWithoutBackup: 2)) {
      try fixture.custody.switchMode(to: .standard, fixture.passcode, leaving: .underLostGuard)
    }
    fixture.records.noteBackup([0])
    #expect(throws: CustodyError.backupRequired(keysWithoutBackup: 1)) {
      try fixture.custody.switchMode(to: .standard, fixture.passcode, leaving: .underLostGuard)
    }
    #expect(throws: CustodyError.passcodeRequired) {
      try fixture.custody.switchMode(to: .standard, CustodyAuthorization(), leaving: .underLostGuard)
    }
    #expect(try fixture.items() == before)
    fixture.records.noteBackup([0, 1])
    try fixture.custody.switchMode(to: .standard, fixture.passcode, leaving: .underLostGuard)
    #expect(try fixture.custody.mode() == .standard)
    for number in 0..<2 {
      #expect(try fixture.custody.places()[CustodyFixture.fingerprint(number)]?.state == .lost(.leftBehind))
      for authorization in [fixture.passcode, try fixture.finger(), try fixture.both()] {
        #expect(throws: CustodyError.corrupt) { try fixture.read(number, authorization) }
      }
    }
    try fixture.custody.wrap(listing: [listed(0), listed(1)], fixture.passcode)
    for number in 0..<2 {
      #expect(try fixture.read(number, fixture.passcode) == CustodyFixture.secret(number))
    }
    #expect(throws: CustodyError.guardNotNeeded) {
      try fixture.custody.switchMode(to: .standard, fixture.passcode, leaving: .underLostGuard)
    }
  }

  @Test("Without any key, the guard is left with the passphrase alone")
  func nothingToLose() throws {
    let fixture = try guarded(0)
    try fixture.custody.switchMode(to: .standard, fixture.passcode, leaving: .lost)
    #expect(try fixture.custody.mode() == .standard)
  }

  @Test("With the passphrase alone a key that opens with its guard is not left behind as lost")
  func guardHolds() throws {
    let fixture = try guarded(1)
    let before = try fixture.items()
    #expect(throws: CustodyError.fingerRequired) {
      try fixture.custody.switchMode(to: .standard, fixture.passcode, leaving: .lost)
    }
    #expect(try fixture.items() == before)
    #expect(try fixture.read(0, fixture.finger()) == CustodyFixture.secret(0))
  }

  @inline(never)
  private func use() throws -> (gone: [(String, Needle)], seen: Int) {
    let fixture = try guarded(1)
    let secret = SharedSecretBytes(SystemRandom.secretBytes(count: 200))
    let gone = [
      ("owner key", fixture.owner.withBytes { Needle($0) }),
      ("private key", secret.withBytes { Needle($0) }),
    ]
    let listed = ListedPrivateKey(secret, .transferableSecretKeyV4, listed(0).identity)
    fixture.records.noteBackup([0])
    try fixture.custody.switchMode(to: .standard, fixture.passcode, leaving: .underLostGuard)
    try fixture.custody.wrap(listing: [listed], fixture.passcode)
    #expect(throws: CustodyError.alreadyExists) {
      try fixture.custody.wrap(listing: [listed], fixture.passcode)
    }
    return (gone, try ProcessMemory.places(of: gone[1].1).count)
  }

  @Test("Neither the key of a backup nor the owner key stays, once a guard was left and the key replaced")
  func nothingStays() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let (gone, seen) = try LostKeyTests().use()
        #expect(seen > 0, "the search finds what is there")
        for (name, needle) in gone { try ProcessMemory.expectGone(needle, "\(name)") }
      }
    }
  }
}

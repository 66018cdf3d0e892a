// SPDX-License-Identifier: Apache-2.0
//
// What an interrupted change leaves, made by hand; each outcome of AM-12 to AM-17.

import Enclaves
import Foundation
import Keychains
import LoggedLines
import Primitives
import ProtectedData
import Secrets
import Testing

@testable import KeyCustody

@Suite("Recovery of an interrupted change")
struct RecoveryTests {
  /// Three keys, and a change to high security that stopped before its flip: everything staged.
  static func interrupted() throws -> CustodyFixture {
    let fixture = try CustodyFixture()
    try fixture.wrap(3)
    // The flip and all that would clean up after it fail.
    fixture.store.plan.withLock { $0.batchesLeft = 1 }
    #expect(throws: CustodyError.self) {
      try fixture.custody.switchMode(
        to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    }
    fixture.store.plan.withLock { $0.batchesLeft = nil }
    #expect(try fixture.pendingCount() == 3)
    #expect(fixture.records.journal?.targetMode == .highSecurityWithFinger)
    return fixture
  }

  private func interrupted() throws -> CustodyFixture { try Self.interrupted() }

  private func account(_ number: Int, _ place: CustodyItems.Place) -> String {
    place.account(CustodyFixture.fingerprint(number))
  }

  @Test("AM-12: whole former keys win; what was staged goes, and the mode stays")
  func formerKeysWin() throws {
    let fixture = try interrupted()
    #expect(try fixture.custody.recover() == .rolledBack)
    #expect(try fixture.pendingCount() == 0)
    #expect(try fixture.modesOfKeys() == [.standard])
    #expect(fixture.records.mode == .standard)
    for number in 0..<3 {
      #expect(try fixture.read(number, fixture.passcode) == CustodyFixture.secret(number))
    }
    #expect(try fixture.custody.recover() == .nothingPending)
  }

  @Test("AM-13: former keys that are partly or all gone give way to whole staged ones", arguments: [1, 3])
  func stagedKeysArePromoted(lost: Int) throws {
    let fixture = try interrupted()
    for number in 0..<lost { try fixture.change(account(number, .permanent)) { _ in nil } }
    #expect(try fixture.custody.recover() == .promoted)
    #expect(try fixture.pendingCount() == 0)
    #expect(try fixture.modesOfKeys() == [.highSecurityWithFinger])
    #expect(try fixture.custody.mode() == .highSecurityWithFinger)
    #expect(fixture.records.mode == .highSecurityWithFinger)
    for number in 0..<3 {
      #expect(try fixture.read(number, fixture.finger()) == CustodyFixture.secret(number))
    }
  }

  @Test("AM-14: with neither set whole the journal goes, and everything that is left stays")
  func unrecoverable() throws {
    let fixture = try interrupted()
    try fixture.change(account(0, .permanent)) { _ in nil }
    try fixture.change(account(1, .pending)) { Array($0.dropLast()) }
    let before = try fixture.items()
    #expect(try fixture.custody.recover() == .unrecoverable)
    #expect(try fixture.items() == before)
    #expect(fixture.records.journal == nil)
    #expect(fixture.records.mode == .standard)
    #expect(throws: CustodyError.corrupt) { try fixture.read(0, fixture.passcode) }
    #expect(try fixture.read(2, fixture.passcode) == CustodyFixture.secret(2))
    // A change that fails removes nothing but its own.
    let secret = CustodyFixture.secret(0)
    let backup = SharedSecretBytes(SecretBytes(copying: secret.span.bytes))
    let import0 = [
      (
        secret: backup, payload: PrivateKeyPayload.transferableSecretKeyV4,
        fingerprint: CustodyFixture.fingerprint(0)
      )
    ]
    fixture.failing.plan.withLock { $0.agreementsLeft = 0 }
    #expect(throws: CustodyError.enclave(.notAnswering)) {
      try fixture.custody.importKeys(import0, fixture.passcode)
    }
    fixture.failing.plan.withLock { $0.agreementsLeft = nil }
    #expect(try fixture.pendingCount() == 2)
    // No change of all keys goes over the gap, and a backup closes it.
    #expect(throws: CustodyError.corrupt) {
      try fixture.custody.switchMode(
        to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    }
    try fixture.custody.importKeys(import0, fixture.passcode)
    try fixture.custody.switchMode(
      to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    #expect(try fixture.modesOfKeys() == [.highSecurityWithFinger])
    #expect(try fixture.pendingCount() == 0)
  }

  @Test("AM-16: nothing that is logged of incomplete keys, or thrown, names a key")
  func logged() async {
    await #expect(processExitsWith: .success) {
      LoggedLines.keep()
      let fixture = try RecoveryTests.interrupted()
      var thrown: [String] = []
      // First the keychain refuses, then keys are missing.
      fixture.store.plan.withLock { $0.batchesLeft = 0 }
      do { try fixture.custody.delete(CustodyFixture.fingerprint(0)) } catch { thrown.append("\(error)") }
      fixture.store.plan.withLock { $0.batchesLeft = nil }
      let fingerprints = (0..<3).map { CustodyFixture.fingerprint($0) }
      try fixture.change(CustodyItems.Place.permanent.account(fingerprints[0])) { _ in nil }
      try fixture.change(CustodyItems.Place.pending.account(fingerprints[1])) { Array($0.dropLast()) }
      guard try fixture.custody.recover() == .unrecoverable else { exit(3) }
      do { _ = try fixture.read(0, fixture.passcode) } catch { thrown.append("\(error)") }

      let lines = LoggedLines.all
      guard lines.contains("error app.rial.custody private keys are incomplete after an interrupted change"),
        lines.contains(where: { $0.contains("cannot be ended now") }), thrown.count == 2
      else {
        print(lines, thrown)
        exit(4)
      }
      var names = ["se-key"]
      for fingerprint in fingerprints {
        let digits = Hexadecimal.text(fingerprint.bytes)
        names += [digits, digits.uppercased()]
      }
      for text in lines + thrown where names.contains(where: { text.contains($0) }) {
        print(text)
        exit(5)
      }
    }
  }

  @Test("AM-15: a store that is locked or does not answer keeps the journal for the next unlock")
  func retried() throws {
    let fixture = try interrupted()
    let locked = CustodyFixture.custody(
      fixture.file, KeychainService(keychain: fixture.store, keys: fixture.keys.locked()), fixture.records,
      fixture.enclave)
    #expect(throws: CustodyError.locked) { try locked.recover() }
    #expect(fixture.records.journal != nil)
    fixture.store.plan.withLock { $0.batchesLeft = 0 }
    #expect(throws: CustodyError.keychain(.saveFailed(10))) { try fixture.custody.recover() }
    #expect(fixture.records.journal != nil)
    #expect(throws: CustodyError.recoveryPending) {
      try fixture.custody.delete(CustodyFixture.fingerprint(0))
    }
    fixture.store.plan.withLock { $0.batchesLeft = nil }
    #expect(try fixture.custody.recover() == .rolledBack)
    #expect(try fixture.modesOfKeys() == [.standard])
  }

  @Test("AM-17: after the flip the new mode counts, and cleaning up does not change it")
  func completed() throws {
    let fixture = try interrupted()
    let pending = try #require(fixture.records.journal)
    let items = try CustodyItems(fixture.keychain)
    let envelopes = try #require(items.pendingEnvelopes(pending))
    try fixture.custody.flip(
      envelopes, to: items.manifest.next(with: envelopes, pending.targetMode, guardDigest: nil), nil)
    #expect(try fixture.custody.recover() == .completed)
    #expect(try fixture.modesOfKeys() == [.highSecurityWithFinger])
    #expect(fixture.records.mode == .highSecurityWithFinger)
    #expect(try fixture.pendingCount() == 0)
  }

  @Test("A change of one key that is not whole never brings that key under another mode than the rest")
  func promotionNeverMixes() throws {
    let fixture = try interrupted()
    // A journal that names one key of three, and another mode.
    fixture.records.state.withLock {
      $0.control.recoveryJournal?.fingerprints = [CustodyFixture.fingerprint(0)]
    }
    try fixture.change(account(0, .permanent)) { _ in nil }
    #expect(try fixture.custody.recover() == .unrecoverable)
    #expect(try fixture.custody.mode() == .standard)
  }

  @Test("The next change ends an interrupted one first")
  func nextChange() throws {
    let fixture = try interrupted()
    try fixture.custody.switchMode(
      to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    #expect(try fixture.modesOfKeys() == [.highSecurityWithFinger])
    #expect(try fixture.pendingCount() == 0)
    #expect(fixture.records.journal == nil)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// What an interrupted change leaves, made by hand; each outcome of AM-12 to AM-17.

import Enclaves
import Keychains
import ProtectedData
import Secrets
import Testing

@testable import KeyCustody

@Suite("Recovery of an interrupted change")
struct RecoveryTests {
  /// Three keys, and a change to high security that stopped before its flip: everything staged.
  private func interrupted() throws -> MadeCustody {
    let made = try MadeCustody()
    try made.wrap(3)
    // The flip and all that would clean up after it fail.
    made.store.plan.withLock { $0.batchesLeft = 1 }
    #expect(throws: CustodyError.self) {
      try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
    }
    made.store.plan.withLock { $0.batchesLeft = nil }
    #expect(try made.pendingCount() == 3)
    #expect(made.records.journal?.targetMode == .highSecurity)
    return made
  }

  private func account(_ number: Int, _ place: CustodyItems.Place) -> String {
    place.account(MadeCustody.fingerprint(number))
  }

  @Test("AM-12: whole former keys win; what was staged goes, and the mode stays")
  func formerKeysWin() throws {
    let made = try interrupted()
    #expect(try made.custody.recover() == .rolledBack)
    #expect(try made.pendingCount() == 0)
    #expect(try made.modesOfKeys() == [.standard])
    #expect(made.records.mode == .standard)
    for number in 0..<3 { #expect(try made.read(number, made.passcode) == MadeCustody.secret(number)) }
    #expect(try made.custody.recover() == .nothingPending)
  }

  @Test("AM-13: former keys that are partly or all gone give way to whole staged ones", arguments: [1, 3])
  func stagedKeysArePromoted(lost: Int) throws {
    let made = try interrupted()
    for number in 0..<lost { try made.change(account(number, .permanent)) { _ in nil } }
    #expect(try made.custody.recover() == .promoted)
    #expect(try made.pendingCount() == 0)
    #expect(try made.modesOfKeys() == [.highSecurity])
    #expect(try made.custody.mode() == .highSecurity)
    #expect(made.records.mode == .highSecurity)
    for number in 0..<3 { #expect(try made.read(number, made.finger()) == MadeCustody.secret(number)) }
  }

  @Test("AM-14: with neither set whole the journal goes, and everything that is left stays")
  func unrecoverable() throws {
    let made = try interrupted()
    try made.change(account(0, .permanent)) { _ in nil }
    try made.change(account(1, .pending)) { Array($0.dropLast()) }
    let before = try made.items()
    #expect(try made.custody.recover() == .unrecoverable)
    #expect(try made.items() == before)
    #expect(made.records.journal == nil)
    #expect(made.records.mode == .standard)
    #expect(throws: CustodyError.corrupt) { try made.read(0, made.passcode) }
    #expect(try made.read(2, made.passcode) == MadeCustody.secret(2))
    // A change that fails removes nothing but its own.
    let secret = MadeCustody.secret(0)
    let backup = SharedSecretBytes(SecretBytes(copying: secret.span.bytes))
    let import0 = [
      (
        secret: backup, payload: PrivateKeyPayload.transferableSecretKeyV4,
        fingerprint: MadeCustody.fingerprint(0)
      )
    ]
    made.failing.plan.withLock { $0.agreementsLeft = 0 }
    #expect(throws: CustodyError.enclave(.notAnswering)) {
      try made.custody.importKeys(import0, made.passcode)
    }
    made.failing.plan.withLock { $0.agreementsLeft = nil }
    #expect(try made.pendingCount() == 2)
    // No change of all keys goes over the gap, and a backup closes it.
    #expect(throws: CustodyError.corrupt) {
      try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
    }
    try made.custody.importKeys(import0, made.passcode)
    try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
    #expect(try made.modesOfKeys() == [.highSecurity])
    #expect(try made.pendingCount() == 0)
  }

  @Test("AM-15: a store that is locked or does not answer keeps the journal for the next unlock")
  func retried() throws {
    let made = try interrupted()
    let locked = MadeCustody.custody(
      made.file, KeychainService(keychain: made.store, keys: made.keys.locked()), made.records, made.enclave)
    #expect(throws: CustodyError.locked) { try locked.recover() }
    #expect(made.records.journal != nil)
    made.store.plan.withLock { $0.batchesLeft = 0 }
    #expect(throws: CustodyError.keychain(.saveFailed(10))) { try made.custody.recover() }
    #expect(made.records.journal != nil)
    #expect(throws: CustodyError.recoveryPending) { try made.custody.delete(MadeCustody.fingerprint(0)) }
    made.store.plan.withLock { $0.batchesLeft = nil }
    #expect(try made.custody.recover() == .rolledBack)
    #expect(try made.modesOfKeys() == [.standard])
  }

  @Test("AM-17: after the flip the new mode counts, and cleaning up does not change it")
  func completed() throws {
    let made = try interrupted()
    let pending = try #require(made.records.journal)
    let items = try CustodyItems(made.keychain)
    let envelopes = try #require(items.pendingEnvelopes(pending))
    try made.custody.flip(envelopes, to: items.manifest.next(with: envelopes, pending.targetMode))
    #expect(try made.custody.recover() == .completed)
    #expect(try made.modesOfKeys() == [.highSecurity])
    #expect(made.records.mode == .highSecurity)
    #expect(try made.pendingCount() == 0)
  }

  @Test("A change of one key that is not whole never brings that key under another mode than the rest")
  func promotionNeverMixes() throws {
    let made = try interrupted()
    // A journal that names one key of three, and another mode.
    made.records.state.withLock {
      $0.control.recoveryJournal?.fingerprints = [MadeCustody.fingerprint(0).bytes]
    }
    try made.change(account(0, .permanent)) { _ in nil }
    #expect(try made.custody.recover() == .unrecoverable)
    #expect(try made.custody.mode() == .standard)
  }

  @Test("The next change ends an interrupted one first")
  func nextChange() throws {
    let made = try interrupted()
    try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
    #expect(try made.modesOfKeys() == [.highSecurity])
    #expect(try made.pendingCount() == 0)
    #expect(made.records.journal == nil)
  }
}

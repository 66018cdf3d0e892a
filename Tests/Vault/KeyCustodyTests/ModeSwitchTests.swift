// SPDX-License-Identifier: Apache-2.0

import Enclaves
import Keychains
import ProtectedData
import Testing

@testable import KeyCustody

@Suite("Switching the mode of all keys")
struct ModeSwitchTests {
  @Test("All keys go over and back, and none opens by what the mode does not take")
  func thereAndBack() throws {
    let made = try MadeCustody()
    try made.wrap(3)
    try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
    #expect(try made.custody.mode() == .highSecurity)
    #expect(try made.modesOfKeys() == [.highSecurity])
    #expect(made.records.mode == .highSecurity)
    #expect(made.failing.plan.withLock { $0.deleted.count } == 3)
    for number in 0..<3 {
      #expect(try made.read(number, made.finger()) == MadeCustody.secret(number))
      #expect(throws: CustodyError.fingerRequired) { try made.read(number, made.passcode) }
    }
    try made.custody.switchMode(to: .standard, made.both())
    #expect(try made.modesOfKeys() == [.standard])
    for number in 0..<3 { #expect(try made.read(number, made.passcode) == MadeCustody.secret(number)) }
  }

  @Test("Keys without a backup want an acknowledgement; with backups none is asked for")
  func backups() throws {
    let made = try MadeCustody()
    try made.wrap(3)
    made.records.noteBackup([1])
    let before = try made.items()
    #expect(throws: CustodyError.acknowledgementRequired(keysWithoutBackup: 2)) {
      try made.custody.switchMode(to: .highSecurity, made.both())
    }
    #expect(try made.items() == before)
    made.records.noteBackup(0..<3)
    try made.custody.switchMode(to: .highSecurity, made.both())
    #expect(try made.modesOfKeys() == [.highSecurity])
  }

  @Test("What is not shown is asked for before anything is written")
  func missingFactors() throws {
    let made = try MadeCustody()
    try made.wrap(2)
    let before = try made.items()
    #expect(throws: CustodyError.fingerRequired) {
      try made.custody.switchMode(to: .highSecurity, made.passcode, acknowledgesMissingBackup: true)
    }
    #expect(throws: CustodyError.passcodeRequired) {
      try made.custody.switchMode(to: .standard, made.finger())
    }
    #expect(try made.items() == before)
    // A finger alone may go over to fingers alone, and not back.
    try made.custody.switchMode(to: .highSecurity, made.finger(), acknowledgesMissingBackup: true)
    #expect(throws: CustodyError.passcodeRequired) {
      try made.custody.switchMode(to: .standard, made.finger())
    }
    #expect(try made.modesOfKeys() == [.highSecurity])
  }

  @Test("A custody without keys changes its mode too")
  func withoutKeys() throws {
    let made = try MadeCustody()
    try made.custody.switchMode(to: .highSecurity, made.both())
    #expect(try made.custody.mode() == .highSecurity)
    #expect(throws: CustodyError.fingerRequired) {
      try made.custody.wrap(
        .init(zeroed: 4), .transferableSecretKeyV4, MadeCustody.fingerprint(0), made.passcode)
    }
  }

  @Test("An enclave that fails at any key leaves everything as it was", arguments: 0..<4)
  func enclaveFails(after count: Int) throws {
    let made = try MadeCustody()
    try made.wrap(4)
    let before = try made.items()
    made.failing.plan.withLock { $0.keysLeft = count }
    #expect(throws: CustodyError.enclave(.notAnswering)) {
      try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
    }
    #expect(try made.items() == before)
    #expect(made.records.journal == nil)
    made.failing.plan.withLock { $0.keysLeft = nil }
    #expect(try made.read(3, made.passcode) == MadeCustody.secret(3))
  }

  @Test("An enclave that fails while the new keys are tried leaves everything as it was", arguments: 0..<8)
  func verificationFails(after count: Int) throws {
    let made = try MadeCustody()
    try made.wrap(4)
    let before = try made.items()
    made.failing.plan.withLock { $0.agreementsLeft = count }
    #expect(throws: CustodyError.enclave(.notAnswering)) {
      try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
    }
    made.failing.plan.withLock { $0.agreementsLeft = nil }
    #expect(try made.items() == before)
    #expect(made.records.journal == nil)
    #expect(try made.modesOfKeys() == [.standard])
  }

  @Test(
    "A store that takes no batch any more leaves everything as it was, once it works again", arguments: 0..<2)
  func storeFails(after count: Int) throws {
    let made = try MadeCustody()
    try made.wrap(3)
    let before = try made.items()
    made.store.plan.withLock { $0.batchesLeft = count }
    #expect(throws: CustodyError.keychain(.saveFailed(10))) {
      try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
    }
    made.store.plan.withLock { $0.batchesLeft = nil }
    #expect(try made.modesOfKeys() == [.standard])
    // What could not be removed then is removed at the next unlock.
    #expect(try made.custody.recover() == (count == 0 ? .nothingPending : .rolledBack))
    #expect(try made.items() == before)
    #expect(try made.read(0, made.passcode) == MadeCustody.secret(0))
  }

  @Test("A store that fails after it has written the flip has made the change")
  func failsAfterFlip() throws {
    let made = try MadeCustody()
    try made.wrap(3)
    made.store.plan.withLock {
      $0.batchesLeft = 1
      $0.failsAfterWriting = true
    }
    try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
    #expect(try made.modesOfKeys() == [.highSecurity])
    #expect(made.records.journal == nil)
  }

  @Test("A flip that is there although the store refused it counts only once the journal could be cleared")
  func failsAfterFlipForGood() throws {
    let made = try MadeCustody()
    try made.wrap(3)
    made.store.plan.withLock {
      $0.batchesLeft = 1
      $0.failsAfterWriting = true
    }
    made.records.state.withLock { $0.writesLeft = 1 }
    #expect(throws: CustodyError.keychain(.saveFailed(10))) {
      try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
    }
    #expect(made.records.journal != nil)
    made.store.plan.withLock { $0.batchesLeft = nil }
    made.records.state.withLock { $0.writesLeft = nil }
    #expect(try made.custody.recover() == .completed)
    #expect(try made.modesOfKeys() == [.highSecurity])
    #expect(try made.read(2, made.finger()) == MadeCustody.secret(2))
  }

  @Test("A journal that cannot be written stops the change; one that cannot be cleared does not undo it")
  func journalFails() throws {
    let made = try MadeCustody()
    try made.wrap(2)
    let before = try made.items()
    made.records.state.withLock { $0.writesLeft = 0 }
    #expect(throws: NotedRecords.refusal) {
      try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
    }
    #expect(try made.items() == before)
    made.records.state.withLock { $0.writesLeft = 1 }
    try made.custody.switchMode(to: .highSecurity, made.both(), acknowledgesMissingBackup: true)
    #expect(try made.modesOfKeys() == [.highSecurity])
    #expect(made.records.journal != nil)
    made.records.state.withLock { $0.writesLeft = nil }
    #expect(try made.custody.recover() == .completed)
    #expect(made.records.mode == .highSecurity)
  }
}

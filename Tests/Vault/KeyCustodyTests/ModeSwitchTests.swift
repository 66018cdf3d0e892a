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
    let fixture = try CustodyFixture()
    try fixture.wrap(3)
    try fixture.custody.switchMode(
      to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    #expect(try fixture.custody.mode() == .highSecurityWithFinger)
    #expect(try fixture.modesOfKeys() == [.highSecurityWithFinger])
    #expect(fixture.records.mode == .highSecurityWithFinger)
    #expect(fixture.failing.plan.withLock { $0.deleted.count } == 3)
    for number in 0..<3 {
      #expect(try fixture.read(number, fixture.finger()) == CustodyFixture.secret(number))
      #expect(throws: CustodyError.fingerRequired) { try fixture.read(number, fixture.passcode) }
    }
    try fixture.custody.switchMode(to: .standard, fixture.both())
    #expect(try fixture.modesOfKeys() == [.standard])
    for number in 0..<3 {
      #expect(try fixture.read(number, fixture.passcode) == CustodyFixture.secret(number))
    }
  }

  @Test(
    "In mode standard a finger opens keys only after it was switched on, and no longer when it is off again")
  func fingerInStandard() throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(1)
    #expect(throws: CustodyError.passcodeRequired) { try fixture.read(0, fixture.finger()) }
    // The enclave refuses too, whoever asks it.
    let envelope = try CustodyItems(fixture.keychain).envelope(CustodyFixture.fingerprint(0))
    #expect(throws: EnclaveError.authorizationRequired) {
      _ = try fixture.enclave.sharedSecret(
        envelope.key, with: envelope.sealed.ephemeralKey, authorization: .biometry(fixture.verifier()))
    }
    try fixture.custody.switchMode(to: .standardWithFinger, fixture.passcode)
    #expect(try fixture.read(0, fixture.finger()) == CustodyFixture.secret(0))
    #expect(try fixture.read(0, fixture.passcode) == CustodyFixture.secret(0))
    try fixture.custody.switchMode(to: .standard, fixture.passcode)
    #expect(throws: CustodyError.passcodeRequired) { try fixture.read(0, fixture.finger()) }
  }

  @Test("The passcode that an agent hands on opens keys, and seals none")
  func handedOn() throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(1)
    let handedOn = CustodyAuthorization(handedOn: CustodyAuthorization.passcode(owner: fixture.owner))
    #expect(try fixture.read(0, handedOn) == CustodyFixture.secret(0))
    let before = try fixture.items()
    #expect(throws: CustodyError.passcodeRequired) {
      try fixture.custody.switchMode(to: .standardWithFinger, handedOn)
    }
    #expect(throws: CustodyError.passcodeRequired) {
      try fixture.custody.wrap(
        .init(zeroed: 4), .transferableSecretKeyV4, CustodyFixture.fingerprint(1), handedOn)
    }
    #expect(try fixture.items() == before)
  }

  @Test("Keys without a backup want an acknowledgement; with backups none is asked for")
  func backups() throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(3)
    fixture.records.noteBackup([1])
    let before = try fixture.items()
    #expect(throws: CustodyError.acknowledgementRequired(keysWithoutBackup: 2)) {
      try fixture.custody.switchMode(to: .highSecurityWithFinger, fixture.both())
    }
    #expect(try fixture.items() == before)
    fixture.records.noteBackup(0..<3)
    try fixture.custody.switchMode(to: .highSecurityWithFinger, fixture.both())
    #expect(try fixture.modesOfKeys() == [.highSecurityWithFinger])
  }

  @Test("What is not shown is asked for before anything is written")
  func missingFactors() throws {
    let fixture = try CustodyFixture()
    try fixture.wrapWithFinger(2)
    let before = try fixture.items()
    #expect(throws: CustodyError.fingerRequired) {
      try fixture.custody.switchMode(
        to: .highSecurityWithFinger, fixture.passcode, acknowledgesMissingBackup: true)
    }
    #expect(throws: CustodyError.passcodeRequired) {
      try fixture.custody.switchMode(to: .standard, fixture.finger())
    }
    #expect(try fixture.items() == before)
    // A finger alone may go over to fingers alone, and not back.
    try fixture.custody.switchMode(
      to: .highSecurityWithFinger, fixture.finger(), acknowledgesMissingBackup: true)
    #expect(throws: CustodyError.passcodeRequired) {
      try fixture.custody.switchMode(to: .standard, fixture.finger())
    }
    #expect(try fixture.modesOfKeys() == [.highSecurityWithFinger])
  }

  @Test("A custody without keys changes its mode too")
  func withoutKeys() throws {
    let fixture = try CustodyFixture()
    try fixture.custody.switchMode(to: .highSecurityWithFinger, fixture.both())
    #expect(try fixture.custody.mode() == .highSecurityWithFinger)
    #expect(throws: CustodyError.fingerRequired) {
      try fixture.custody.wrap(
        .init(zeroed: 4), .transferableSecretKeyV4, CustodyFixture.fingerprint(0), fixture.passcode)
    }
  }

  @Test("An enclave that fails at any key leaves everything as it was", arguments: 0..<4)
  func enclaveFails(after count: Int) throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(4)
    let before = try fixture.items()
    fixture.failing.plan.withLock { $0.keysLeft = count }
    #expect(throws: CustodyError.enclave(.notAnswering)) {
      try fixture.custody.switchMode(
        to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    }
    #expect(try fixture.items() == before)
    #expect(fixture.records.journal == nil)
    fixture.failing.plan.withLock { $0.keysLeft = nil }
    #expect(try fixture.read(3, fixture.passcode) == CustodyFixture.secret(3))
  }

  @Test("An enclave that fails while the new keys are tried leaves everything as it was", arguments: 0..<8)
  func verificationFails(after count: Int) throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(4)
    let before = try fixture.items()
    fixture.failing.plan.withLock { $0.agreementsLeft = count }
    #expect(throws: CustodyError.enclave(.notAnswering)) {
      try fixture.custody.switchMode(
        to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    }
    fixture.failing.plan.withLock { $0.agreementsLeft = nil }
    #expect(try fixture.items() == before)
    #expect(fixture.records.journal == nil)
    #expect(try fixture.modesOfKeys() == [.standard])
  }

  @Test(
    "A store that takes no batch any more leaves everything as it was, once it works again", arguments: 0..<2)
  func storeFails(after count: Int) throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(3)
    let before = try fixture.items()
    fixture.store.plan.withLock { $0.batchesLeft = count }
    #expect(throws: CustodyError.keychain(.saveFailed(10))) {
      try fixture.custody.switchMode(
        to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    }
    fixture.store.plan.withLock { $0.batchesLeft = nil }
    #expect(try fixture.modesOfKeys() == [.standard])
    // What could not be removed then is removed at the next unlock.
    #expect(try fixture.custody.recover() == (count == 0 ? .nothingPending : .rolledBack))
    #expect(try fixture.items() == before)
    #expect(try fixture.read(0, fixture.passcode) == CustodyFixture.secret(0))
  }

  @Test("A store that fails after it has written the flip has made the change")
  func failsAfterFlip() throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(3)
    fixture.store.plan.withLock {
      $0.batchesLeft = 1
      $0.failsAfterWriting = true
    }
    try fixture.custody.switchMode(
      to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    #expect(try fixture.modesOfKeys() == [.highSecurityWithFinger])
    #expect(fixture.records.journal == nil)
  }

  @Test("A flip that is there although the store refused it counts only once the journal could be cleared")
  func failsAfterFlipForGood() throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(3)
    fixture.store.plan.withLock {
      $0.batchesLeft = 1
      $0.failsAfterWriting = true
    }
    fixture.records.state.withLock { $0.writesLeft = 1 }
    #expect(throws: CustodyError.keychain(.saveFailed(10))) {
      try fixture.custody.switchMode(
        to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    }
    #expect(fixture.records.journal != nil)
    fixture.store.plan.withLock { $0.batchesLeft = nil }
    fixture.records.state.withLock { $0.writesLeft = nil }
    #expect(try fixture.custody.recover() == .completed)
    #expect(try fixture.modesOfKeys() == [.highSecurityWithFinger])
    #expect(try fixture.read(2, fixture.finger()) == CustodyFixture.secret(2))
  }

  @Test("A journal that cannot be written stops the change; one that cannot be cleared does not undo it")
  func journalFails() throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(2)
    let before = try fixture.items()
    fixture.records.state.withLock { $0.writesLeft = 0 }
    #expect(throws: NotedRecords.refusal) {
      try fixture.custody.switchMode(
        to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    }
    #expect(try fixture.items() == before)
    fixture.records.state.withLock { $0.writesLeft = 1 }
    try fixture.custody.switchMode(
      to: .highSecurityWithFinger, fixture.both(), acknowledgesMissingBackup: true)
    #expect(try fixture.modesOfKeys() == [.highSecurityWithFinger])
    #expect(fixture.records.journal != nil)
    fixture.records.state.withLock { $0.writesLeft = nil }
    #expect(try fixture.custody.recover() == .completed)
    #expect(fixture.records.mode == .highSecurityWithFinger)
  }
}

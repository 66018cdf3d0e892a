// SPDX-License-Identifier: Apache-2.0
//
// Older rows put back, and processes that ended between file and ledger (Specs/protected-data.md, "Generations").

import Foundation
import Keychains
import Storage
import Testing

@testable import ProtectedData

@Suite("Generations of registry and domains")
struct GenerationTests {
  @Test(
    "The verdict on a number beside the ledger's",
    arguments: [
      (0, 0, .current), (5, 5, .current), (.max, .max, .current), (6, 5, .ahead), (1, 0, .ahead),
      (.max, .max - 1, .ahead), (4, 5, .rolledBack), (0, .max, .rolledBack), (7, 5, .unaccounted),
      (.max, 0, .unaccounted),
    ] as [(UInt64, UInt64, GenerationVerdict)])
  func verdicts(found: UInt64, ledger: UInt64, expected: GenerationVerdict) {
    #expect(GenerationVerdict(found: found, ledger: ledger) == expected)
  }

  @Test("A domain's row that is put back is noticed, by the next process and by this one")
  func domainRolledBack() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    let old = try #require(try fixture.image.rows[.contacts])
    try Sample.store(domains)
    try fixture.set(.contacts, old)
    #expect(throws: ProtectedDataError.domainRecovery(.contacts, .rolledBack)) {
      try domains.read(ContactsSnapshot.self)
    }
    #expect(throws: ProtectedDataError.domainRecovery(.contacts, .rolledBack)) {
      try domains.update(ContactsSnapshot.self) { $0.contacts = [] }
    }
    #expect(domains.domains[.contacts] == .recovery(.rolledBack))
    let before = try fixture.content()
    let next = try fixture.domains()
    #expect(try next.unlock(.always).domains[.contacts] == .recovery(.rolledBack))
    #expect(next.recoveryState().steps == [.resetDomain(.contacts)])
    #expect(throws: ProtectedDataError.domainRecovery(.contacts, .rolledBack)) {
      try next.read(ContactsSnapshot.self)
    }
    #expect(try next.read() == Sample.settings)
    // A damaged domain does not need the writer's lock.
    #expect(try fixture.another().unlock(.always).domains[.contacts] == .recovery(.rolledBack))
    #expect(try fixture.content() == before)
  }

  @Test("A registry that is put back is noticed, by the next process and by this one")
  func registryRolledBack() throws {
    let fixture = try ProtectedDataFixture()
    let old = try #require(try fixture.image.record)
    let domains = try fixture.unlocked()
    try domains.resetDomain(.contacts)
    try fixture.set(record: old)
    #expect(throws: ProtectedDataError.frameworkRecovery(.registryRolledBack)) {
      try domains.read(ProtectedSettings.self)
    }
    #expect(domains.state == .frameworkRecovery(.registryRolledBack))
    let before = try fixture.content()
    let next = try fixture.domains()
    #expect(throws: ProtectedDataError.frameworkRecovery(.registryRolledBack)) { try next.unlock(.always) }
    #expect(try fixture.content() == before)
  }

  @Test("A ledger that is put back by more than one step is noticed")
  func ledgerRolledBack() throws {
    let fixture = try ProtectedDataFixture()
    let old = try fixture.ledger().bytes
    let domains = try fixture.unlocked()
    for seconds in [1, 2] as [UInt32] {
      try domains.update(ProtectedSettings.self) { $0.gracePeriodSeconds = seconds }
    }
    let current = try fixture.ledger().bytes
    try fixture.set(item: GenerationLedger.account, old)
    let before = try fixture.content()
    let found = try fixture.domains()
    #expect(try found.unlock(.always).domains[.protectedSettings] == .recovery(.ledgerBehind))
    #expect(throws: ProtectedDataError.domainRecovery(.protectedSettings, .ledgerBehind)) {
      try found.read(ProtectedSettings.self)
    }
    #expect(try fixture.content() == before)

    try fixture.set(item: GenerationLedger.account, current)
    try domains.resetDomain(.contacts)
    try fixture.set(item: GenerationLedger.account, current)
    let after = try fixture.content()
    #expect(throws: ProtectedDataError.frameworkRecovery(.ledgerBehind)) {
      try fixture.domains().unlock(.always)
    }
    #expect(try fixture.content() == after)
  }

  @Test("A ledger that is one behind follows, and only once what was found is authentic")
  func healing() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    fixture.store.failUpdate(after: 0)
    #expect(throws: ProtectedDataError.keychainUnavailable(.saveFailed(5))) {
      try domains.update(ProtectedSettings.self) { $0.showsNextSteps = false }
    }
    // It is on the disk, and the ledger does not know yet.
    let ledger = try fixture.ledger()
    #expect(ledger.generations[.protectedSettings] == 1)
    let seen: ProtectedSettings = try domains.read()
    #expect(!seen.showsNextSteps)

    // Not authentic: nothing follows.
    let whole = try #require(try fixture.image.rows[.protectedSettings])
    var changed = whole
    changed.payload[changed.payload.count - 1] ^= 1
    try fixture.set(.protectedSettings, changed)
    #expect(try fixture.domains().unlock(.always).domains[.protectedSettings] == .recovery(.payloadCorrupt))
    #expect(try fixture.ledger() == ledger)

    try fixture.set(.protectedSettings, whole)
    let next = try fixture.unlocked()
    #expect(try fixture.ledger().generations[.protectedSettings] == 2)
    try next.update(ProtectedSettings.self) { $0.gracePeriodSeconds = 1 }
    #expect(try fixture.ledger().generations[.protectedSettings] == 3)
    _ = try fixture.unlocked()
  }

  @Test("A change after one that missed the ledger enters both")
  func twiceInOneProcess() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    fixture.store.failUpdate(after: 0)
    #expect(throws: (any Error).self) {
      try domains.update(ProtectedSettings.self) { $0.gracePeriodSeconds = 1 }
    }
    try domains.update(ProtectedSettings.self) { settings in
      #expect(settings.gracePeriodSeconds == 1)
      settings.gracePeriodSeconds = 2
    }
    let stored: ProtectedSettings = try fixture.unlocked().read()
    #expect(stored.gracePeriodSeconds == 2)
    #expect(try fixture.ledger().generations[.protectedSettings] == 3)
  }

  @Test("While another process has the writer's lock, a ledger that is behind is not touched")
  func notHealedByOthers() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    fixture.store.failUpdate(after: 0)
    #expect(throws: (any Error).self) {
      try domains.update(ProtectedSettings.self) { $0.gracePeriodSeconds = 1 }
    }
    let before = try fixture.content()
    #expect(throws: ProtectedDataError.storage(.inUse)) { try fixture.another().unlock(.always) }
    #expect(try fixture.content() == before)
  }

  @Test("A removed domain's rows fit no later one of that name")
  func replayAfterReset() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    try Sample.store(domains)
    let old = try #require(try fixture.image.rows[.contacts])
    try domains.resetDomain(.contacts)
    #expect(try domains.read() == ContactsSnapshot.initial)
    try fixture.set(.contacts, old)
    #expect(try fixture.domains().unlock(.always).domains[.contacts] == .recovery(.rolledBack))
  }
}

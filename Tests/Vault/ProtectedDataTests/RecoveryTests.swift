// SPDX-License-Identifier: Apache-2.0

import Enclaves
import Foundation
import Keychains
import Primitives
import ScriptedPrompts
import Storage
import Testing
import UserAuthentication

@testable import ProtectedData

@Suite("Explicit recovery of protected data")
struct RecoveryTests {
  @Test(
    "A domain that was reset is new, under another key, and the others are as they were",
    arguments: ProtectedDomain.allCases)
  func resetDomain(domain: ProtectedDomain) throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    try Sample.store(domains)
    let before = try fixture.image
    try domains.resetDomain(domain)
    let after = try fixture.image
    for other in ProtectedDataFixture.all {
      if other == domain {
        #expect(after.rows[other]?.wrappedKey != before.rows[other]?.wrappedKey)
      } else {
        #expect(after.rows[other] == before.rows[other])
      }
    }
    #expect(domains.domains[domain] == .open)
    let next = try fixture.unlocked()
    func expect<Payload: ProtectedPayload>(_ value: Payload) throws {
      #expect(try next.read() == (Payload.domain == domain ? .initial : value))
    }
    try expect(Sample.control)
    try expect(Sample.metadata)
    try expect(Sample.settings)
    try expect(Sample.contacts)
  }

  @Test("A domain in any recovery can be reset")
  func resetFromEveryFault() throws {
    let fixture = try ProtectedDataFixture()
    try Sample.store(fixture.unlocked())
    let row = try #require(try fixture.image.rows[.contacts])
    var (badKey, badPayload) = (row, row)
    badKey.wrappedKey[30] ^= 1
    badPayload.payload[30] ^= 1
    let tooNew = Guarded<UInt64>(0)
    let damages: [(DomainFault, () throws -> Void)] = [
      (.missing, { try fixture.set(.contacts, nil) }),
      (.keyCorrupt, { try fixture.set(.contacts, badKey) }),
      (.payloadCorrupt, { try fixture.set(.contacts, badPayload) }),
      (.rolledBack, { try fixture.set(.contacts, row) }),
      (.absent, { try fixture.changeRegistry { $0.entries[.contacts] = nil } }),
      (.malformed, { try fixture.set(.contacts, fixture.seal([9], .contacts)) }),
      (.unknownSchema, { try fixture.set(.contacts, fixture.seal([9], .contacts, schema: 7)) }),
      (
        .ledgerBehind,
        {
          let generation = try #require(try fixture.ledger().generations[.contacts])
          try fixture.set(.contacts, fixture.seal([0, 0], .contacts, generation: generation + 5))
          tooNew.change { $0 = generation + 5 }
        }
      ),
    ]
    for (fault, damage) in damages {
      try damage()
      let domains = try fixture.domains()
      #expect(try domains.unlock(.always).domains[.contacts] == .recovery(fault))
      try domains.resetDomain(.contacts)
      #expect(try domains.read() == ContactsSnapshot.initial)
      #expect(try fixture.unlocked().read() == ContactsSnapshot.initial)
      #expect(try fixture.unlocked().read() == Sample.settings)
    }
    // A number that was seen once is not used again.
    #expect(try fixture.ledger().generations[.contacts] == tooNew.value + 1)
  }

  @Test("A framework that was reset has a new root secret, a new binding key and new domains")
  func resetFramework() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    try Sample.store(domains)
    let (before, handle) = try (fixture.image, fixture.item(BindingKey.account))
    let root = try fixture.root()
    try domains.resetFramework(.always, in: fixture.enclave)
    #expect(domains.state == .locked)
    #expect(try !fixture.root().isEqual(to: root))
    #expect(try fixture.item(BindingKey.account) != handle)
    let next = try fixture.unlocked()
    #expect(try next.read() == ContactsSnapshot.initial)
    #expect(try next.read() == PrivateKeyControl.initial)
    // What was there before fits nothing any more.
    try fixture.set(.contacts, before.rows[.contacts])
    #expect(try fixture.domains().unlock(.always).domains[.contacts] == .recovery(.keyCorrupt))
    try fixture.set(record: before.record)
    #expect(throws: ProtectedDataError.frameworkRecovery(.registryTampered)) {
      try fixture.domains().unlock(.always)
    }
  }

  @Test("A framework in any recovery can be reset", arguments: FrameworkFault.allCases)
  func resetFromEveryFault(fault: FrameworkFault) throws {
    let fixture = try ProtectedDataFixture()
    let record = try #require(try fixture.image.record)
    switch fault {
    case .registryMissing: try fixture.set(record: nil)
    case .registryCorrupt: try fixture.set(record: [1])
    case .registryTampered:
      let other = RootKeys([UInt8](repeating: 1, count: 32).span.bytes)
      try fixture.set(record: #require(Registry(record: record)).record(other))
    case .resetInterrupted:
      let mark = SHA256.hash(record.span.bytes)
      try fixture.set(item: ResetMark.account, mark)
      let other = RootKeys([UInt8](repeating: 1, count: 32).span.bytes)
      try fixture.set(record: #require(Registry(record: record)).record(other))
      // Another record than the mark names is tampering as before.
      #expect(throws: ProtectedDataError.frameworkRecovery(.registryTampered)) {
        try fixture.domains().unlock(.always)
      }
      let now = try #require(try fixture.image.record)
      try fixture.set(item: ResetMark.account, SHA256.hash(now.span.bytes))
    case .registryRolledBack:
      try fixture.unlocked().resetDomain(.contacts)
      try fixture.set(record: record)
    case .ledgerBehind: try fixture.changeRegistry(advancing: false) { $0.revision += 2 }
    case .ledgerMissing: try fixture.set(item: GenerationLedger.account, nil)
    case .ledgerCorrupt: try fixture.set(item: GenerationLedger.account, [1])
    case .rootSecretMissing: try fixture.set(item: RootSecret.account, nil)
    case .rootSecretCorrupt: try fixture.set(item: RootSecret.account, [1])
    case .rootSecretDowngraded:
      try fixture.set(item: RootSecret.account, [UInt8](repeating: 1, count: 32))
    case .formatFloorInconsistent: try fixture.set(item: RootSecret.floorAccount, nil)
    case .bindingKeyMissing: try fixture.set(item: BindingKey.account, nil)
    case .bindingKeyUnusable: try fixture.set(item: BindingKey.account, [1])
    }
    let before = try fixture.content()
    let domains = try fixture.domains()
    #expect(throws: ProtectedDataError.frameworkRecovery(fault)) { try domains.unlock(.always) }
    #expect(domains.state == .frameworkRecovery(fault))
    #expect(domains.recoveryState().steps == [.resetFramework])
    // Neither a second try nor a reset of a domain helps, or changes anything.
    #expect(throws: ProtectedDataError.frameworkRecovery(fault)) { try domains.unlock(.always) }
    #expect(throws: ProtectedDataError.frameworkRecovery(fault)) { try domains.resetDomain(.contacts) }
    #expect(try fixture.content() == before)

    try domains.resetFramework(.always, in: fixture.enclave)
    #expect(domains.state == .locked)
    #expect(try domains.unlock(.always).outcome == .opened)
    _ = try fixture.unlocked()
  }

  @Test("A reset without leave, or for which something is missing, changes nothing")
  func refusedReset() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.domains()
    let before = try fixture.content()
    let never = SessionAuthorization(deadline: .now.advanced(by: .seconds(1000))) { false }
    #expect(throws: ProtectedDataError.notAuthorised) {
      try domains.resetFramework(never, in: fixture.enclave)
    }
    fixture.enclave.fail(.notAnswering)
    #expect(throws: ProtectedDataError.enclave(.notAnswering)) {
      try domains.resetFramework(.always, in: fixture.enclave)
    }
    fixture.enclave.fail(nil)
    fixture.store.failUpdate(after: 0)
    #expect(throws: ProtectedDataError.keychainUnavailable(.saveFailed(5))) {
      try domains.resetFramework(.always, in: fixture.enclave)
    }
    #expect(throws: ProtectedDataError.locked) { try domains.resetDomain(.contacts) }
    #expect(try fixture.content() == before)
    _ = try fixture.unlocked()
  }

  @Test("A framework can be reset by leave of an authenticated context")
  func resetByContext() throws {
    let fixture = try ProtectedDataFixture()
    try fixture.set(record: nil)
    let domains = try fixture.domains()
    let prompt = ScriptedPrompt(replies: [])
    prompt.append(.init(zeroed: 1))
    let context = try UserAuthenticator(prompt: prompt).evaluate(
      .deviceOwner, passcode: PromptRequest("PIN")
    ) { _ in true }
    try domains.resetFramework(context, in: fixture.enclave)
    #expect(try domains.unlock(context).outcome == .opened)
  }

  @Test("PD-20: what was being made is given up, what was being removed is finished, by the registry alone")
  func pd20Pending() throws {
    for state in [Registry.EntryState.pendingCreate, .pendingDelete] {
      let fixture = try ProtectedDataFixture()
      try Sample.store(fixture.unlocked())
      try fixture.changeRegistry { $0.entries[.contacts] = state }
      let domains = try fixture.domains()
      let report = try domains.unlock(.always)
      #expect(report.outcome == .opened)
      #expect(report.domains[.contacts] == .recovery(.absent))
      #expect(try fixture.image.rows[.contacts] == nil)
      #expect(try Registry(record: fixture.image.record ?? [])?.entries[.contacts] == nil)
      #expect(try domains.read() == Sample.settings)
      #expect(try fixture.domains().unlock(.always).domains[.contacts] == .recovery(.absent))
      try domains.resetDomain(.contacts)
      #expect(try fixture.unlocked().read() == ContactsSnapshot.initial)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Enclaves
import Foundation
import Keychains
import Primitives
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
    let bench = try ProtectedBench()
    let domains = try bench.unlocked()
    try Sample.store(domains)
    let before = try bench.image
    try domains.resetDomain(domain)
    let after = try bench.image
    for other in ProtectedBench.all {
      if other == domain {
        #expect(after.rows[other]?.wrappedKey != before.rows[other]?.wrappedKey)
      } else {
        #expect(after.rows[other] == before.rows[other])
      }
    }
    #expect(domains.domains[domain] == .open)
    let next = try bench.unlocked()
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
    let bench = try ProtectedBench()
    try Sample.store(bench.unlocked())
    let row = try #require(try bench.image.rows[.contacts])
    var (badKey, badPayload) = (row, row)
    badKey.wrappedKey[30] ^= 1
    badPayload.payload[30] ^= 1
    let tooNew = Protected<UInt64>(0)
    let damages: [(DomainFault, () throws -> Void)] = [
      (.missing, { try bench.set(.contacts, nil) }),
      (.keyCorrupt, { try bench.set(.contacts, badKey) }),
      (.payloadCorrupt, { try bench.set(.contacts, badPayload) }),
      (.rolledBack, { try bench.set(.contacts, row) }),
      (.absent, { try bench.changeRegistry { $0.entries[.contacts] = nil } }),
      (.malformed, { try bench.set(.contacts, bench.seal([9], .contacts)) }),
      (.unknownSchema, { try bench.set(.contacts, bench.seal([9], .contacts, schema: 7)) }),
      (
        .ledgerBehind,
        {
          let generation = try #require(try bench.ledger().generations[.contacts])
          try bench.set(.contacts, bench.seal([0, 0], .contacts, generation: generation + 5))
          tooNew.change { $0 = generation + 5 }
        }
      ),
    ]
    for (fault, damage) in damages {
      try damage()
      let domains = try bench.domains()
      #expect(try domains.unlock(.always).domains[.contacts] == .recovery(fault))
      try domains.resetDomain(.contacts)
      #expect(try domains.read() == ContactsSnapshot.initial)
      #expect(try bench.unlocked().read() == ContactsSnapshot.initial)
      #expect(try bench.unlocked().read() == Sample.settings)
    }
    // A number that was seen once is not used again.
    #expect(try bench.ledger().generations[.contacts] == tooNew.value + 1)
  }

  @Test("A framework that was reset has a new root secret, a new binding key and new domains")
  func resetFramework() throws {
    let bench = try ProtectedBench()
    let domains = try bench.unlocked()
    try Sample.store(domains)
    let (before, handle) = try (bench.image, bench.item(BindingKey.account))
    let root = try bench.root()
    try domains.resetFramework(.always, in: bench.enclave)
    #expect(domains.state == .locked)
    #expect(try !bench.root().isEqual(to: root))
    #expect(try bench.item(BindingKey.account) != handle)
    let next = try bench.unlocked()
    #expect(try next.read() == ContactsSnapshot.initial)
    #expect(try next.read() == PrivateKeyControl.initial)
    // What was there before fits nothing any more.
    try bench.set(.contacts, before.rows[.contacts])
    #expect(try bench.domains().unlock(.always).domains[.contacts] == .recovery(.keyCorrupt))
    try bench.set(record: before.record)
    #expect(throws: ProtectedDataError.frameworkRecovery(.registryTampered)) {
      try bench.domains().unlock(.always)
    }
  }

  @Test("A framework in any recovery can be reset", arguments: FrameworkFault.allCases)
  func resetFromEveryFault(fault: FrameworkFault) throws {
    let bench = try ProtectedBench()
    let record = try #require(try bench.image.record)
    switch fault {
    case .registryMissing: try bench.set(record: nil)
    case .registryCorrupt: try bench.set(record: [1])
    case .registryTampered:
      let other = RootKeys([UInt8](repeating: 1, count: 32).span.bytes)
      try bench.set(record: #require(Registry(record: record)).record(other))
    case .resetInterrupted:
      let mark = SHA256.hash(record.span.bytes)
      try bench.set(item: ResetMark.account, mark)
      let other = RootKeys([UInt8](repeating: 1, count: 32).span.bytes)
      try bench.set(record: #require(Registry(record: record)).record(other))
      // Another record than the mark names is tampering as before.
      #expect(throws: ProtectedDataError.frameworkRecovery(.registryTampered)) {
        try bench.domains().unlock(.always)
      }
      let now = try #require(try bench.image.record)
      try bench.set(item: ResetMark.account, SHA256.hash(now.span.bytes))
    case .registryRolledBack:
      try bench.unlocked().resetDomain(.contacts)
      try bench.set(record: record)
    case .ledgerBehind: try bench.changeRegistry(advancing: false) { $0.revision += 2 }
    case .ledgerMissing: try bench.set(item: GenerationLedger.account, nil)
    case .ledgerCorrupt: try bench.set(item: GenerationLedger.account, [1])
    case .rootSecretMissing: try bench.set(item: RootSecret.account, nil)
    case .rootSecretCorrupt: try bench.set(item: RootSecret.account, [1])
    case .rootSecretDowngraded:
      try bench.set(item: RootSecret.account, [UInt8](repeating: 1, count: 32))
    case .formatFloorInconsistent: try bench.set(item: RootSecret.floorAccount, nil)
    case .bindingKeyMissing: try bench.set(item: BindingKey.account, nil)
    case .bindingKeyUnusable: try bench.set(item: BindingKey.account, [1])
    }
    let before = try bench.content()
    let domains = try bench.domains()
    #expect(throws: ProtectedDataError.frameworkRecovery(fault)) { try domains.unlock(.always) }
    #expect(domains.state == .frameworkRecovery(fault))
    #expect(domains.recoveryState().steps == [.resetFramework])
    // Neither a second try nor a reset of a domain helps, or changes anything.
    #expect(throws: ProtectedDataError.frameworkRecovery(fault)) { try domains.unlock(.always) }
    #expect(throws: ProtectedDataError.frameworkRecovery(fault)) { try domains.resetDomain(.contacts) }
    #expect(try bench.content() == before)

    try domains.resetFramework(.always, in: bench.enclave)
    #expect(domains.state == .locked)
    #expect(try domains.unlock(.always).outcome == .opened)
    _ = try bench.unlocked()
  }

  @Test("A reset without leave, or for which something is missing, changes nothing")
  func refusedReset() throws {
    let bench = try ProtectedBench()
    let domains = try bench.domains()
    let before = try bench.content()
    let never = SessionAuthorization(deadline: .now.advanced(by: .seconds(1000))) { false }
    #expect(throws: ProtectedDataError.notAuthorised) { try domains.resetFramework(never, in: bench.enclave) }
    bench.enclave.fail(.notAnswering)
    #expect(throws: ProtectedDataError.enclave(.notAnswering)) {
      try domains.resetFramework(.always, in: bench.enclave)
    }
    bench.enclave.fail(nil)
    bench.store.failUpdate(after: 0)
    #expect(throws: ProtectedDataError.keychainUnavailable(.saveFailed(5))) {
      try domains.resetFramework(.always, in: bench.enclave)
    }
    #expect(throws: ProtectedDataError.locked) { try domains.resetDomain(.contacts) }
    #expect(try bench.content() == before)
    _ = try bench.unlocked()
  }

  @Test("A framework can be reset by leave of an authenticated context")
  func resetByContext() throws {
    let bench = try ProtectedBench()
    try bench.set(record: nil)
    let domains = try bench.domains()
    let prompt = ScriptedPrompt(replies: [])
    prompt.append(.init(zeroed: 1))
    let context = try UserAuthenticator(prompt: prompt).evaluate(
      .deviceOwner, passcode: PromptRequest("PIN")
    ) { _ in true }
    try domains.resetFramework(context, in: bench.enclave)
    #expect(try domains.unlock(context).outcome == .opened)
  }

  @Test("PD-20: what was being made is given up, what was being removed is finished, by the registry alone")
  func pd20Pending() throws {
    for state in [Registry.EntryState.pendingCreate, .pendingDelete] {
      let bench = try ProtectedBench()
      try Sample.store(bench.unlocked())
      try bench.changeRegistry { $0.entries[.contacts] = state }
      let domains = try bench.domains()
      let report = try domains.unlock(.always)
      #expect(report.outcome == .opened)
      #expect(report.domains[.contacts] == .recovery(.absent))
      #expect(try bench.image.rows[.contacts] == nil)
      #expect(try Registry(record: bench.image.record ?? [])?.entries[.contacts] == nil)
      #expect(try domains.read() == Sample.settings)
      #expect(try bench.domains().unlock(.always).domains[.contacts] == .recovery(.absent))
      try domains.resetDomain(.contacts)
      #expect(try bench.unlocked().read() == ContactsSnapshot.initial)
    }
  }
}

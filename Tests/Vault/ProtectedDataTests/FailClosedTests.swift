// SPDX-License-Identifier: Apache-2.0
//
// Each rule under which protected data do not open, by the number it has in the requirements. «Nothing changed»
// means: not a byte of any row of the file.

import Enclaves
import Foundation
import Keychains
import Primitives
import Secrets
import Storage
import Testing
import UserAuthentication

@testable import ProtectedData

@Suite("Guarded data fail closed")
struct FailClosedTests {
  @Test("PD-08: a locked keychain is locked, one that does not answer is that, and neither is damage")
  func pd08Keychain() throws {
    let fixture = try ProtectedDataFixture()
    let locked = KeychainService(keychain: fixture.store, keys: fixture.keys.locked())
    try fixture.expectRefusal(.keychainLocked, keychain: locked)
    for (error, expected) in [
      (KeychainError.locked, ProtectedDataError.keychainLocked),
      (.loadFailed(10), .keychainUnavailable(.loadFailed(10))),
      (.storage(.inUse), .keychainUnavailable(.storage(.inUse))),
      (.enclave(.notAnswering), .enclave(.notAnswering)),
      (.serviceUnavailable, .keychainUnavailable(.serviceUnavailable)),
      (.serviceLocked, .keychainUnavailable(.serviceLocked)),
    ] {
      fixture.store.fail(error)
      let domains = try fixture.domains()
      #expect(throws: expected) { try domains.unlock(.always) }
      #expect(domains.state == .locked)
      fixture.store.fail(nil)
    }
    _ = try fixture.unlocked()
  }

  @Test("PD-11: the list of keys, and every other domain, is there only after unlocking")
  func pd11Locked() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.domains()
    #expect(throws: ProtectedDataError.locked) { try domains.read(KeyMetadata.self) }
    #expect(throws: ProtectedDataError.locked) { try domains.read(PrivateKeyControl.self) }
    #expect(throws: ProtectedDataError.locked) { try domains.read(ProtectedSettings.self) }
    #expect(throws: ProtectedDataError.locked) { try domains.read(ContactsSnapshot.self) }
    #expect(throws: ProtectedDataError.locked) { try domains.read(FrameworkSentinel.self) }
    #expect(throws: ProtectedDataError.locked) { try domains.update(KeyMetadata.self) { $0.identities = [] } }
    #expect(domains.domains.isEmpty)
    #expect(try domains.unlock(.always).outcome == .opened)
    #expect(try domains.read() == KeyMetadata.initial)
  }

  @Test("PD-20: a row that the registry does not name is not a domain; a named row that is gone is damage")
  func pd20RegistryAlone() throws {
    let fixture = try ProtectedDataFixture()
    try fixture.changeRegistry { $0.entries[.contacts] = nil }
    try fixture.set(.keyMetadata, nil)
    let domains = try fixture.domains()
    let report = try domains.unlock(.always)
    #expect(report.domains[.contacts] == .recovery(.absent))
    #expect(report.domains[.keyMetadata] == .recovery(.missing))
    #expect(try fixture.image.rows[.contacts] != nil)
    #expect(throws: ProtectedDataError.domainRecovery(.contacts, .absent)) {
      try domains.read(ContactsSnapshot.self)
    }
    #expect(throws: ProtectedDataError.domainRecovery(.keyMetadata, .missing)) {
      try domains.read(KeyMetadata.self)
    }
    #expect(try domains.read() == ProtectedSettings.initial)
  }

  @Test("PD-21: a cold start reads the registry and neither keychain, enclave nor rows")
  func pd21ColdStart() throws {
    let fixture = try ProtectedDataFixture()
    // Rows that nobody could open, and a registry that only its key would expose.
    for domain in ProtectedDataFixture.all {
      try fixture.set(domain, DomainRow(wrappedKey: [1], payload: [2]))
    }
    let forged = RootKeys([UInt8](repeating: 9, count: 32).span.bytes)
    let registry = try #require(try Registry(record: fixture.image.record ?? []))
    try fixture.set(record: registry.record(forged))
    let reads = fixture.store.readCount
    let domains = try fixture.domains(
      enclaves: { _ in
        Issue.record("a cold start asks for no enclave")
        return nil
      })
    #expect(domains.state == .locked)
    #expect(domains.recoveryState().steps == [.unlock])
    #expect(fixture.store.readCount == reads)
    #expect(fixture.enclave.calls == 0)
  }

  @Test(
    "PD-22: a registry that is missing or damaged is told before unlocking, and nothing is made in its place")
  func pd22Registry() throws {
    let fixture = try ProtectedDataFixture()
    let record = try #require(try fixture.image.record)
    for (bytes, fault) in [
      (nil, FrameworkFault.registryMissing), ([], .registryCorrupt),
      (Array(record.dropLast()), .registryCorrupt), (record + [0], .registryCorrupt),
    ] as [([UInt8]?, FrameworkFault)] {
      try fixture.set(record: bytes)
      let before = try fixture.content()
      let domains = try fixture.domains()
      #expect(domains.state == .frameworkRecovery(fault))
      #expect(throws: ProtectedDataError.frameworkRecovery(fault)) {
        try domains.read(ProtectedSettings.self)
      }
      try fixture.expectRefusal(.frameworkRecovery(fault))
      #expect(try fixture.content() == before)
    }
    try fixture.set(record: record)
    _ = try fixture.unlocked()
  }

  @Test("PD-22: a registry that somebody else wrote is refused after the root secret was fetched")
  func pd22Forged() throws {
    let fixture = try ProtectedDataFixture()
    var registry = try #require(try Registry(record: fixture.image.record ?? []))
    registry.entries[.contacts] = nil
    try fixture.set(record: registry.record(RootKeys([UInt8](repeating: 9, count: 32).span.bytes)))
    try fixture.expectRefusal(.frameworkRecovery(.registryTampered))
  }

  @Test("PD-22: a ledger that is missing or damaged is the framework's damage")
  func pd22Ledger() throws {
    let fixture = try ProtectedDataFixture()
    let ledger = try fixture.ledger().bytes
    for bytes in [[], ledger + [0], Array(ledger.dropLast())] {
      try fixture.set(item: GenerationLedger.account, bytes)
      try fixture.expectRefusal(.frameworkRecovery(.ledgerCorrupt))
    }
    try fixture.set(item: GenerationLedger.account, nil)
    try fixture.expectRefusal(.frameworkRecovery(.ledgerMissing))
  }

  @Test(
    "PD-24: nothing opens where others can reach the folder or a file",
    arguments: ["", "/coffer.db", "/coffer.db-wal"])
  func pd24Protection(place: String) throws {
    let fixture = try ProtectedDataFixture()
    let path = fixture.home.path + place
    let mode = place.isEmpty ? 0o700 : 0o600
    let domains = try fixture.domains()
    for loosened in [mode | 0o040, mode | 0o004, mode | 0o010, mode & 0o500, mode | 0o1000] {
      try FileManager.default.setAttributes([.posixPermissions: loosened], ofItemAtPath: path)
      let reads = fixture.store.readCount
      #expect(throws: ProtectedDataError.unprotectedFiles) { try fixture.domains() }
      #expect(throws: ProtectedDataError.unprotectedFiles) { try domains.unlock(.always) }
      #expect(throws: ProtectedDataError.unprotectedFiles) {
        try domains.resetFramework(.always, in: fixture.enclave)
      }
      #expect(fixture.store.readCount == reads)
      #expect(domains.recoveryState().steps.first == .protectFiles)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    #expect(try domains.unlock(.always).outcome == .opened)
  }

  @Test("PD-24: the coffer's folder holds no file for protected data")
  func pd24NowhereElse() throws {
    let fixture = try ProtectedDataFixture()
    try Sample.store(fixture.unlocked())
    let names = try FileManager.default.contentsOfDirectory(atPath: fixture.home.path).sorted()
    #expect(names == ["coffer.db", "coffer.db-shm", "coffer.db-wal", "coffer.lock"])
  }
}

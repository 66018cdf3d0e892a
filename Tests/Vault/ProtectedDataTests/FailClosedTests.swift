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

@Suite("Protected data fail closed")
struct FailClosedTests {
  @Test("PD-08: a locked keychain is locked, one that does not answer is that, and neither is damage")
  func pd08Keychain() throws {
    let bench = try ProtectedBench()
    let locked = KeychainService(keychain: bench.store, keys: bench.keys.locked())
    try bench.expectRefusal(.keychainLocked, keychain: locked)
    for (error, expected) in [
      (KeychainError.locked, ProtectedDataError.keychainLocked),
      (.loadFailed(10), .keychainUnavailable(.loadFailed(10))),
      (.storage(.inUse), .keychainUnavailable(.storage(.inUse))),
      (.enclave(.notAnswering), .enclave(.notAnswering)),
      (.serviceUnavailable, .keychainUnavailable(.serviceUnavailable)),
      (.serviceLocked, .keychainUnavailable(.serviceLocked)),
    ] {
      bench.store.fail(error)
      let domains = try bench.domains()
      #expect(throws: expected) { try domains.unlock(.always) }
      #expect(domains.state == .locked)
      bench.store.fail(nil)
    }
    _ = try bench.unlocked()
  }

  @Test("PD-11: the list of keys, and every other domain, is there only after unlocking")
  func pd11Locked() throws {
    let bench = try ProtectedBench()
    let domains = try bench.domains()
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

  @Test("PD-20: a row that the registry does not name is no domain; one that it names and is gone is damage")
  func pd20RegistryAlone() throws {
    let bench = try ProtectedBench()
    try bench.changeRegistry { $0.entries[.contacts] = nil }
    try bench.set(.keyMetadata, nil)
    let domains = try bench.domains()
    let report = try domains.unlock(.always)
    #expect(report.domains[.contacts] == .recovery(.absent))
    #expect(report.domains[.keyMetadata] == .recovery(.missing))
    #expect(try bench.image.rows[.contacts] != nil)
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
    let bench = try ProtectedBench()
    // Rows that nobody could open, and a registry that only its key would expose.
    for domain in ProtectedBench.all { try bench.set(domain, DomainRow(wrappedKey: [1], payload: [2])) }
    let forged = RootKeys([UInt8](repeating: 9, count: 32).span.bytes)
    let registry = try #require(try Registry(record: bench.image.record ?? []))
    try bench.set(record: registry.record(forged))
    let reads = bench.store.readCount
    let domains = try bench.domains(
      enclaves: { _ in
        Issue.record("a cold start asks for no enclave")
        return nil
      })
    #expect(domains.state == .locked)
    #expect(domains.recoveryState().steps == [.unlock])
    #expect(bench.store.readCount == reads)
    #expect(bench.enclave.calls == 0)
  }

  @Test(
    "PD-22: a registry that is missing or damaged is told before unlocking, and nothing is made in its place")
  func pd22Registry() throws {
    let bench = try ProtectedBench()
    let record = try #require(try bench.image.record)
    for (bytes, fault) in [
      (nil, FrameworkFault.registryMissing), ([], .registryCorrupt),
      (Array(record.dropLast()), .registryCorrupt), (record + [0], .registryCorrupt),
    ] as [([UInt8]?, FrameworkFault)] {
      try bench.set(record: bytes)
      let before = try bench.content()
      let domains = try bench.domains()
      #expect(domains.state == .frameworkRecovery(fault))
      #expect(throws: ProtectedDataError.frameworkRecovery(fault)) {
        try domains.read(ProtectedSettings.self)
      }
      try bench.expectRefusal(.frameworkRecovery(fault))
      #expect(try bench.content() == before)
    }
    try bench.set(record: record)
    _ = try bench.unlocked()
  }

  @Test("PD-22: a registry that somebody else wrote is refused after the root secret was fetched")
  func pd22Forged() throws {
    let bench = try ProtectedBench()
    var registry = try #require(try Registry(record: bench.image.record ?? []))
    registry.entries[.contacts] = nil
    try bench.set(record: registry.record(RootKeys([UInt8](repeating: 9, count: 32).span.bytes)))
    try bench.expectRefusal(.frameworkRecovery(.registryTampered))
  }

  @Test("PD-22: a ledger that is missing or damaged is the framework's damage")
  func pd22Ledger() throws {
    let bench = try ProtectedBench()
    let ledger = try bench.ledger().bytes
    for bytes in [[], ledger + [0], Array(ledger.dropLast())] {
      try bench.set(item: GenerationLedger.account, bytes)
      try bench.expectRefusal(.frameworkRecovery(.ledgerCorrupt))
    }
    try bench.set(item: GenerationLedger.account, nil)
    try bench.expectRefusal(.frameworkRecovery(.ledgerMissing))
  }

  @Test(
    "PD-24: nothing opens where others can reach the folder or a file",
    arguments: ["", "/coffer.db", "/coffer.db-wal"])
  func pd24Protection(place: String) throws {
    let bench = try ProtectedBench()
    let path = bench.home.path + place
    let mode = place.isEmpty ? 0o700 : 0o600
    let domains = try bench.domains()
    for loosened in [mode | 0o040, mode | 0o004, mode | 0o010, mode & 0o500, mode | 0o1000] {
      try FileManager.default.setAttributes([.posixPermissions: loosened], ofItemAtPath: path)
      let reads = bench.store.readCount
      #expect(throws: ProtectedDataError.unprotectedFiles) { try bench.domains() }
      #expect(throws: ProtectedDataError.unprotectedFiles) { try domains.unlock(.always) }
      #expect(throws: ProtectedDataError.unprotectedFiles) {
        try domains.resetFramework(.always, in: bench.enclave)
      }
      #expect(bench.store.readCount == reads)
      #expect(domains.recoveryState().steps.first == .protectFiles)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    #expect(try domains.unlock(.always).outcome == .opened)
  }

  @Test("PD-24: the coffer's folder holds no file for protected data")
  func pd24NowhereElse() throws {
    let bench = try ProtectedBench()
    try Sample.store(bench.unlocked())
    let names = try FileManager.default.contentsOfDirectory(atPath: bench.home.path).sorted()
    #expect(names == ["coffer.db", "coffer.db-shm", "coffer.db-wal", "coffer.lock"])
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// A coffer with protected data, and what tests look at and change behind their back.

import Enclaves
import Foundation
import Keychains
import Primitives
import Secrets
import Storage
import Synchronization
import TemporaryHomes
import Testing

@testable import ProtectedData

final class ProtectedDataFixture {
  let home: TemporaryHome
  let keys: ClassKeys
  let file: DatabaseFile
  let store: WatchedKeychain
  let keychain: KeychainService
  let enclave = WatchedEnclave()
  let latch = RestartLatch()

  static let all = ProtectedDomain.allCases

  /// Makes a coffer, with protected data unless `isBare`.
  init(isBare: Bool = false) throws {
    home = try TemporaryHome()
    keys = ClassKeys(
      whenUnlocked: SharedSecretBytes(SystemRandom.secretBytes(count: 32)),
      afterFirstUnlock: SharedSecretBytes(SystemRandom.secretBytes(count: 32)))
    let (keys, enclave) = (self.keys, self.enclave)
    file = try DatabaseFile.create(home: home.path) { file in
      let keychain = KeychainService(keychain: FileKeychain(file), keys: keys)
      try keychain.prepare()
      if !isBare { try ProtectedDomains.create(file: file, keychain: keychain, enclave: enclave) }
    }
    store = WatchedKeychain(FileKeychain(file))
    keychain = KeychainService(keychain: store, keys: keys)
    enclave.forget()
  }

  /// Guarded data as the next process finds them; its latch is a new one unless another is named.
  func domains(
    keychain: KeychainService? = nil, latch: RestartLatch = RestartLatch(),
    enclaves: (@Sendable (EnclaveKind) -> (any Enclave)?)? = nil
  ) throws -> ProtectedDomains {
    let enclave = self.enclave
    return try ProtectedDomains(
      file: file, keychain: keychain ?? self.keychain,
      enclaves: enclaves ?? { $0 == .software ? enclave : nil }, bindingKind: .software, latch: latch)
  }

  /// The same, unlocked, with every domain open.
  func unlocked() throws -> ProtectedDomains {
    let domains = try domains()
    let report = try domains.unlock(.always)
    #expect(report.outcome == .opened)
    for domain in Self.all { #expect(report.domains[domain] == .open, "\(domain)") }
    return domains
  }

  /// Another process, with the file in `path` opened again.
  func another(at path: String? = nil) throws -> ProtectedDomains {
    let file = try DatabaseFile.open(home: path ?? home.path)
    let enclave = self.enclave
    return try ProtectedDomains(
      file: file, keychain: KeychainService(keychain: FileKeychain(file), keys: keys),
      enclaves: { $0 == .software ? enclave : nil }, bindingKind: .software, latch: RestartLatch())
  }

  /// A copy of all files, as a crash at this moment leaves them; removed with the fixture's folder.
  func snapshot() throws -> String {
    let copy = home.path + "-copy-\(UUID().uuidString)"
    try FileManager.default.copyItem(atPath: home.path, toPath: copy)
    return copy
  }

  /// Unlocks, and expects this error and no change of anything stored.
  func expectRefusal(
    _ expected: ProtectedDataError, keychain: KeychainService? = nil,
    enclaves: (@Sendable (EnclaveKind) -> (any Enclave)?)? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try content()
    let domains = try self.domains(keychain: keychain, enclaves: enclaves)
    #expect(throws: expected, sourceLocation: sourceLocation) { try domains.unlock(.always) }
    #expect(throws: (any Error).self, sourceLocation: sourceLocation) {
      try domains.read(ProtectedSettings.self)
    }
    #expect(throws: (any Error).self, sourceLocation: sourceLocation) {
      try domains.update(ProtectedSettings.self) { $0.showsNextSteps = false }
    }
    #expect(try content() == before, sourceLocation: sourceLocation)
    if case .frameworkRecovery(let fault) = expected {
      #expect(domains.state == .frameworkRecovery(fault), sourceLocation: sourceLocation)
      #expect(domains.recoveryState().steps == [.resetFramework], sourceLocation: sourceLocation)
    } else {
      #expect(domains.state == .locked, sourceLocation: sourceLocation)
    }
  }

  // MARK: Behind their back

  /// Everything that is stored: the rows of all tables, byte for byte.
  func content() throws -> [String] {
    try file.read { transaction in
      var lines: [String] = []
      try transaction.forEachRow("SELECT record FROM protectedRegistry") { row in
        lines.append("registry \(try row.bytes(0).base64EncodedString())")
        return true
      }
      try transaction.forEachRow("SELECT domain, wrappedKey, payload FROM protectedDomains ORDER BY domain") {
        row in
        let (key, payload) = try (row.bytes(1), row.bytes(2))
        lines.append("\(try row.integer(0)) \(key.base64EncodedString()) \(payload.base64EncodedString())")
        return true
      }
      try transaction.forEachRow("SELECT account, accessibility, sealed FROM keychain ORDER BY account") {
        row in
        lines.append("\(try row.text(0)) \(try row.integer(1)) \(try row.bytes(2).base64EncodedString())")
        return true
      }
      return lines
    }
  }

  var image: StoredImage { get throws { try StoredImage.read(file, Self.all) } }

  func set(record: [UInt8]?) throws {
    try file.write { transaction in
      try transaction.execute("DELETE FROM protectedRegistry")
      if let record {
        try transaction.execute(
          "INSERT INTO protectedRegistry (only, record) VALUES (1, ?)", .bytes(Data(record)))
      }
    }
  }

  func set(_ domain: ProtectedDomain, _ row: DomainRow?) throws {
    let number = StorageValue.integer(Int64(domain.rawValue))
    try file.write { transaction in
      try transaction.execute("DELETE FROM protectedDomains WHERE domain = ?", number)
      if let row {
        try transaction.execute(
          "INSERT INTO protectedDomains (domain, wrappedKey, payload) VALUES (?, ?, ?)", number,
          .bytes(Data(row.wrappedKey)), .bytes(Data(row.payload)))
      }
    }
  }

  /// An item's bytes.
  func item(_ account: String) throws -> [UInt8]? {
    try keychain.protectedItem(account, damaged: .rootSecretCorrupt)?.withBytes { [UInt8](copying: $0) }
  }

  /// Puts an item there, or takes it away, as somebody with the class key could.
  func set(item account: String, _ bytes: [UInt8]?) throws {
    guard let bytes else { return try keychain.delete(forKey: account) }
    try keychain.save(
      SecretBytes(copying: bytes.span.bytes), forKey: account, accessibility: .whenUnlockedThisDeviceOnly)
  }

  /// The root secret, and what is derived.
  func root() throws -> SecretBytes {
    let envelope = try #require(try RootSecretEnvelope(item(RootSecret.account) ?? []))
    let binding = try RootSecret.binding(keychain) { _ in SoftwareEnclave() }
    return try envelope.open(binding.key, in: SoftwareEnclave())
  }

  func rootKeys() throws -> RootKeys { try root().withBytes { RootKeys($0) } }

  /// Changes the registry as we would, with or without its revision and the ledger.
  func changeRegistry(advancing: Bool = true, _ body: (inout Registry) -> Void) throws {
    let keys = try rootKeys()
    var registry = try #require(try Registry(record: image.record ?? []))
    body(&registry)
    if advancing {
      registry.revision += 1
      var ledger = try ledger()
      ledger.revision = registry.revision
      try ledger.save(keychain)
    }
    try set(record: registry.record(keys))
  }

  func ledger() throws -> GenerationLedger { try GenerationLedger.load(keychain) }

  /// Makes it a coffer of the first format, as its root secret was kept then.
  func makeFirstFormat() throws {
    let root = try root()
    try changeRegistry(advancing: false) { $0.formatFloor = 1 }
    try keychain.save(root, forKey: RootSecret.account, accessibility: .whenUnlockedThisDeviceOnly)
    try set(item: RootSecret.floorAccount, nil)
    try set(item: BindingKey.account, nil)
  }

  /// Seals a payload of any bytes and schema for a domain, as we would.
  func seal(
    _ payload: [UInt8], _ domain: ProtectedDomain, schema: UInt16? = nil, generation: UInt64? = nil
  ) throws -> DomainRow {
    var row = try #require(try image.rows[domain])
    let opened = try Finding.open(domain, row, rootKeys())
    let record = DomainRecord(
      domain: domain, schemaVersion: schema ?? opened.record.schemaVersion,
      generation: generation ?? opened.record.generation)
    row.payload = record.seal(SecretBytes(copying: payload.span.bytes), under: opened.key)
    return row
  }
}

extension ProtectedPayload {
  /// The payload's bytes, copied out.
  var encodedArray: [UInt8]? {
    guard let bytes = encoded() else { return nil }
    return bytes.withBytes { [UInt8](copying: $0) }
  }
}

extension SessionAuthorization {
  static let always = SessionAuthorization(deadline: .now.advanced(by: .seconds(1_000_000))) { true }
}

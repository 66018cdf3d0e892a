// SPDX-License-Identifier: Apache-2.0

import Enclaves
import Foundation
import Keychains
import Primitives
import Secrets
import Storage
import Testing

@testable import ProtectedData

@Suite("Older formats of protected data")
struct UpgradeTests {
  @Test("PD-07: a root secret of the first format is brought to the second, once, and nothing is lost")
  func pd07Upgrade() throws {
    let fixture = try ProtectedDataFixture()
    try Sample.store(fixture.unlocked())
    let root = try fixture.root()
    try fixture.makeFirstFormat()
    try Sample.expectStored(fixture.unlocked())

    let envelope = try #require(try RootSecretEnvelope(fixture.item(RootSecret.account) ?? []))
    #expect(try fixture.item(RootSecret.floorAccount) == [2])
    let key = try #require(fixture.enclave.created.last)
    #expect(key.access == BindingKey.access)
    #expect(envelope.bindingPublicKey == key.publicKey)
    #expect(try fixture.root().isEqual(to: root))
    #expect(try Registry(record: fixture.image.record ?? [])?.formatFloor == 2)

    let before = try fixture.content()
    try Sample.expectStored(fixture.unlocked())
    #expect(try fixture.content() == before)
    // And back again is refused.
    try fixture.keychain.save(root, forKey: RootSecret.account, accessibility: .whenUnlockedThisDeviceOnly)
    #expect(throws: ProtectedDataError.frameworkRecovery(.rootSecretDowngraded)) {
      try fixture.domains().unlock(.always)
    }
  }

  @Test("PD-07: an upgrade that is cut off anywhere is finished by the next unlocking")
  func pd07Cut() throws {
    for count in 0..<2 {
      let fixture = try ProtectedDataFixture()
      try fixture.makeFirstFormat()
      fixture.store.failUpdate(after: count)
      #expect(throws: ProtectedDataError.keychainUnavailable(.saveFailed(5))) {
        try fixture.domains().unlock(.always)
      }
      _ = try fixture.unlocked()
      #expect(try fixture.item(RootSecret.floorAccount) == [2])
      #expect(try Registry(record: fixture.image.record ?? [])?.formatFloor == 2)
    }
  }

  @Test("PD-07: without an enclave of the kind that was named nothing is upgraded, nor in another kind")
  func pd07NoEnclave() throws {
    let fixture = try ProtectedDataFixture()
    try fixture.makeFirstFormat()
    let before = try fixture.content()
    let domains = try ProtectedDomains(
      file: fixture.file, keychain: fixture.keychain, enclaves: { $0 == .software ? SoftwareEnclave() : nil },
      bindingKind: .tpm, latch: RestartLatch())
    #expect(throws: ProtectedDataError.enclaveMissing(.tpm)) { try domains.unlock(.always) }
    #expect(try fixture.content() == before)
  }

  @Test("PD-07: a root secret of the first format that fits no registry is not upgraded")
  func pd07Foreign() throws {
    let fixture = try ProtectedDataFixture()
    try fixture.makeFirstFormat()
    try fixture.set(item: RootSecret.account, [UInt8](repeating: 7, count: 32))
    let before = try fixture.content()
    #expect(throws: ProtectedDataError.frameworkRecovery(.registryTampered)) {
      try fixture.domains().unlock(.always)
    }
    #expect(try fixture.content() == before)
  }

  /// Clipboard notice, 300 s, introduced, dark, to self.
  private static let first: [UInt8] = [1, 0, 0, 1, 0x2C, 1, 3, 1]
  /// The same in schema 2: 300 s, no hints, dark, to self.
  private static let second: [UInt8] = [0, 0, 1, 0x2C, 0, 3, 1]
  /// The same in schema 3: the tutorial was not completed.
  private static let third = second + [0]

  @Test(
    "PD-12: settings of older schemas are upgraded when unlocking, and written as schema 3",
    arguments: [(1, first), (2, second)] as [(UInt16, [UInt8])])
  func pd12Upgrade(schema: UInt16, old: [UInt8]) throws {
    let fixture = try ProtectedDataFixture()
    try fixture.set(.protectedSettings, fixture.seal(old, .protectedSettings, schema: schema))
    let domains = try fixture.unlocked()
    let expected = ProtectedSettings(
      gracePeriodSeconds: 300, showsNextSteps: false, colourTheme: .dark, encryptToSelf: true)
    #expect(try domains.read() == expected)
    let row = try #require(try fixture.image.rows[.protectedSettings])
    let opened = try Finding.open(.protectedSettings, row, fixture.rootKeys())
    #expect(opened.record == DomainRecord(domain: .protectedSettings, schemaVersion: 3, generation: 2))
    #expect(opened.payload.withBytes { [UInt8](copying: $0) } == Self.third)
    #expect(try fixture.unlocked().read() == expected)
  }

  @Test("PD-12: while another process writes, settings of schema 1 wait, and nothing opens half-way")
  func pd12InUse() throws {
    let fixture = try ProtectedDataFixture()
    try fixture.set(.protectedSettings, fixture.seal(Self.first, .protectedSettings, schema: 1))
    let before = try fixture.content()
    let other = try fixture.another()
    #expect(throws: ProtectedDataError.storage(.inUse)) { try other.unlock(.always) }
    #expect(other.state == .locked)
    #expect(try fixture.content() == before)
  }

  @Test("PD-12: settings of schema 1 are read by nobody but the upgrade")
  func pd12OnlyAtUnlocking() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    try fixture.set(.protectedSettings, fixture.seal(Self.first, .protectedSettings, schema: 1))
    #expect(throws: ProtectedDataError.domainRecovery(.protectedSettings, .unknownSchema)) {
      try domains.read(ProtectedSettings.self)
    }
  }

  @Test("PD-12: settings that are missing or not those of their schema are in recovery, never defaults")
  func pd12Strict() throws {
    let fixture = try ProtectedDataFixture()
    let second = Self.second
    var wrong: [(UInt16, [UInt8], DomainFault)] = [
      (1, second, .malformed), (2, Self.first, .malformed), (2, [], .malformed),
      (2, Self.third, .malformed), (3, second, .malformed), (3, [], .malformed),
      (3, Self.third + [0], .malformed), (1, Self.first + [0], .malformed),
      // The first schema knew no theme without colours.
      (1, [1, 0, 0, 1, 0x2C, 1, 4, 1], .malformed), (1, [2, 0, 0, 1, 0x2C, 1, 3, 1], .malformed),
      (0, second, .unknownSchema), (4, Self.third, .unknownSchema), (.max, second, .unknownSchema),
    ]
    // Flags of 2, a theme that does not exist, more than an hour of grace.
    for (offset, value) in [(0, 1), (2, 0xFF), (4, 2), (5, 0), (5, 5), (6, 0xFF), (6, 2), (7, 2)]
      as [(Int, UInt8)]
    {
      var bytes = Self.third
      bytes[offset] = value
      wrong.append((3, bytes, .malformed))
      if offset < second.count { wrong.append((2, Array(bytes.dropLast()), .malformed)) }
    }
    for (schema, bytes, fault) in wrong {
      try fixture.set(.protectedSettings, fixture.seal(bytes, .protectedSettings, schema: schema))
      let before = try fixture.content()
      let domains = try fixture.domains()
      #expect(
        try domains.unlock(.always).domains[.protectedSettings] == .recovery(fault), "\(schema) \(bytes)")
      #expect(throws: ProtectedDataError.domainRecovery(.protectedSettings, fault)) {
        try domains.read(ProtectedSettings.self)
      }
      #expect(throws: ProtectedDataError.domainRecovery(.protectedSettings, fault)) {
        try domains.update(ProtectedSettings.self) { $0 = .initial }
      }
      #expect(try fixture.content() == before)
    }
    try fixture.set(.protectedSettings, nil)
    #expect(try fixture.domains().unlock(.always).domains[.protectedSettings] == .recovery(.missing))
  }

  @Test("A schema that nobody knows is that domain's recovery", arguments: ProtectedDomain.allCases)
  func unknownSchema(domain: ProtectedDomain) throws {
    let fixture = try ProtectedDataFixture()
    let payload = try #require(domain.payload.initial.encodedArray)
    try fixture.set(domain, fixture.seal(payload, domain, schema: 9))
    #expect(try fixture.domains().unlock(.always).domains[domain] == .recovery(.unknownSchema))
  }
}

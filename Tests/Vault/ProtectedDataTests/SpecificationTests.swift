// SPDX-License-Identifier: Apache-2.0
//
// The worked example of Specs/protected-data.md, which another implementation made. It is put into a coffer, and must
// open; and what is not random must come out again byte for byte.

import Enclaves
import Foundation
import OpenPGP
import Primitives
import Secrets
import SpecExamples
import Testing

@testable import ProtectedData

@Suite("Worked example of the specification of protected data")
struct SpecificationTests {
  private let page: SpecExample

  init() throws { page = try SpecExample(page: "protected-data.md") }

  private static let generations: [ProtectedDomain: UInt64] = [
    .privateKeyControl: 3, .keyMetadata: 2, .protectedSettings: 5, .contacts: 4, .frameworkSentinel: 1,
  ]

  private static let fingerprint4 = Fingerprint(bytes: Array(0xA0..<0xB4))!
  private static let fingerprint6 = Fingerprint(bytes: Array(0xB0..<0xD0))!
  private static let control = PrivateKeyControl(
    authMode: .highSecurityWithFinger,
    recoveryJournal: RecoveryJournal(
      kind: .rewrap, phase: .staging, targetMode: .highSecurityWithFinger, targetGeneration: 9,
      fingerprints: [fingerprint4, fingerprint6]))
  private static let metadata = KeyMetadata(
    identities: [
      PGPKeyIdentity(
        profile: .a, fingerprint: fingerprint4, backedUpAt: 1_759_536_002, created: 1_759_536_000,
        expires: 1_822_608_000, userIDs: ["Alice Example <alice@example.org>", "Älice"],
        revocationCertificate: Array("revocation".utf8), certificate: Array("certificate 4".utf8)),
      PGPKeyIdentity(
        profile: .b, fingerprint: fingerprint6, hasPrimaryKey: false, isImported: true, backedUpAt: nil,
        created: 1_759_536_001,
        expires: nil, userIDs: [], revocationCertificate: [], certificate: Array("certificate 6".utf8)),
    ],
    staged: [
      PGPKeyIdentity(
        profile: .other, fingerprint: fingerprint4, backedUpAt: 1_759_536_002, created: 1_759_536_000,
        expires: nil, userIDs: ["Alice"], revocationCertificate: [], certificate: Array("next 4".utf8))
    ])
  private static let settings = ProtectedSettings(
    gracePeriodSeconds: 300, showsNextSteps: false, colourTheme: .dark, encryptToSelf: true,
    hasCompletedTutorial: true)

  private func contacts() throws -> ContactsSnapshot {
    ContactsSnapshot(contacts: [
      Contact(
        id: try #require(UUID(uuidString: "5d1a4c2e-70a6-4b0f-9d53-0c3f1e2a6b7c")),
        displayName: "Bob Beispiel",
        keys: [
          Contact.Key(
            fingerprint: Self.fingerprint4, certificate: Array("certificate of Bob".utf8), state: .inUse,
            firstSeen: 1_759_536_060),
          Contact.Key(
            fingerprint: Self.fingerprint6, certificate: Array("newer certificate of Bob".utf8),
            state: .waiting, firstSeen: 1_759_536_063),
        ],
        verification: Contact.Verification(
          date: 1_759_536_061, manner: .groups, fingerprint: Self.fingerprint4),
        failedVerification: 1_759_536_062)
    ])
  }

  private func keys() throws -> RootKeys {
    let root = try page.bytes("root secret")
    return RootKeys(root.span.bytes)
  }

  @Test("The keys are derived as the page says")
  func derivation() throws {
    let keys = try keys()
    #expect(try keys.wrapping.withBytes { [UInt8](copying: $0) } == page.bytes("wrapping root key"))
    #expect(try keys.registry.withBytes { [UInt8](copying: $0) } == page.bytes("registry key"))
  }

  @Test("The envelope opens with the page's binding key, and has the one encoding")
  func envelope() throws {
    let bytes = try page.bytes("envelope")
    let envelope = try #require(RootSecretEnvelope(bytes))
    #expect(envelope.bytes == bytes)
    let handle = try page.bytes("binding handle")
    let binding = try BindingKey.load(SharedSecretBytes(SecretBytes(copying: handle.span.bytes))) { _ in
      SoftwareEnclave()
    }
    let root = try envelope.open(binding.key, in: binding.enclave)
    #expect(try root.withBytes { [UInt8](copying: $0) } == page.bytes("root secret"))
  }

  @Test("Registry and ledger come out as the page has them")
  func registry() throws {
    let entries = Dictionary(
      uniqueKeysWithValues: ProtectedDomain.allCases.map { ($0, Registry.EntryState.ready) })
    let registry = Registry(revision: 7, formatFloor: 2, entries: entries)
    let record = try page.bytes("registry")
    #expect(try registry.record(keys()) == record)
    #expect(Registry(record: record) == registry)
    let ledger = GenerationLedger(revision: 7, generations: Self.generations)
    #expect(try ledger.bytes == page.bytes("ledger"))
  }

  @Test("Every payload comes out as the page has it")
  func payloads() throws {
    func expect<Payload: ProtectedPayload>(_ value: Payload) throws {
      let written = try #require(value.encodedArray)
      #expect(try written == page.bytes("\(Payload.domain.name) payload"))
      #expect(try Payload(written.span.bytes) == value)
    }
    try expect(Self.control)
    try expect(Self.metadata)
    try expect(Self.settings)
    try expect(contacts())
    try expect(FrameworkSentinel.initial)
  }

  @Test("A coffer with the page's rows and items has the page's data, and goes on from there")
  func coffer() throws {
    let fixture = try ProtectedDataFixture(isBare: true)
    try fixture.set(record: page.bytes("registry"))
    for domain in ProtectedDomain.allCases {
      try fixture.set(
        domain,
        DomainRow(wrappedKey: page.bytes("\(domain.name) key"), payload: page.bytes("\(domain.name) row")))
      let first = 0x30 + 16 * domain.rawValue
      let key = try DomainKey.unwrap(page.bytes("\(domain.name) key"), for: domain, keys())
      #expect(key?.withBytes { [UInt8](copying: $0) } == Array(first..<first + 32))
    }
    for (account, block) in [
      (RootSecret.account, "envelope"), (BindingKey.account, "binding handle"),
      (GenerationLedger.account, "ledger"),
    ] { try fixture.set(item: account, page.bytes(block)) }
    try fixture.set(item: RootSecret.floorAccount, [2])

    let domains = try fixture.unlocked()
    #expect(try domains.read() == Self.control)
    #expect(try domains.read() == Self.metadata)
    #expect(try domains.read() == Self.settings)
    #expect(try domains.read() == contacts())
    #expect(try domains.read() == FrameworkSentinel.initial)
    try domains.update(ContactsSnapshot.self) { $0.contacts = [] }
    #expect(try fixture.unlocked().read() == ContactsSnapshot.initial)
    #expect(try fixture.ledger().generations[.contacts] == 5)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// What protected data leave in memory: after a relock, no key and no payload.

import Foundation
import MemorySearch
import Primitives
import Secrets
import Testing

@testable import ProtectedData

@Suite("What protected data leave in memory")
struct MemoryTests {
  private typealias Named = (name: String, needle: Needle)

  @Test("PD-23: after a relock, root secret, derived keys, domain keys and payloads are nowhere")
  func pd23NothingLeft() async {
    await #expect(processExitsWith: .success) {
      recordingErrors { try MemoryTests().expectGoneAfterRelock() }
    }
  }

  private func expectGoneAfterRelock() throws {
    let fixture = try ProtectedDataFixture()
    let content = try store(fixture)
    let domains = try fixture.unlocked()
    try use(domains)
    let keys = try needles(fixture)
    let wrapping = try #require(keys.first { $0.name == "wrapping root key" })
    #expect(try !ProcessMemory.places(of: wrapping.needle).isEmpty, "the search finds what is in use")
    // The root secret is gone as soon as unlocking is done (PD-18), domain keys and payloads with each call.
    for (name, needle) in keys + content where name != "wrapping root key" && name != "registry key" {
      try ProcessMemory.expectGone(needle, "\(name), unlocked")
    }
    try domains.relock()
    for (name, needle) in keys + content {
      try ProcessMemory.expectGone(needle, "\(name)")
    }
  }

  @Test("After a relock that failed, nothing is left either")
  func failedRelock() async {
    await #expect(processExitsWith: .success) {
      recordingErrors { try MemoryTests().expectGoneAfterFailedRelock() }
    }
  }

  private func expectGoneAfterFailedRelock() throws {
    struct Failing: RelockParticipant {
      func relock() throws { throw CancellationError() }
    }
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    domains.register(Failing())
    let keys = try needles(fixture).filter { $0.name == "wrapping root key" || $0.name == "registry key" }
    #expect(keys.count == 2)
    #expect(throws: ProtectedDataError.restartRequired) { try domains.relock() }
    for (name, needle) in keys { try ProcessMemory.expectGone(needle, "\(name)") }
  }

  @Test("PD-18: bringing a root secret of the first format to the second leaves none of it")
  func pd18Upgrade() async {
    await #expect(processExitsWith: .success) {
      recordingErrors { try MemoryTests().expectGoneAfterUpgrade() }
    }
  }

  private func expectGoneAfterUpgrade() throws {
    let fixture = try ProtectedDataFixture()
    try fixture.makeFirstFormat()
    let domains = try fixture.unlocked()
    for (name, needle) in try needles(fixture) where name == "root secret" {
      try ProcessMemory.expectGone(needle)
    }
    try domains.relock()
  }

  /// A contact whose certificate is random, and whose only array is overwritten once it is stored.
  @inline(never)
  private func store(_ fixture: ProtectedDataFixture) throws -> [Named] {
    let secret = SystemRandom.secretBytes(count: 48)
    var contacts = ContactsSnapshot(contacts: [
      Sample.contact(certificate: [UInt8](repeating: 0, count: 48))
    ])
    secret.withBytes { bytes in
      for offset in 0..<48 {
        contacts.contacts[0].keys[0].certificate[offset] =
          bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
      }
    }
    let domains = try fixture.unlocked()
    try domains.update(ContactsSnapshot.self) { $0.contacts = contacts.contacts }
    // This array is the only one by now, so it is overwritten in place.
    for offset in 0..<48 { contacts.contacts[0].keys[0].certificate[offset] = 0 }
    try domains.relock()
    return [(name: "certificate", needle: secret.withBytes { Needle($0) })]
  }

  /// Unlocking checks every payload; reading and changing others goes past this one.
  @inline(never)
  private func use(_ domains: ProtectedDomains) throws {
    try domains.update(ProtectedSettings.self) { $0.showsNextSteps = false }
    _ = try domains.read(KeyMetadata.self)
    _ = try domains.unlock(.always)
  }

  @inline(never)
  private func needles(_ fixture: ProtectedDataFixture) throws -> [Named] {
    let root = try fixture.root()
    let keys = root.withBytes { RootKeys($0) }
    var needles: [Named] = [
      (name: "root secret", needle: root.withBytes { Needle($0) }),
      (name: "wrapping root key", needle: keys.wrapping.withBytes { Needle($0) }),
      (name: "registry key", needle: keys.registry.withBytes { Needle($0) }),
    ]
    let image = try fixture.image
    for domain in ProtectedDataFixture.all {
      let row = try #require(image.rows[domain])
      let key = try #require(DomainKey.unwrap(row.wrappedKey, for: domain, keys))
      needles.append((name: "key of \(domain.name)", needle: key.withBytes { Needle($0) }))
    }
    return needles
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Every byte of everything that is stored, changed: refused each time, and nothing is written in its place.

import Foundation
import Primitives
import Storage
import Testing

@testable import ProtectedData

@Suite("Guarded data that somebody changed")
struct TamperingTests {
  @Test("A changed byte of the registry is an accident told before unlocking")
  func registry() throws {
    let fixture = try ProtectedDataFixture()
    let record = try #require(try fixture.image.record)
    for offset in record.indices {
      var changed = record
      changed[offset] ^= 0x10
      try fixture.set(record: changed)
      #expect(try fixture.domains().state == .frameworkRecovery(.registryCorrupt), "byte \(offset)")
    }
  }

  @Test("A registry whose digest fits again, and whose code does not, is told after")
  func registryWithDigest() throws {
    let fixture = try ProtectedDataFixture()
    let record = try #require(try fixture.image.record)
    for offset in 0..<record.count - SHA256.byteCount {
      var content = Array(record.dropLast(SHA256.byteCount))
      content[offset] ^= 0x02
      let changed = content + SHA256.hash(content.span.bytes)
      try fixture.set(record: changed)
      let before = try fixture.content()
      let domains = try fixture.domains()
      #expect(throws: (any Error).self, "byte \(offset)") { try domains.unlock(.always) }
      let expected: FrameworkFault = Registry(record: changed) == nil ? .registryCorrupt : .registryTampered
      #expect(domains.state == .frameworkRecovery(expected), "byte \(offset)")
      #expect(try fixture.content() == before)
    }
  }

  @Test(
    "A changed byte of a wrapped key or a payload is that domain's damage, and the others open",
    arguments: ProtectedDomain.allCases)
  func rows(domain: ProtectedDomain) throws {
    let fixture = try ProtectedDataFixture()
    let keys = try fixture.rootKeys()
    let row = try #require(try fixture.image.rows[domain])
    func fault(_ row: DomainRow) -> DomainState {
      Finding(domain, row, .ready, keys) { GenerationVerdict(found: $0, ledger: 1) }.state
    }
    #expect(fault(row) == .open)
    for offset in row.wrappedKey.indices {
      var changed = row
      changed.wrappedKey[offset] ^= 0x80
      #expect(fault(changed) == .recovery(.keyCorrupt), "byte \(offset)")
    }
    for offset in row.payload.indices {
      var changed = row
      changed.payload[offset] ^= 0x80
      #expect(fault(changed) == .recovery(.payloadCorrupt), "byte \(offset)")
    }
    for count in [0, 1, 18, 19, row.payload.count - 1] {
      var changed = row
      changed.payload = Array(row.payload.prefix(count))
      #expect(fault(changed) == .recovery(.payloadCorrupt), "\(count) bytes")
    }
    // And through the door, once each.
    for isKey in [true, false] {
      var changed = row
      if isKey { changed.wrappedKey[60] ^= 1 } else { changed.payload[60] ^= 1 }
      try fixture.set(domain, changed)
      let before = try fixture.content()
      let domains = try fixture.domains()
      let report = try domains.unlock(.always)
      for other in ProtectedDataFixture.all {
        let expected: DomainState =
          other != domain ? .open : .recovery(isKey ? .keyCorrupt : .payloadCorrupt)
        #expect(report.domains[other] == expected)
      }
      #expect(domains.recoveryState().steps == [.resetDomain(domain)])
      #expect(try fixture.content() == before)
    }
  }

  @Test("A changed byte of the envelope is refused as one, or by the binding key")
  func envelope() throws {
    let fixture = try ProtectedDataFixture()
    let bytes = try #require(try fixture.item(RootSecret.account))
    let binding = try RootSecret.binding(fixture.keychain) { _ in fixture.enclave }
    var opened = 0
    for offset in bytes.indices {
      for bit in [0x01, 0x40] as [UInt8] {
        var changed = bytes
        changed[offset] ^= bit
        guard let envelope = RootSecretEnvelope(changed) else { continue }
        opened += 1
        #expect(throws: (any Error).self, "byte \(offset)") {
          _ = try envelope.open(binding.key, in: binding.enclave)
        }
      }
    }
    // Salt, key check, nonce, ciphertext and tag are of any value: those came as far as the key.
    #expect(opened == 2 * (32 + 32 + 12 + 32 + 16))
    for offset in [200, bytes.count - 200] {
      var changed = bytes
      changed[offset] ^= 1
      try fixture.set(item: RootSecret.account, changed)
      let before = try fixture.content()
      let domains = try fixture.domains()
      #expect(throws: ProtectedDataError.frameworkRecovery(.rootSecretCorrupt)) {
        try domains.unlock(.always)
      }
      #expect(try fixture.content() == before)
    }
  }

  @Test("Another property list that says the same is refused")
  func otherEncodings() throws {
    let fixture = try ProtectedDataFixture()
    let bytes = try #require(try fixture.item(RootSecret.account))
    let list = Array(bytes.dropFirst(8))
    let magic = Array("CAPDSEV2".utf8)
    let dictionary = try PropertyListSerialization.propertyList(from: Data(list), format: nil)
    for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
      let other = try PropertyListSerialization.data(fromPropertyList: dictionary, format: format, options: 0)
      if Array(other) != list { #expect(RootSecretEnvelope(magic + other) == nil) }
    }
    var more = try #require(BinaryPropertyList.dictionary(list))
    #expect(RootSecretEnvelope(magic + BinaryPropertyList.bytes(of: more)) != nil)
    for (key, value) in [
      ("more", PropertyListValue.integer(1)), ("aadVersion", .integer(2)), ("aadVersion", .data([1])),
      ("algorithmID", .string("p256-ecdh-hkdf-sha256-aes-gcm-v2")), ("salt", .data([1])),
      ("nonce", .string("abcdefghijkl")), ("bindingPublicKey", .data([UInt8](repeating: 4, count: 65))),
    ] {
      let former = more.updateValue(value, forKey: key)
      #expect(RootSecretEnvelope(magic + BinaryPropertyList.bytes(of: more)) == nil, "\(key)")
      more[key] = former
    }
    more["tag"] = nil
    #expect(RootSecretEnvelope(magic + BinaryPropertyList.bytes(of: more)) == nil)
  }

  @Test("An envelope of another coffer, with its handle, opens and fits no registry")
  func otherCoffer() throws {
    let (fixture, other) = try (ProtectedDataFixture(), ProtectedDataFixture())
    for account in [RootSecret.account, BindingKey.account] {
      try fixture.set(item: account, other.item(account))
    }
    let before = try fixture.content()
    let domains = try fixture.domains()
    #expect(throws: ProtectedDataError.frameworkRecovery(.registryTampered)) { try domains.unlock(.always) }
    #expect(try fixture.content() == before)
  }
}

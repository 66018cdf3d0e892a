// SPDX-License-Identifier: Apache-2.0
//
// The bytes of payloads: what is written is read, and nothing else is.

import Foundation
import OpenPGP
import Primitives
import Testing

@testable import ProtectedData

@Suite("Payloads of the domains")
struct PayloadTests {
  private func bytes(_ payload: some ProtectedPayload) throws -> [UInt8] {
    try #require(payload.encodedArray)
  }

  private func read<Payload: ProtectedPayload>(_ bytes: [UInt8]) -> Payload? {
    try? Payload(bytes.span.bytes)
  }

  /// Reading gives the value back; every shorter, and one longer, sequence is refused; and whatever else is read is
  /// written again as the same bytes.
  private func expectStrict<Payload: ProtectedPayload>(_ payload: Payload) throws {
    let whole = try bytes(payload)
    #expect(read(whole) == payload)
    for count in 0..<whole.count {
      #expect(throws: MalformedPayload.self) { try Payload.check(Array(whole.prefix(count)).span.bytes) }
    }
    #expect(throws: MalformedPayload.self) { try Payload.check((whole + [0]).span.bytes) }
    for offset in whole.indices {
      for mask in [0x01, 0x02, 0x80, 0xFF] as [UInt8] {
        var changed = whole
        changed[offset] ^= mask
        let isAccepted = (try? Payload.check(changed.span.bytes)) != nil
        let other: Payload? = read(changed)
        #expect(isAccepted == (other != nil), "byte \(offset)")
        if let other {
          #expect(other != payload)
          #expect(try bytes(other) == changed, "byte \(offset)")
        }
      }
    }
  }

  @Test(
    "PD-10 to PD-14: the domains have the names of the requirements, and the numbers and schemas that are stored"
  )
  func pd10Domains() {
    let expected: [(String, UInt8, UInt16)] = [
      ("private-key-control", 1, 1), ("key-metadata", 2, 1), ("protected-settings", 3, 3), ("contacts", 4, 2),
      ("protected-framework-sentinel", 5, 1),
    ]
    #expect(ProtectedDomain.allCases.count == expected.count)
    for (name, number, schema) in expected {
      let domain = ProtectedDomain(name: name)
      #expect(domain?.rawValue == number)
      #expect(domain?.name == name)
      #expect(domain?.payload.domain == domain)
      #expect(domain?.payload.schemaVersion == schema)
    }
    #expect(ProtectedDomain(name: "settings") == nil)
  }

  @Test("PD-14: the sentinel holds its purpose and nothing else")
  func pd14Sentinel() {
    #expect(FrameworkSentinel.initial.encodedArray == Array("coffer protected data framework sentinel".utf8))
    #expect(throws: MalformedPayload.self) {
      let other = Array("coffer protected data framework sentinel!".utf8)
      try FrameworkSentinel.check(other.span.bytes)
    }
  }

  @Test("Each payload is read strictly and written as it was read")
  func strict() throws {
    try expectStrict(Sample.control)
    try expectStrict(PrivateKeyControl.initial)
    try expectStrict(Sample.metadata)
    try expectStrict(KeyMetadata.initial)
    try expectStrict(Sample.settings)
    try expectStrict(ProtectedSettings.initial)
    try expectStrict(Sample.contacts)
    try expectStrict(ContactsSnapshot.initial)
    try expectStrict(FrameworkSentinel.initial)
  }

  @Test("Every mode, kind and phase is written, and no other number is read")
  func numbers() throws {
    for mode in PrivateKeyControl.AuthMode.allCases {
      for kind in RecoveryJournal.Kind.allCases {
        for phase in RecoveryJournal.Phase.allCases {
          let control = PrivateKeyControl(
            authMode: mode,
            recoveryJournal: RecoveryJournal(
              kind: kind, phase: phase, targetMode: mode, targetGeneration: .max, fingerprints: []))
          #expect(try read(bytes(control)) == control)
        }
      }
    }
    let whole = try bytes(Sample.control)
    for (offset, highest) in [(0, 4), (1, 1), (2, 5), (3, 2), (4, 4)] {
      for value in [0, highest + 1, 255] where !(offset == 1 && value == 0) {
        var changed = whole
        changed[offset] = UInt8(value)
        let other: PrivateKeyControl? = read(changed)
        #expect(other == nil, "\(offset) \(value)")
      }
    }
  }

  @Test("A name that is not UTF-8, a key that is there twice and an expiry before creation are refused")
  func rules() throws {
    var contact = Sample.contacts.contacts[0]
    contact.displayName = "x"
    var whole = try bytes(ContactsSnapshot(contacts: [contact]))
    let name = try #require(whole.lastIndex(of: UInt8(ascii: "x")))
    for byte in [0x80, 0xC0, 0xFF] as [UInt8] {
      whole[name] = byte
      #expect(throws: MalformedPayload.self) { try ContactsSnapshot.check(whole.span.bytes) }
    }
    #expect(ContactsSnapshot(contacts: [contact, contact]).encodedArray == nil)
    contactRules()
    var identity = Sample.metadata.identities[0]
    identity.expires = identity.created
    #expect(KeyMetadata(identities: [identity]).encodedArray == nil)
    identity.expires = identity.created + 1
    #expect(KeyMetadata(identities: [identity]).encodedArray != nil)
    #expect(KeyMetadata(identities: [identity, identity]).encodedArray == nil)
    var control = Sample.control
    control.recoveryJournal?.fingerprints += [Sample.fingerprint(4, count: 20)]
    #expect(control.encodedArray == nil)
  }

  /// One key in use or none, which alone may be verified, and no key of two contacts.
  private func contactRules() {
    let bob = Sample.contacts.contacts[0]
    func isAccepted(_ contacts: Contact...) -> Bool {
      ContactsSnapshot(contacts: contacts).encodedArray != nil
    }
    #expect(isAccepted(bob))
    var other = Sample.contact(certificate: [])
    other.keys.append(bob.keys[2])
    #expect(isAccepted(other) && !isAccepted(bob, other))
    var two = bob
    two.keys[0].state = .inUse
    #expect(!isAccepted(two))
    var unused = bob
    unused.keys[1].state = .former
    #expect(!isAccepted(unused))
    unused.verification = nil
    #expect(isAccepted(unused))
    var wrong = bob
    wrong.verification?.fingerprint = bob.keys[0].fingerprint
    #expect(!isAccepted(wrong))
  }

  @Test("Each limit can be reached and not passed")
  func limits() throws {
    func identity(_ number: Int) -> PGPKeyIdentity {
      var identity = Sample.metadata.identities[1]
      let start = [UInt8(number & 255), UInt8(number >> 8)]
      identity.fingerprint = Fingerprint(version: 6, bytes: start + [UInt8](repeating: 6, count: 30))
      return identity
    }
    func isAccepted(_ change: (inout PGPKeyIdentity) -> Void) -> Bool {
      var identity = identity(1)
      change(&identity)
      return KeyMetadata(identities: [identity]).encodedArray != nil
    }
    func text(_ count: Int) -> String { String(repeating: "a", count: count) }
    func blob(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }
    #expect(KeyMetadata(identities: (0..<256).map(identity)).encodedArray != nil)
    #expect(KeyMetadata(identities: (0..<257).map(identity)).encodedArray == nil)
    #expect(isAccepted { $0.userIDs = Array(repeating: "", count: 64) })
    #expect(!isAccepted { $0.userIDs = Array(repeating: "", count: 65) })
    #expect(!isAccepted { $0.userIDs = Array(repeating: "", count: 65_536 + 1) })
    #expect(isAccepted { $0.userIDs = [text(1024)] })
    #expect(!isAccepted { $0.userIDs = [text(1025)] })
    #expect(!isAccepted { $0.userIDs = [text(65_536 + 3)] })
    #expect(isAccepted { $0.revocationCertificate = blob(1 << 15) })
    #expect(!isAccepted { $0.revocationCertificate = blob((1 << 15) + 1) })
    #expect(isAccepted { $0.certificate = blob(1 << 18) })
    #expect(!isAccepted { $0.certificate = blob((1 << 18) + 1) })
    func contacts(_ count: Int) -> ContactsSnapshot {
      ContactsSnapshot(
        contacts: (0..<count).map { _ in Sample.contact(certificate: []) })
    }
    func keys(_ count: Int) -> ContactsSnapshot {
      var contact = Sample.contact(certificate: [])
      contact.keys = (0..<count).map { _ in
        var key = Sample.contact(certificate: []).keys[0]
        key.state = .former
        return key
      }
      return ContactsSnapshot(contacts: [contact])
    }
    #expect(keys(0).encodedArray == nil)
    #expect(keys(16).encodedArray != nil)
    #expect(keys(17).encodedArray == nil)
    #expect(contacts(4096).encodedArray != nil)
    #expect(contacts(4097).encodedArray == nil)
  }
}

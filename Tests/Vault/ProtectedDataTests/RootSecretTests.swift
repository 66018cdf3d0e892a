// SPDX-License-Identifier: Apache-2.0
//
// How the root secret is sealed, and each rule under which it is not fetched (PD-02 to PD-07).

import Enclaves
import Foundation
import Keychains
import Primitives
import Secrets
import Storage
import Testing
import UserAuthentication

@testable import ProtectedData

@Suite("The root secret fails closed")
struct RootSecretTests {
  @Test("PD-02: the root secret is stored only as the envelope of the second format")
  func pd02Envelope() throws {
    let fixture = try ProtectedDataFixture()
    let item = try #require(try fixture.item(RootSecret.account))
    #expect(item.starts(with: Array("CAPDSEV2".utf8)))
    let list = try PropertyListSerialization.propertyList(from: Data(item.dropFirst(8)), format: nil)
    let found = try #require(list as? [String: Any])
    #expect(
      found.keys.sorted() == [
        "aadVersion", "algorithmID", "bindingPublicKey", "ciphertext", "ephemeralPublicKey", "keyCheck",
        "nonce", "salt", "tag",
      ])
    #expect(found["algorithmID"] as? String == "p256-ecdh-hkdf-sha256-aes-gcm-v1")
    #expect(found["aadVersion"] as? Int == 1)
    #expect((found["bindingPublicKey"] as? Data).map(Array.init) == fixture.enclave.created[0].publicKey)
    let root = try fixture.root()
    for line in try fixture.content() {
      #expect(!line.contains(root.withBytes { Data([UInt8](copying: $0)).base64EncodedString() }))
    }
  }

  @Test("PD-03: every envelope has an ephemeral key of its own, never the binding key itself")
  func pd03Ephemeral() throws {
    let (one, other) = try (ProtectedDataFixture(), ProtectedDataFixture())
    let keys = try [one, other].map { fixture in
      let item = try #require(try fixture.item(RootSecret.account))
      let found = try #require(BinaryPropertyList.dictionary(Array(item.dropFirst(8))))
      #expect(found["ephemeralPublicKey"] != found["bindingPublicKey"])
      return found["ephemeralPublicKey"]
    }
    #expect(keys[0] != keys[1])
  }

  @Test("PD-04: what is derived and what is authenticated name the version and both public keys")
  func pd04Bound() throws {
    let key = try SoftwareEnclave().createKey(
      use: .agreement, access: BindingKey.access, enrolment: KeyEnrolment())
    let secret = [UInt8](repeating: 3, count: 32)
    let list = try RootSecretEnvelope.seal(secret.span.bytes, to: key).bytes.dropFirst(8)
    let found = try #require(BinaryPropertyList.dictionary(Array(list)))
    func data(_ name: String) -> [UInt8] {
      if case .data(let bytes) = found[name] { bytes } else { [] }
    }
    let sealed = EnclaveSealed(
      ephemeralKey: data("ephemeralPublicKey"), salt: data("salt"), keyCheck: data("keyCheck"),
      nonce: data("nonce"), ciphertext: data("ciphertext") + data("tag"))
    func error(
      version: UInt8 = 1, binding: [UInt8]? = nil, ephemeral: [UInt8]? = nil
    ) -> EnclaveSealingError? {
      let sealing = EnclaveSealing(label: Array("CAPDSEV2".utf8)) { ephemeralKey, salt in
        let bound = [ephemeral ?? ephemeralKey, binding ?? key.publicKey].flatMap {
          SHA256.hash($0.span.bytes)
        }
        let head = Array("CAPDSEV2p256-ecdh-hkdf-sha256-aes-gcm-v1".utf8) + [0, version] + bound + salt
        return SecretBytes(copying: head.span.bytes)
      }
      do {
        let opened = try sealing.open(sealed, key, in: SoftwareEnclave(), authorization: .none)
        #expect(opened.withBytes { [UInt8](copying: $0) } == secret)
        return nil
      } catch { return error }
    }
    #expect(error() == nil)
    #expect(error(version: 2) == .wrongKey)
    #expect(error(binding: sealed.ephemeralKey) == .wrongKey)
    #expect(error(ephemeral: key.publicKey) == .wrongKey)
  }

  @Test(
    "PD-05: the binding key asks for nothing, and one that asks for more, or lies elsewhere, is never used")
  func pd05AccessFlags() throws {
    let fixture = try ProtectedDataFixture()
    let key = fixture.enclave.created[0]
    #expect(key.use == .agreement)
    #expect(key.access == AccessControl(.whenPasscodeSetThisDeviceOnly, requirement: .none))
    #expect(try fixture.item(BindingKey.account) == key.dataRepresentation)

    let root = try fixture.root()
    let passcode = SharedSecretBytes(SecretBytes(copying: Array("2580".utf8).span.bytes))
    for (protection, requirement) in [
      (AccessControl.Protection.whenPasscodeSetThisDeviceOnly, AccessControl.Requirement.devicePasscode),
      (.whenUnlockedThisDeviceOnly, .none), (.afterFirstUnlockThisDeviceOnly, .none),
    ] {
      // The root secret is sealed to it in due form.
      let other = try SoftwareEnclave().createKey(
        use: .agreement, access: AccessControl(protection, requirement: requirement),
        enrolment: KeyEnrolment(passcode: requirement == .none ? nil : .typed(passcode)))
      let envelope = try root.withBytes { bytes in try RootSecretEnvelope.seal(bytes, to: other) }
      try fixture.set(item: RootSecret.account, envelope.bytes)
      try fixture.set(item: BindingKey.account, other.dataRepresentation)
      fixture.enclave.forget()
      try fixture.expectRefusal(.frameworkRecovery(.bindingKeyUnusable))
      #expect(fixture.enclave.agreements == 0)
    }
    let signing = try SoftwareEnclave().createKey(
      use: .signing, access: BindingKey.access, enrolment: KeyEnrolment())
    try fixture.set(item: BindingKey.account, signing.dataRepresentation)
    try fixture.expectRefusal(.frameworkRecovery(.bindingKeyUnusable))
  }

  @Test("PD-06: without its binding key, protected data refuse and change nothing on disk")
  func pd06MissingBindingKey() throws {
    let fixture = try ProtectedDataFixture()
    try fixture.set(item: BindingKey.account, nil)
    try fixture.expectRefusal(.frameworkRecovery(.bindingKeyMissing))
  }

  @Test("PD-06: a binding key that is damaged, another one, or of another chip is unusable")
  func pd06UnusableBindingKey() throws {
    let fixture = try ProtectedDataFixture()
    let handle = try #require(try fixture.item(BindingKey.account))
    var damaged = handle
    damaged[100] ^= 1
    let other = try BindingKey.create(in: SoftwareEnclave())
    for bytes in [damaged, other.key.dataRepresentation, []] {
      try fixture.set(item: BindingKey.account, bytes)
      try fixture.expectRefusal(.frameworkRecovery(.bindingKeyUnusable))
    }
    try fixture.set(item: BindingKey.account, handle)
    for error in [EnclaveError.otherChip, .corrupt] {
      fixture.enclave.fail(error)
      try fixture.expectRefusal(.frameworkRecovery(.bindingKeyUnusable))
      fixture.enclave.fail(nil)
      fixture.enclave.failAgreement(error)
      try fixture.expectRefusal(.frameworkRecovery(.bindingKeyUnusable))
      fixture.enclave.failAgreement(nil)
    }
    _ = try fixture.unlocked()
  }

  @Test("PD-06: an enclave that is missing or does not answer is not damage, and nothing takes its place")
  func pd06EnclaveAway() throws {
    let fixture = try ProtectedDataFixture()
    let asked = Guarded<[EnclaveKind]>([])
    try fixture.expectRefusal(
      .enclaveMissing(.software),
      enclaves: {
        let kind = $0
        asked.change { $0.append(kind) }
        return nil
      })
    #expect(asked.value == [.software])
    for error in [
      EnclaveError.unavailable, .notAnswering, .lockedOut(secondsLeft: 3), .failed(code: 1),
    ] {
      fixture.enclave.fail(error)
      try fixture.expectRefusal(.enclave(error))
      fixture.enclave.fail(nil)
      fixture.enclave.failAgreement(error)
      try fixture.expectRefusal(.enclave(error))
      fixture.enclave.failAgreement(nil)
    }
    _ = try fixture.unlocked()
  }

  @Test("PD-07: a root secret of the first format is refused once the second was reached, whoever says so")
  func pd07Downgrade() throws {
    let fixture = try ProtectedDataFixture()
    let root = try fixture.root().withBytes { [UInt8](copying: $0) }
    try fixture.set(item: RootSecret.account, root)
    // Marker and registry say 2.
    try fixture.expectRefusal(.frameworkRecovery(.rootSecretDowngraded))
    // The registry alone.
    try fixture.set(item: RootSecret.floorAccount, nil)
    try fixture.expectRefusal(.frameworkRecovery(.rootSecretDowngraded))
    // The marker alone, of whatever value.
    let keys = root.withUnsafeBytes { RootKeys($0.bytes) }
    var registry = try #require(try Registry(record: fixture.image.record ?? []))
    registry.formatFloor = 1
    try fixture.set(record: registry.record(keys))
    for marker in [[2], [1], [], [2, 0]] as [[UInt8]] {
      try fixture.set(item: RootSecret.floorAccount, marker)
      try fixture.expectRefusal(.frameworkRecovery(.rootSecretDowngraded))
    }
  }

  @Test("PD-07: an envelope whose floor marker is missing or another is refused")
  func pd07Marker() throws {
    let fixture = try ProtectedDataFixture()
    for marker in [nil, [1], [3], [], [2, 2]] as [[UInt8]?] {
      try fixture.set(item: RootSecret.floorAccount, marker)
      try fixture.expectRefusal(.frameworkRecovery(.formatFloorInconsistent))
    }
  }

  @Test("PD-07: a root secret that is missing, or of no known format, is told apart")
  func pd07Corrupt() throws {
    let fixture = try ProtectedDataFixture()
    let envelope = try #require(try fixture.item(RootSecret.account))
    for bytes in [
      [], [UInt8](repeating: 1, count: 31), [UInt8](repeating: 1, count: 33), envelope + [0],
      Array(envelope.dropLast()), Array("CAPDSEV1".utf8) + envelope.dropFirst(8),
    ] {
      try fixture.set(item: RootSecret.account, bytes)
      try fixture.expectRefusal(.frameworkRecovery(.rootSecretCorrupt))
    }
    try fixture.set(item: RootSecret.account, nil)
    try fixture.expectRefusal(.frameworkRecovery(.rootSecretMissing))
  }
}

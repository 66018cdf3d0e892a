// SPDX-License-Identifier: Apache-2.0

import Enclaves
import Foundation
import Keychains
import OpenPGP
import Primitives
import ProtectedData
import Secrets
import Testing

@testable import KeyCustody

@Suite("Custody of private keys")
struct CustodyTests {
  @Test("What was wrapped comes back byte for byte, and nothing of it stands in the file")
  func roundTrip() throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(3)
    for number in 0..<3 {
      #expect(try fixture.read(number, fixture.passcode) == CustodyFixture.secret(number))
      #expect(throws: CustodyError.passcodeRequired) { try fixture.read(number, fixture.finger()) }
    }
    #expect(try fixture.custody.fingerprints() == (0..<3).map { CustodyFixture.fingerprint($0) })
    #expect(try fixture.custody.mode() == .standard)
    #expect(try fixture.pendingCount() == 0)
    #expect(fixture.records.journal == nil)
    fixture.file.close()
    let bytes = try Data(contentsOf: URL(filePath: fixture.home.path + "/coffer.db"))
    #expect(bytes.range(of: Data(CustodyFixture.secret(1).prefix(20))) == nil)
  }

  @Test("A key of version 6 keeps its payload and its fingerprint of 32 bytes")
  func version6() throws {
    let fixture = try CustodyFixture()
    let fingerprint = CustodyFixture.fingerprint(7, .transferableSecretKeyV6)
    let secret = CustodyFixture.secret(7)
    try fixture.custody.wrap(
      SecretBytes(copying: secret.span.bytes), .transferableSecretKeyV6, fingerprint, fixture.passcode)
    let (found, payload) = try fixture.custody.withPrivateKey(fingerprint, fixture.passcode) {
      secret, payload in
      ([UInt8](copying: secret), payload)
    }
    #expect(found == secret)
    #expect(payload == .transferableSecretKeyV6)
  }

  @Test("Without what the mode asks for nothing opens, and each refusal has its name")
  func refusals() throws {
    let fixture = try CustodyFixture()
    try fixture.wrapWithFinger(1)
    let stranger = CustodyAuthorization(owner: SharedSecretBytes(SystemRandom.secretBytes(count: 32)))
    #expect(throws: CustodyError.passcodeRequired) { try fixture.read(0, CustodyAuthorization()) }
    #expect(throws: CustodyError.enclave(.wrongPasscode)) { try fixture.read(0, stranger) }
    #expect(throws: CustodyError.missing) { try fixture.read(1, fixture.passcode) }
    let otherKey = try FingerKey(FingerKey.generate()).verifier(until: .now.advanced(by: .seconds(6_000)))
    #expect(throws: CustodyError.enclave(.biometryRefused)) {
      try fixture.read(0, CustodyAuthorization(finger: otherKey))
    }
    let late = try CustodyItems(fixture.keychain).fingerKey().verifier(until: .now)
    #expect(throws: CustodyError.enclave(.biometryRefused)) {
      try fixture.read(0, CustodyAuthorization(finger: late))
    }
    let locked = CustodyFixture.custody(
      fixture.file, KeychainService(keychain: fixture.store, keys: fixture.keys.locked()), fixture.records,
      fixture.enclave)
    #expect(throws: CustodyError.locked) {
      try locked.withPrivateKey(CustodyFixture.fingerprint(0), fixture.passcode) { _, _ in }
    }
  }

  @Test("An envelope whose enclave is not here says so, and nothing falls back")
  func otherKind() throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(1)
    let elsewhere = PrivateKeyCustody(
      file: fixture.file, keychain: fixture.keychain, records: fixture.records, enclave: fixture.enclave
    ) { _ in nil }
    let before = try fixture.items()
    #expect(throws: CustodyError.enclave(.unavailable)) {
      try elsewhere.withPrivateKey(CustodyFixture.fingerprint(0), fixture.passcode) { _, _ in }
    }
    #expect(throws: CustodyError.enclave(.unavailable)) {
      try elsewhere.switchMode(to: .standard, fixture.passcode)
    }
    #expect(try fixture.items() == before)
  }

  @Test("A second key of the same fingerprint is refused, an import takes its place")
  func existing() throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(2)
    let secret = CustodyFixture.secret(0, edition: 1)
    #expect(throws: CustodyError.alreadyExists) {
      try fixture.custody.wrap(
        SecretBytes(copying: secret.span.bytes), .transferableSecretKeyV4, CustodyFixture.fingerprint(0),
        fixture.passcode)
    }
    #expect(try fixture.read(0, fixture.passcode) == CustodyFixture.secret(0))
    let third = CustodyFixture.secret(3)
    try fixture.custody.importKeys(
      [
        (
          SharedSecretBytes(SecretBytes(copying: secret.span.bytes)), .transferableSecretKeyV4,
          CustodyFixture.fingerprint(0)
        ),
        (
          SharedSecretBytes(SecretBytes(copying: third.span.bytes)), .transferableSecretKeyV4,
          CustodyFixture.fingerprint(3)
        ),
      ], fixture.passcode)
    #expect(try fixture.read(0, fixture.passcode) == secret)
    #expect(try fixture.read(1, fixture.passcode) == CustodyFixture.secret(1))
    #expect(try fixture.read(3, fixture.passcode) == third)
    #expect(fixture.failing.plan.withLock { $0.deleted.count } == 1)
  }

  @Test("A new expiry replaces one key and leaves the others alone")
  func replaced() throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(3)
    let before = try fixture.items()
    try fixture.custody.replace(CustodyFixture.fingerprint(1), fixture.passcode) { present in
      #expect([UInt8](copying: present) == CustodyFixture.secret(1))
      let next = CustodyFixture.secret(1, edition: 9)
      return SecretBytes(copying: next.span.bytes)
    }
    #expect(try fixture.read(1, fixture.passcode) == CustodyFixture.secret(1, edition: 9))
    let after = try fixture.items()
    for number in [0, 2] {
      let account = CustodyItems.Place.permanent.account(CustodyFixture.fingerprint(number))
      #expect(after[account] == before[account])
    }
    struct Given: Error {}
    let unchanged = try fixture.items()
    #expect(throws: Given.self) {
      try fixture.custody.replace(CustodyFixture.fingerprint(1), fixture.passcode) { _ in throw Given() }
    }
    #expect(try fixture.items() == unchanged)
    #expect(fixture.records.journal == nil)
  }

  @Test("A deleted key is gone from the items and the enclave, also when its envelope is damaged")
  func deleted() throws {
    let fixture = try CustodyFixture()
    try fixture.wrap(3)
    let account = CustodyItems.Place.permanent.account(CustodyFixture.fingerprint(2))
    try fixture.change(account) { Array($0.dropLast()) }
    #expect(throws: CustodyError.corrupt) { try fixture.read(2, fixture.passcode) }
    for number in [1, 2] { try fixture.custody.delete(CustodyFixture.fingerprint(number)) }
    #expect(throws: CustodyError.missing) { try fixture.custody.delete(CustodyFixture.fingerprint(1)) }
    #expect(throws: CustodyError.missing) { try fixture.read(1, fixture.passcode) }
    #expect(try fixture.custody.fingerprints() == [CustodyFixture.fingerprint(0)])
    #expect(try fixture.items().keys.filter { $0.contains("se-key.") }.count == 1)
    #expect(fixture.failing.plan.withLock { $0.deleted.count } == 1)
    #expect(try fixture.read(0, fixture.passcode) == CustodyFixture.secret(0))
  }

  @Test("A private key that is empty, huge or of another version's fingerprint is refused")
  func invalidInput() throws {
    let fixture = try CustodyFixture()
    let before = try fixture.items()
    for byteCount in [0, PrivateKeyEnvelope.secretByteCountLimit + 1] {
      #expect(throws: CustodyError.invalidInput) {
        try fixture.custody.wrap(
          SecretBytes(zeroed: byteCount), .transferableSecretKeyV4, CustodyFixture.fingerprint(0),
          fixture.passcode)
      }
    }
    #expect(throws: CustodyError.invalidInput) {
      try fixture.custody.wrap(
        SecretBytes(zeroed: 10), .transferableSecretKeyV6, CustodyFixture.fingerprint(0), fixture.passcode)
    }
    #expect(try fixture.items() == before)
    #expect(Fingerprint(bytes: [1, 2, 3]) == nil)
  }

  @Test("A missing manifest or finger key is damage, never an empty custody")
  func missingItems() throws {
    for account in [CustodyManifest.account, FingerKey.account] {
      let fixture = try CustodyFixture()
      try fixture.wrap(1)
      try fixture.change(account) { _ in nil }
      #expect(throws: CustodyError.corrupt) { try fixture.wrap(2) }
    }
    let fixture = try CustodyFixture()
    try fixture.wrap(1)
    try fixture.change(CustodyManifest.account) { _ in nil }
    #expect(throws: CustodyError.corrupt) { try fixture.custody.fingerprints() }
  }
}

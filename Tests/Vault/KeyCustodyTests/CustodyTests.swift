// SPDX-License-Identifier: Apache-2.0

import Enclaves
import Foundation
import Keychains
import Primitives
import ProtectedData
import Secrets
import Testing

@testable import KeyCustody

@Suite("Custody of private keys")
struct CustodyTests {
  @Test("What was wrapped comes back byte for byte, and nothing of it stands in the file")
  func roundTrip() throws {
    let made = try MadeCustody()
    try made.wrap(3)
    for number in 0..<3 {
      #expect(try made.read(number, made.passcode) == MadeCustody.secret(number))
      #expect(try made.read(number, made.finger()) == MadeCustody.secret(number))
    }
    #expect(try made.custody.fingerprints() == (0..<3).map { MadeCustody.fingerprint($0) })
    #expect(try made.custody.mode() == .standard)
    #expect(try made.pendingCount() == 0)
    #expect(made.records.journal == nil)
    made.file.close()
    let bytes = try Data(contentsOf: URL(filePath: made.home.path + "/coffer.db"))
    #expect(bytes.range(of: Data(MadeCustody.secret(1).prefix(20))) == nil)
  }

  @Test("A key of version 6 keeps its payload and its fingerprint of 32 bytes")
  func version6() throws {
    let made = try MadeCustody()
    let fingerprint = MadeCustody.fingerprint(7, .transferableSecretKeyV6)
    let secret = MadeCustody.secret(7)
    try made.custody.wrap(
      SecretBytes(copying: secret.span.bytes), .transferableSecretKeyV6, fingerprint, made.passcode)
    let (found, payload) = try made.custody.withPrivateKey(fingerprint, made.passcode) { secret, payload in
      ([UInt8](copying: secret), payload)
    }
    #expect(found == secret)
    #expect(payload == .transferableSecretKeyV6)
  }

  @Test("Without what the mode asks for nothing opens, and each refusal has its name")
  func refusals() throws {
    let made = try MadeCustody()
    try made.wrap(1)
    let stranger = CustodyAuthorization(owner: SharedSecretBytes(SystemRandom.secretBytes(count: 32)))
    #expect(throws: CustodyError.passcodeRequired) { try made.read(0, CustodyAuthorization()) }
    #expect(throws: CustodyError.enclave(.wrongPasscode)) { try made.read(0, stranger) }
    #expect(throws: CustodyError.missing) { try made.read(1, made.passcode) }
    let otherKey = try FingerKey(FingerKey.generate()).verifier(until: .now.advanced(by: .seconds(60)))
    #expect(throws: CustodyError.enclave(.biometryRefused)) {
      try made.read(0, CustodyAuthorization(finger: otherKey))
    }
    let late = try CustodyItems(made.keychain).fingerKey().verifier(until: .now)
    #expect(throws: CustodyError.enclave(.biometryRefused)) {
      try made.read(0, CustodyAuthorization(finger: late))
    }
    let locked = MadeCustody.custody(
      made.file, KeychainService(keychain: made.store, keys: made.keys.locked()), made.records, made.enclave)
    #expect(throws: CustodyError.locked) {
      try locked.withPrivateKey(MadeCustody.fingerprint(0), made.passcode) { _, _ in }
    }
  }

  @Test("An envelope whose enclave is not here says so, and nothing falls back")
  func otherKind() throws {
    let made = try MadeCustody()
    try made.wrap(1)
    let elsewhere = PrivateKeyCustody(
      file: made.file, keychain: made.keychain, records: made.records, enclave: made.enclave
    ) { _ in nil }
    let before = try made.items()
    #expect(throws: CustodyError.enclave(.unavailable)) {
      try elsewhere.withPrivateKey(MadeCustody.fingerprint(0), made.passcode) { _, _ in }
    }
    #expect(throws: CustodyError.enclave(.unavailable)) {
      try elsewhere.switchMode(to: .standard, made.passcode)
    }
    #expect(try made.items() == before)
  }

  @Test("A second key of the same fingerprint is refused, an import takes its place")
  func existing() throws {
    let made = try MadeCustody()
    try made.wrap(2)
    let secret = MadeCustody.secret(0, edition: 1)
    #expect(throws: CustodyError.alreadyExists) {
      try made.custody.wrap(
        SecretBytes(copying: secret.span.bytes), .transferableSecretKeyV4, MadeCustody.fingerprint(0),
        made.passcode)
    }
    #expect(try made.read(0, made.passcode) == MadeCustody.secret(0))
    let third = MadeCustody.secret(3)
    try made.custody.importKeys(
      [
        (
          SharedSecretBytes(SecretBytes(copying: secret.span.bytes)), .transferableSecretKeyV4,
          MadeCustody.fingerprint(0)
        ),
        (
          SharedSecretBytes(SecretBytes(copying: third.span.bytes)), .transferableSecretKeyV4,
          MadeCustody.fingerprint(3)
        ),
      ], made.passcode)
    #expect(try made.read(0, made.passcode) == secret)
    #expect(try made.read(1, made.passcode) == MadeCustody.secret(1))
    #expect(try made.read(3, made.passcode) == third)
    #expect(made.failing.plan.withLock { $0.deleted.count } == 1)
  }

  @Test("A new expiry replaces one key and leaves the others alone")
  func replaced() throws {
    let made = try MadeCustody()
    try made.wrap(3)
    let before = try made.items()
    try made.custody.replace(MadeCustody.fingerprint(1), made.passcode) { present in
      #expect([UInt8](copying: present) == MadeCustody.secret(1))
      let next = MadeCustody.secret(1, edition: 9)
      return SecretBytes(copying: next.span.bytes)
    }
    #expect(try made.read(1, made.passcode) == MadeCustody.secret(1, edition: 9))
    let after = try made.items()
    for number in [0, 2] {
      let account = CustodyItems.Place.permanent.account(MadeCustody.fingerprint(number))
      #expect(after[account] == before[account])
    }
    struct Given: Error {}
    let unchanged = try made.items()
    #expect(throws: Given.self) {
      try made.custody.replace(MadeCustody.fingerprint(1), made.passcode) { _ in throw Given() }
    }
    #expect(try made.items() == unchanged)
    #expect(made.records.journal == nil)
  }

  @Test("A deleted key is gone from the items and the enclave, also when its envelope is damaged")
  func deleted() throws {
    let made = try MadeCustody()
    try made.wrap(3)
    let account = CustodyItems.Place.permanent.account(MadeCustody.fingerprint(2))
    try made.change(account) { Array($0.dropLast()) }
    #expect(throws: CustodyError.corrupt) { try made.read(2, made.passcode) }
    for number in [1, 2] { try made.custody.delete(MadeCustody.fingerprint(number)) }
    #expect(throws: CustodyError.missing) { try made.custody.delete(MadeCustody.fingerprint(1)) }
    #expect(throws: CustodyError.missing) { try made.read(1, made.passcode) }
    #expect(try made.custody.fingerprints() == [MadeCustody.fingerprint(0)])
    #expect(try made.items().keys.filter { $0.contains("se-key.") }.count == 1)
    #expect(made.failing.plan.withLock { $0.deleted.count } == 1)
    #expect(try made.read(0, made.passcode) == MadeCustody.secret(0))
  }

  @Test("A private key that is empty, huge or of another version's fingerprint is refused")
  func invalidInput() throws {
    let made = try MadeCustody()
    let before = try made.items()
    for byteCount in [0, PrivateKeyEnvelope.secretByteCountLimit + 1] {
      #expect(throws: CustodyError.invalidInput) {
        try made.custody.wrap(
          SecretBytes(zeroed: byteCount), .transferableSecretKeyV4, MadeCustody.fingerprint(0), made.passcode)
      }
    }
    #expect(throws: CustodyError.invalidInput) {
      try made.custody.wrap(
        SecretBytes(zeroed: 10), .transferableSecretKeyV6, MadeCustody.fingerprint(0), made.passcode)
    }
    #expect(try made.items() == before)
    #expect(KeyFingerprint([1, 2, 3]) == nil)
  }

  @Test("A missing manifest or finger key is damage, never an empty custody")
  func missingItems() throws {
    for account in [CustodyManifest.account, FingerKey.account] {
      let made = try MadeCustody()
      try made.wrap(1)
      try made.change(account) { _ in nil }
      #expect(throws: CustodyError.corrupt) { try made.wrap(2) }
    }
    let made = try MadeCustody()
    try made.wrap(1)
    try made.change(CustodyManifest.account) { _ in nil }
    #expect(throws: CustodyError.corrupt) { try made.custody.fingerprints() }
  }
}

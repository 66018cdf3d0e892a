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
  /// Unlocks, and expects this error and no change of anything stored.
  private func expectRefusal(
    _ expected: ProtectedDataError, _ bench: ProtectedBench, keychain: KeychainService? = nil,
    enclaves: (@Sendable (EnclaveKind) -> (any Enclave)?)? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try bench.content()
    let domains = try bench.domains(keychain: keychain, enclaves: enclaves)
    #expect(throws: expected, sourceLocation: sourceLocation) { try domains.unlock(.always) }
    #expect(throws: (any Error).self, sourceLocation: sourceLocation) {
      try domains.read(ProtectedSettings.self)
    }
    #expect(throws: (any Error).self, sourceLocation: sourceLocation) {
      try domains.update(ProtectedSettings.self) { $0.tutorialCompleted = true }
    }
    #expect(try bench.content() == before, sourceLocation: sourceLocation)
    if case .frameworkRecovery(let fault) = expected {
      #expect(domains.state == .frameworkRecovery(fault), sourceLocation: sourceLocation)
      #expect(domains.recoveryState().steps == [.resetFramework], sourceLocation: sourceLocation)
    } else {
      #expect(domains.state == .locked, sourceLocation: sourceLocation)
    }
  }

  @Test("PD-02: the root secret is stored only as the envelope of the second format")
  func pd02Envelope() throws {
    let bench = try ProtectedBench()
    let item = try #require(try bench.item(RootSecret.account))
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
    #expect((found["bindingPublicKey"] as? Data).map(Array.init) == bench.enclave.created[0].publicKey)
    let root = try bench.root()
    for line in try bench.content() {
      #expect(!line.contains(root.withBytes { Data([UInt8](copying: $0)).base64EncodedString() }))
    }
  }

  @Test("PD-03: every envelope has an ephemeral key of its own, never the binding key itself")
  func pd03Ephemeral() throws {
    let (one, other) = try (ProtectedBench(), ProtectedBench())
    let keys = try [one, other].map { bench in
      let item = try #require(try bench.item(RootSecret.account))
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
        return Array("CAPDSEV2p256-ecdh-hkdf-sha256-aes-gcm-v1".utf8) + [0, version] + bound + salt
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

  @Test("PD-05: the binding key asks for nothing, and one that asks for a passcode is refused")
  func pd05AccessFlags() throws {
    let bench = try ProtectedBench()
    let key = bench.enclave.created[0]
    #expect(key.use == .agreement)
    #expect(key.access == AccessControl(.whenPasscodeSetThisDeviceOnly, requirement: .none))
    #expect(try bench.item(BindingKey.account) == key.dataRepresentation)

    let passcode = SharedSecret(SecretBytes(copying: Array("2580".utf8).span.bytes))
    let other = try SoftwareEnclave().createKey(
      use: .agreement, access: AccessControl(.whenPasscodeSetThisDeviceOnly, requirement: .devicePasscode),
      enrolment: KeyEnrolment(passcode: .typed(passcode)))
    try bench.set(item: BindingKey.account, other.dataRepresentation)
    try expectRefusal(.frameworkRecovery(.bindingKeyUnusable), bench)
    for (use, protection) in [
      (EnclaveKeyUse.signing, AccessControl.Protection.whenPasscodeSetThisDeviceOnly),
      (.agreement, .whenUnlockedThisDeviceOnly), (.agreement, .afterFirstUnlockThisDeviceOnly),
    ] {
      let other = try SoftwareEnclave().createKey(
        use: use, access: AccessControl(protection), enrolment: KeyEnrolment())
      try bench.set(item: BindingKey.account, other.dataRepresentation)
      try expectRefusal(.frameworkRecovery(.bindingKeyUnusable), bench)
    }
  }

  @Test("PD-06: without its binding key, protected data refuse and change nothing on disk")
  func pd06MissingBindingKey() throws {
    let bench = try ProtectedBench()
    try bench.set(item: BindingKey.account, nil)
    try expectRefusal(.frameworkRecovery(.bindingKeyMissing), bench)
  }

  @Test("PD-06: a binding key that is damaged, another one, or of another chip is unusable")
  func pd06UnusableBindingKey() throws {
    let bench = try ProtectedBench()
    let handle = try #require(try bench.item(BindingKey.account))
    var damaged = handle
    damaged[100] ^= 1
    let other = try BindingKey.create(in: SoftwareEnclave())
    for bytes in [damaged, other.key.dataRepresentation, []] {
      try bench.set(item: BindingKey.account, bytes)
      try expectRefusal(.frameworkRecovery(.bindingKeyUnusable), bench)
    }
    try bench.set(item: BindingKey.account, handle)
    for error in [EnclaveError.otherChip, .corrupt] {
      bench.enclave.fail(error)
      try expectRefusal(.frameworkRecovery(.bindingKeyUnusable), bench)
    }
    bench.enclave.fail(nil)
    _ = try bench.unlocked()
  }

  @Test("PD-06: an enclave that is missing or does not answer is no damage, and nothing takes its place")
  func pd06EnclaveAway() throws {
    let bench = try ProtectedBench()
    let asked = Protected<[EnclaveKind]>([])
    try expectRefusal(
      .enclaveMissing(.software), bench,
      enclaves: {
        let kind = $0
        asked.change { $0.append(kind) }
        return nil
      })
    #expect(asked.value == [.software])
    for error in [
      EnclaveError.unavailable, .notAnswering, .lockedOut(secondsLeft: 3), .failed(code: 1),
    ] {
      bench.enclave.fail(error)
      try expectRefusal(.enclave(error), bench)
    }
    bench.enclave.fail(nil)
    _ = try bench.unlocked()
  }

  @Test("PD-07: a root secret of the first format is refused once the second was reached, whoever says so")
  func pd07Downgrade() throws {
    let bench = try ProtectedBench()
    let root = try bench.root().withBytes { [UInt8](copying: $0) }
    try bench.set(item: RootSecret.account, root)
    // Marker and registry say 2.
    try expectRefusal(.frameworkRecovery(.rootSecretDowngraded), bench)
    // The registry alone.
    try bench.set(item: RootSecret.floorAccount, nil)
    try expectRefusal(.frameworkRecovery(.rootSecretDowngraded), bench)
    // The marker alone, of whatever value.
    let keys = root.withUnsafeBytes { RootKeys($0.bytes) }
    var registry = try #require(try Registry(record: bench.image.record ?? []))
    registry.formatFloor = 1
    try bench.set(record: registry.record(keys))
    for marker in [[2], [1], [], [2, 0]] as [[UInt8]] {
      try bench.set(item: RootSecret.floorAccount, marker)
      try expectRefusal(.frameworkRecovery(.rootSecretDowngraded), bench)
    }
  }

  @Test("PD-07: an envelope whose floor marker is missing or another is refused")
  func pd07Marker() throws {
    let bench = try ProtectedBench()
    for marker in [nil, [1], [3], [], [2, 2]] as [[UInt8]?] {
      try bench.set(item: RootSecret.floorAccount, marker)
      try expectRefusal(.frameworkRecovery(.formatFloorInconsistent), bench)
    }
  }

  @Test("PD-07: a root secret that is missing, or of no known format, is told apart")
  func pd07Corrupt() throws {
    let bench = try ProtectedBench()
    let envelope = try #require(try bench.item(RootSecret.account))
    for bytes in [
      [], [UInt8](repeating: 1, count: 31), [UInt8](repeating: 1, count: 33), envelope + [0],
      Array(envelope.dropLast()), Array("CAPDSEV1".utf8) + envelope.dropFirst(8),
    ] {
      try bench.set(item: RootSecret.account, bytes)
      try expectRefusal(.frameworkRecovery(.rootSecretCorrupt), bench)
    }
    try bench.set(item: RootSecret.account, nil)
    try expectRefusal(.frameworkRecovery(.rootSecretMissing), bench)
  }

  @Test("PD-08: a locked keychain is locked, one that does not answer is that, and neither is damage")
  func pd08Keychain() throws {
    let bench = try ProtectedBench()
    let locked = KeychainService(keychain: bench.store, keys: bench.keys.locked())
    try expectRefusal(.keychainLocked, bench, keychain: locked)
    for (error, expected) in [
      (KeychainError.locked, ProtectedDataError.keychainLocked),
      (.loadFailed(10), .keychainUnavailable(status: 10)),
      (.serviceUnavailable, .keychainUnavailable(status: 0)),
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
      try expectRefusal(.frameworkRecovery(fault), bench)
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
    try expectRefusal(.frameworkRecovery(.registryTampered), bench)
  }

  @Test("PD-22: a ledger that is missing or damaged is the framework's damage")
  func pd22Ledger() throws {
    let bench = try ProtectedBench()
    let ledger = try bench.ledger().bytes
    for bytes in [[], ledger + [0], Array(ledger.dropLast())] {
      try bench.set(item: GenerationLedger.account, bytes)
      try expectRefusal(.frameworkRecovery(.ledgerCorrupt), bench)
    }
    try bench.set(item: GenerationLedger.account, nil)
    try expectRefusal(.frameworkRecovery(.ledgerMissing), bench)
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

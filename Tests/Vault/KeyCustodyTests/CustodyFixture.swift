// SPDX-License-Identifier: Apache-2.0
//
// A custody to test, with the person whom it belongs to, and stores, enclaves and records that fail on demand.

import Enclaves
import Foundation
import Keychains
import OpenPGP
import Primitives
import ProtectedData
import Secrets
import Storage
import Synchronization
import TemporaryHomes
import UserAuthentication

@testable import KeyCustody

/// The journal, in memory, that can be made to fail.
final class NotedRecords: CustodyRecords {
  static let refusal = ProtectedDataError.storage(.full)

  struct State {
    var control = PrivateKeyControl.initial
    var metadata = KeyMetadata.initial
    /// Calls that write before one fails; nil for never.
    var writesLeft: Int?
  }

  let state = Mutex(State())

  var journal: RecoveryJournal? { state.withLock { $0.control.recoveryJournal } }
  var mode: AuthenticationMode { state.withLock { $0.control.authMode } }

  func control() throws(ProtectedDataError) -> PrivateKeyControl { state.withLock { $0.control } }

  func changeControl(_ change: (inout PrivateKeyControl) -> Void) throws(ProtectedDataError) {
    try write { change(&$0.control) }
  }

  func metadata() throws(ProtectedDataError) -> KeyMetadata { state.withLock { $0.metadata } }

  func changeMetadata(_ change: (inout KeyMetadata) -> Void) throws(ProtectedDataError) {
    try write { change(&$0.metadata) }
  }

  /// Notes that a backup was made of these keys.
  func noteBackup(_ numbers: some Sequence<Int>) {
    state.withLock { state in
      state.metadata.identities = numbers.map { number in
        PGPKeyIdentity(
          profile: .a, fingerprint: CustodyFixture.fingerprint(number),
          backedUpAt: 1,
          created: 0, expires: nil, userIDs: [], revocationCertificate: [], certificate: [])
      }
    }
  }

  private func write(_ change: (inout State) -> Void) throws(ProtectedDataError) {
    try state.withLock { state throws(ProtectedDataError) in
      if let left = state.writesLeft {
        guard left > 0 else { throw Self.refusal }
        state.writesLeft = left - 1
      }
      change(&state)
    }
  }
}

/// A keychain that takes a number of batches and then none; and that may fail after it has written.
final class FailingKeychain: Keychain {
  private let below: any Keychain
  struct Plan {
    var batchesLeft: Int?
    var failsAfterWriting = false
  }
  let plan = Mutex(Plan())

  init(_ below: any Keychain) { self.below = below }

  func items() throws(KeychainError) -> [SealedItem] { try below.items() }

  func update(
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError) {
    let (fails, writes) = plan.withLock { plan -> (Bool, Bool) in
      guard let left = plan.batchesLeft else { return (false, true) }
      plan.batchesLeft = max(left - 1, 0)
      return (left == 0, left > 0 || plan.failsAfterWriting)
    }
    if writes { try below.update(body) }
    if fails { throw .saveFailed(10) }
  }
}

/// An enclave that makes a number of keys and then none, or agrees on nonsense.
final class FailingEnclave: Enclave {
  let kind = EnclaveKind.software
  private let below = SoftwareEnclave()
  struct Plan {
    var keysLeft: Int?
    var agreementsLeft: Int?
    var deleted: [[UInt8]] = []
  }
  let plan = Mutex(Plan())

  func checkAvailability() throws(EnclaveError) {}
  func checkReadiness() throws(EnclaveError) {}

  func createKey(
    use: EnclaveKeyUse, access: AccessControl, enrolment: KeyEnrolment
  ) throws(EnclaveError) -> EnclaveKey {
    let mayGoOn = plan.withLock { plan in
      guard let left = plan.keysLeft else { return true }
      plan.keysLeft = max(left - 1, 0)
      return left > 0
    }
    guard mayGoOn else { throw .notAnswering }
    return try below.createKey(use: use, access: access, enrolment: enrolment)
  }

  func loadKey(_ handle: RawSpan) throws(EnclaveError) -> EnclaveKey {
    try below.loadKey(handle)
  }

  func deleteKey(_ key: EnclaveKey) throws(EnclaveError) {
    plan.withLock { $0.deleted.append(key.publicKey) }
  }

  func sharedSecret(
    _ key: EnclaveKey, with publicKey: [UInt8], authorization: KeyAuthorization
  ) throws(EnclaveError) -> SecretBytes {
    let mayGoOn = plan.withLock { plan in
      guard let left = plan.agreementsLeft else { return true }
      plan.agreementsLeft = max(left - 1, 0)
      return left > 0
    }
    guard mayGoOn else { throw .notAnswering }
    return try below.sharedSecret(key, with: publicKey, authorization: authorization)
  }

  func signature(
    _ key: EnclaveKey, digest: [UInt8], authorization: KeyAuthorization
  ) throws(EnclaveError) -> [UInt8] {
    try below.signature(key, digest: digest, authorization: authorization)
  }
}

/// A custody, in a coffer's file of its own.
final class CustodyFixture {
  let home: TemporaryHome
  let file: DatabaseFile
  let keys: ClassKeys
  let store: FailingKeychain
  let keychain: KeychainService
  let records = NotedRecords()
  let enclave: any Enclave
  let custody: PrivateKeyCustody
  let owner = SharedSecretBytes(SystemRandom.secretBytes(count: 32))

  init(_ enclave: any Enclave = FailingEnclave()) throws {
    home = try TemporaryHome()
    keys = ClassKeys(
      whenUnlocked: SharedSecretBytes(SystemRandom.secretBytes(count: 32)),
      afterFirstUnlock: SharedSecretBytes(SystemRandom.secretBytes(count: 32)))
    let keys = keys
    file = try DatabaseFile.create(home: home.path) { file in
      let keychain = KeychainService(keychain: FileKeychain(file), keys: keys)
      try keychain.prepare()
      try PrivateKeyCustody.prepare(keychain)
    }
    store = FailingKeychain(FileKeychain(file))
    keychain = KeychainService(keychain: store, keys: keys)
    self.enclave = enclave
    custody = Self.custody(file, keychain, records, enclave)
  }

  static func custody(
    _ file: DatabaseFile, _ keychain: KeychainService, _ records: any CustodyRecords, _ enclave: any Enclave
  ) -> PrivateKeyCustody {
    PrivateKeyCustody(file: file, keychain: keychain, records: records, enclave: enclave) { kind in
      kind == enclave.kind ? enclave : nil
    }
  }

  var failing: FailingEnclave { enclave as! FailingEnclave }

  // MARK: The person

  /// The passphrase was typed.
  var passcode: CustodyAuthorization { CustodyAuthorization(owner: owner) }

  /// A finger was recognised.
  func finger() throws -> CustodyAuthorization {
    CustodyAuthorization(finger: try verifier())
  }

  func both() throws -> CustodyAuthorization {
    CustodyAuthorization(finger: try verifier(), owner: owner)
  }

  func verifier() throws -> FingerVerifier {
    try CustodyItems(keychain).fingerKey().verifier(until: .now.advanced(by: .seconds(6_000)))
  }

  // MARK: Keys

  static func fingerprint(_ number: Int, _ payload: PrivateKeyPayload = .transferableSecretKeyV4)
    -> Fingerprint
  {
    var bytes = [UInt8](repeating: 0x5A, count: payload.fingerprintByteCount)
    bytes[0] = UInt8(number >> 8)
    bytes[1] = UInt8(number & 255)
    return Fingerprint(bytes: bytes)!
  }

  /// What a private key of this number is: told from any other.
  static func secret(_ number: Int, edition: UInt8 = 0) -> [UInt8] {
    (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number &* 7) } + [edition]
  }

  /// Keys of mode *standard*, with fingers switched on.
  func wrapWithFinger(_ count: Int) throws {
    try custody.switchMode(to: .standardWithFinger, both())
    try wrap(count)
  }

  func wrap(_ count: Int) throws {
    for number in 0..<count {
      let secret = Self.secret(number)
      try custody.wrap(
        SecretBytes(copying: secret.span.bytes), .transferableSecretKeyV4, Self.fingerprint(number),
        try both())
    }
  }

  func read(_ number: Int, _ authorization: CustodyAuthorization) throws -> [UInt8] {
    try custody.withPrivateKey(Self.fingerprint(number), authorization) { secret, _ in
      [UInt8](copying: secret)
    }
  }

  /// All items below the sealing, by name: what the store would show to whoever has the class key.
  func items() throws -> [String: [UInt8]] {
    try keychain.secrets(in: .whenUnlockedThisDeviceOnly) { _ in true }
      .mapValues { $0.withBytes { [UInt8](copying: $0) } }
  }

  func change(_ account: String, _ change: ([UInt8]) -> [UInt8]?) throws {
    let current = try items()[account] ?? []
    guard let next = change(current) else { return try keychain.apply([.delete(account: account)]) }
    try keychain.save(
      SecretBytes(copying: next.span.bytes), forKey: account, accessibility: .whenUnlockedThisDeviceOnly)
  }

  /// The modes that the keys in their enclaves have.
  func modesOfKeys() throws -> Set<AuthenticationMode> {
    let items = try CustodyItems(keychain)
    return Set(try items.manifest.digests.keys.map { try items.envelope($0).mode })
  }

  func pendingCount() throws -> Int { try CustodyItems(keychain).pendingAccounts.count }
}

extension PrivateKeyEnvelope {
  /// What is stored, as bytes that tests can change.
  var storedBytes: [UInt8] { bytes().withBytes { [UInt8](copying: $0) } }
}

// SPDX-License-Identifier: Apache-2.0
//
// Identities in a coffer's file of their own, with stores that stop writing on demand, as a process that ends does.

import Enclaves
import Foundation
import Identities
import KeyCustody
import Keychains
import OpenPGP
import Primitives
import ProtectedData
import Secrets
import Storage
import Synchronization
import TemporaryHomes

/// Counts the writes of all stores together: after so many, none is made any more.
final class WriteBudget: Sendable {
  private let left = Mutex<Int?>(nil)

  func set(_ count: Int?) { left.withLock { $0 = count } }

  /// Whether the next write may be made.
  func take() -> Bool {
    left.withLock { left in
      guard let count = left else { return true }
      left = max(count - 1, 0)
      return count > 0
    }
  }
}

/// Mode, journal and metadata, in memory.
final class LimitedRecords: CustodyRecords {
  struct State {
    var control = PrivateKeyControl.initial
    var metadata = KeyMetadata.initial
  }
  private let state = Mutex(State())
  private let budget: WriteBudget

  init(_ budget: WriteBudget) { self.budget = budget }

  func control() throws(ProtectedDataError) -> PrivateKeyControl { state.withLock { $0.control } }
  func metadata() throws(ProtectedDataError) -> KeyMetadata { state.withLock { $0.metadata } }
  func changeControl(_ change: (inout PrivateKeyControl) -> Void) throws(ProtectedDataError) {
    guard budget.take() else { throw .storage(.full) }
    state.withLock { change(&$0.control) }
  }
  func changeMetadata(_ change: (inout KeyMetadata) -> Void) throws(ProtectedDataError) {
    guard budget.take() else { throw .storage(.full) }
    state.withLock { change(&$0.metadata) }
  }
}

final class LimitedKeychain: Keychain {
  private let below: any Keychain
  private let budget: WriteBudget

  init(_ below: any Keychain, _ budget: WriteBudget) {
    self.below = below
    self.budget = budget
  }

  func items() throws(KeychainError) -> [SealedItem] { try below.items() }

  func update(
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError) {
    guard budget.take() else { throw .saveFailed(10) }
    try below.update(body)
  }
}

final class IdentityFixture {
  static let now: Int64 = 1_800_000_000
  let home: TemporaryHome
  let file: DatabaseFile
  let keychain: KeychainService
  let budget = WriteBudget()
  let records: LimitedRecords
  let custody: PrivateKeyCustody
  let store: IdentityStore
  private let owner = SharedSecretBytes(SystemRandom.secretBytes(count: 32))

  init() throws {
    home = try TemporaryHome()
    let keys = ClassKeys(
      whenUnlocked: SharedSecretBytes(SystemRandom.secretBytes(count: 32)),
      afterFirstUnlock: SharedSecretBytes(SystemRandom.secretBytes(count: 32)))
    file = try DatabaseFile.create(home: home.path) { file in
      let keychain = KeychainService(keychain: FileKeychain(file), keys: keys)
      try keychain.prepare()
      try PrivateKeyCustody.prepare(keychain)
    }
    keychain = KeychainService(keychain: LimitedKeychain(FileKeychain(file), budget), keys: keys)
    records = LimitedRecords(budget)
    let enclave = SoftwareEnclave()
    custody = PrivateKeyCustody(file: file, keychain: keychain, records: records, enclave: enclave) { kind in
      kind == enclave.kind ? enclave : nil
    }
    store = IdentityStore(custody, records)
  }

  /// The passphrase was typed.
  var passcode: CustodyAuthorization { CustodyAuthorization(owner: owner) }

  static func wanted(
    _ userIDs: String..., isUniversal: Bool = true, expiry: NewIdentity.Expiry = NewIdentity.defaultExpiry
  ) throws -> NewIdentity {
    try NewIdentity(
      userIDs: userIDs.map { try UserIDText(new: $0) }, isUniversal: isUniversal, expiry: expiry)
  }

  func generate(
    _ userID: String, isUniversal: Bool = true, expiry: NewIdentity.Expiry = NewIdentity.defaultExpiry
  ) throws -> Identity {
    try store.generate(
      Self.wanted(userID, isUniversal: isUniversal, expiry: expiry), passcode, at: Self.now)
  }

  func all() throws -> [Identity] { try store.all(at: Self.now) }

  /// The private part as custody lends it.
  func privatePart(_ identity: Identity) throws -> TransferableSecretKey {
    try custody.withPrivateKey(identity.certificate.fingerprint, passcode) { bytes, _ in
      try TransferableSecretKey.readAll(
        MemorySource(SharedSecretBytes(SecretBytes(copying: bytes))))[0]
    }
  }

  /// The fingerprints that are listed, and those in custody.
  func found() throws -> (listed: Set<Fingerprint>, kept: Set<Fingerprint>) {
    (Set(try records.identities().map(\.fingerprint)), Set(try custody.fingerprints()))
  }
}

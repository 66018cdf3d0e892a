// SPDX-License-Identifier: Apache-2.0
//
// A coffer with protected data, and people with keys.

import Enclaves
import Keychains
import OpenPGP
import Primitives
import ProtectedData
import Secrets
import Storage
import TemporaryHomes

@testable import Contacts

/// A coffer with a store of contacts.
final class ContactsFixture {
  static let now = Timestamp(secondsSince1970: 1_800_000_000)
  private static let day: UInt32 = 86_400

  let home: TemporaryHome
  let file: DatabaseFile
  let domains: ProtectedDomains
  let store: ContactStore
  private let keys: ClassKeys

  init() throws {
    home = try TemporaryHome()
    let keys = ClassKeys(
      whenUnlocked: SharedSecretBytes(SystemRandom.secretBytes(count: 32)),
      afterFirstUnlock: SharedSecretBytes(SystemRandom.secretBytes(count: 32)))
    self.keys = keys
    file = try DatabaseFile.create(home: home.path) { file in
      let keychain = KeychainService(keychain: FileKeychain(file), keys: keys)
      try keychain.prepare()
      try ProtectedDomains.create(file: file, keychain: keychain, enclave: SoftwareEnclave())
    }
    domains = try Self.unlocked(file, keys)
    store = ContactStore(domains)
  }

  /// The same coffer, opened by the next process.
  func reopened() throws -> ContactStore { ContactStore(try Self.unlocked(file, keys)) }

  private static func unlocked(_ file: DatabaseFile, _ keys: ClassKeys) throws -> ProtectedDomains {
    let domains = try ProtectedDomains(
      file: file, keychain: KeychainService(keychain: FileKeychain(file), keys: keys),
      enclaves: { $0 == .software ? SoftwareEnclave() : nil }, bindingKind: .software,
      latch: RestartLatch())
    _ = try domains.unlock(SessionAuthorization(deadline: .now.advanced(by: .seconds(1_000_000))) { true })
    return domains
  }

  /// A time so many days before now.
  static func before(days: UInt32) -> Timestamp {
    Timestamp(secondsSince1970: now.secondsSince1970 - days * day)
  }

  static func after(days: UInt32) -> Timestamp {
    Timestamp(secondsSince1970: now.secondsSince1970 + days * day)
  }

  /// Imports certificates as a pipe does, with these decisions.
  @discardableResult
  func take(_ certificates: Certificate..., name: String? = nil, decision: NewKeyDecision = .keep) throws
    -> [ContactPreview]
  {
    let parts = try Self.parts(certificates)
    let previews = try store.preview(parts, at: Self.now) { _ in decision }
    try store.store(
      parts, as: previews, name: name, decisions: previews.map { _ in decision }, at: Self.now)
    return previews
  }

  static func parts(_ certificates: [Certificate]) throws -> PublicParts {
    let sink = ArraySink()
    for certificate in certificates { try certificate.write(to: sink) }
    return try PublicParts(secret(sink.bytes))
  }

  /// A signature as a file of its own.
  static func bytes(_ signature: Signature) -> [UInt8] {
    let sink = ArraySink()
    try? Packet.signature(signature).write(to: sink)
    return sink.bytes
  }

  static func packet(_ signature: Signature) -> SharedSecretBytes { secret(bytes(signature)) }

  static func secret(_ bytes: [UInt8]) -> SharedSecretBytes {
    SharedSecretBytes(SecretBytes(copying: bytes.span.bytes))
  }
}

/// Somebody with an OpenPGP key.
struct Person {
  let key: TransferableSecretKey

  init(_ userIDs: String..., isAdvanced: Bool = false) throws {
    key = try KeyGeneration(
      isAdvanced ? .advanced : .universal, userIDs: userIDs.map { UserID($0) },
      creationTime: ContactsFixture.before(days: 100)
    ).generate()
  }

  var certificate: Certificate { key.certificate }

  func signer() throws -> UnlockedKey {
    try key.unlocked(certificate.fingerprint, for: .certify, passwords: [])
  }

  /// The certificate, judged some days before now, to be changed by its holder.
  func valid(daysAgo: UInt32 = 10) -> ValidCertificate {
    let time = ContactsFixture.before(days: daysAgo)
    return ValidCertificate(certificate, at: time, now: time, policy: .standard)
  }
}

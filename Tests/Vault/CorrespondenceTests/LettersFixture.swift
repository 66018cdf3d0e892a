// SPDX-License-Identifier: Apache-2.0
//
// A coffer with contacts and identities, and people with keys of every kind.

import Contacts
import Correspondence
import Enclaves
import Identities
import KeyCustody
import Keychains
import OpenPGP
import Primitives
import ProtectedData
import Secrets
import Storage
import TemporaryHomes

/// A coffer with custody and contacts.
final class LettersFixture {
  static let now = Timestamp(secondsSince1970: 1_800_000_000)
  private static let day: UInt32 = 86_400

  let home: TemporaryHome
  let file: DatabaseFile
  let domains: ProtectedDomains
  let custody: PrivateKeyCustody
  let contacts: ContactStore
  let identities: IdentityStore
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
      try ProtectedDomains.create(file: file, keychain: keychain, enclave: SoftwareEnclave())
    }
    let keychain = KeychainService(keychain: FileKeychain(file), keys: keys)
    domains = try ProtectedDomains(
      file: file, keychain: keychain, enclaves: { $0 == .software ? SoftwareEnclave() : nil })
    _ = try domains.unlock(SessionAuthorization(deadline: .now.advanced(by: .seconds(1_000_000))) { true })
    let enclave = SoftwareEnclave()
    custody = PrivateKeyCustody(file: file, keychain: keychain, records: domains, enclave: enclave) { kind in
      kind == enclave.kind ? enclave : nil
    }
    contacts = ContactStore(domains)
    identities = IdentityStore(custody, domains)
  }

  static func before(days: UInt32) -> Timestamp {
    Timestamp(secondsSince1970: now.secondsSince1970 - days * day)
  }

  static func after(days: UInt32) -> Timestamp {
    Timestamp(secondsSince1970: now.secondsSince1970 + days * day)
  }

  func book(at time: Timestamp = now) throws -> AddressBook {
    AddressBook(
      contacts: try contacts.certificates(at: time),
      identities: try identities.all(at: Int64(time.secondsSince1970)), at: time)
  }

  /// An identity that was made 100 days ago.
  @discardableResult
  func identity(
    _ userID: String, isUniversal: Bool = true, expiry: NewIdentity.Expiry = .never
  ) throws -> Identity {
    try identities.generate(
      NewIdentity(userIDs: [UserIDText(new: userID)], isUniversal: isUniversal, expiry: expiry),
      CustodyAuthorization(owner: owner), at: Int64(Self.before(days: 100).secondsSince1970))
  }

  /// Stores a certificate as a contact.
  /// A file with a certificate.
  static func parts(_ certificate: Certificate) throws -> PublicParts {
    let sink = ArraySink()
    try certificate.write(to: sink)
    return try PublicParts(SharedSecretBytes(SecretBytes(copying: sink.bytes.span.bytes)))
  }

  /// Stores a contact with this certificate.
  func store(_ certificate: Certificate, decision: NewKeyDecision = .keep) throws {
    let parts = try Self.parts(certificate)
    let previews = try contacts.preview(parts, at: Self.now) { _ in decision }
    try contacts.store(parts, as: previews, decisions: [decision], at: Self.now)
  }

  /// Verifies the key in use of the contact that `who` means.
  func verify(_ who: String) throws {
    let contact = try contacts.find(who, at: Self.now)
    try contacts.finish(try contacts.challenge(contact.id), .wholeFingerprint, at: Self.now)
  }

  /// Lends private parts as custody does, and counts how often.
  func lender(counting count: Counter = Counter()) -> PrivatePartLender {
    let (custody, authorization) = (custody, CustodyAuthorization(owner: owner))
    return { fingerprint, body in
      count.value += 1
      try custody.withPrivateKey(fingerprint, authorization) { bytes, _ in try body(bytes) }
    }
  }

  final class Counter {
    var value = 0
  }
}

/// Somebody with an OpenPGP key, made 100 days ago.
struct Correspondee {
  var key: TransferableSecretKey

  init(_ userID: String, isAdvanced: Bool = false, days: UInt32? = nil) throws {
    var generation = KeyGeneration(
      isAdvanced ? .advanced : .universal, userIDs: [UserID(userID)],
      creationTime: LettersFixture.before(days: 100))
    generation.validitySeconds = days.map { $0 * 86_400 }
    key = try generation.generate()
  }

  var certificate: Certificate { key.certificate }

  func primary() throws -> UnlockedKey {
    try key.unlocked(certificate.fingerprint, for: .certify, passwords: [])
  }

  /// The key that signs documents.
  func signer(at time: Timestamp = LettersFixture.before(days: 90)) throws -> UnlockedKey {
    let valid = ValidCertificate(certificate, at: time, now: time, policy: .standard)
    return try key.unlocked(try valid.signingKeys()[0].fingerprint, for: .sign, passwords: [])
  }

  func signature(
    over text: String, at time: Timestamp = LettersFixture.before(days: 1)
  ) throws -> Signature {
    try DetachedSigning([signer()], time: time).sign(MemorySource(Array(text.utf8)))[0]
  }

  /// The certificate with a revocation of the whole key.
  func revoked(_ code: RevocationReason.Code, at time: Timestamp) throws -> Certificate {
    let signature = try certificate.revocation(
      of: .primaryKey, reason: RevocationReason(code), at: time, by: primary())
    var changed = certificate
    changed.signatures.append(signature)
    return changed
  }
}

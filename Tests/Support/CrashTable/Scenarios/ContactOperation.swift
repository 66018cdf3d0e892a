// SPDX-License-Identifier: Apache-2.0
//
// A file with another key for a contact and somebody new is taken over: both or neither.

import Contacts
import CrashDisk
import Enclaves
import Keychains
import OpenPGP
import ProtectedData
import Secrets

final class ContactOperation: CrashScenario {
  let operation = "contact import"
  var store: String { kind.name }
  private let kind: KeychainKind

  init(_ kind: KeychainKind) { self.kind = kind }

  // MARK: What there is

  private static let now = Timestamp(secondsSince1970: 1_800_000_000)

  private static func certificate(_ userID: String) throws -> Certificate {
    try KeyGeneration(
      .universal, userIDs: [UserID(userID)],
      creationTime: Timestamp(secondsSince1970: now.secondsSince1970 - 86_400)
    ).generate().certificate
  }

  private struct People {
    let (eve, eveLater, bob): (Certificate, Certificate, Certificate)
  }

  /// The same for every run.
  private static let people = Result {
    People(
      eve: try certificate("Eve <eve@example.org>"), eveLater: try certificate("Eve <eve@example.org>"),
      bob: try certificate("Bob <bob@example.org>"))
  }

  private static func take(_ certificates: [Certificate], _ store: ContactStore) throws {
    let sink = ArraySink()
    for certificate in certificates { try certificate.write(to: sink) }
    let parts = try PublicParts(SharedSecretBytes(SecretBytes(copying: sink.bytes.span.bytes)))
    let previews = try store.preview(parts, at: now) { _ in .use }
    try store.store(parts, as: previews, decisions: previews.map { _ in .use }, at: now)
  }

  // MARK: The operation

  func prepare(_ home: String) throws {
    try OpenKeychain.create(home, kind) { opened in
      try ProtectedDomains.create(file: opened.file, keychain: opened.keychain, enclave: SoftwareEnclave())
    }
    let (opened, domains) = try open(home)
    _ = try domains.unlock(.always)
    let contacts = ContactStore(domains)
    try Self.take([Self.people.get().eve], contacts)
    let eve = try contacts.find("eve", at: Self.now)
    try contacts.finish(contacts.challenge(eve.id), .groups, at: Self.now)
    opened.file.close()
  }

  func open(_ home: String) throws -> (OpenKeychain, ProtectedDomains) {
    let opened = try OpenKeychain.open(home, kind)
    return (opened, try opened.protectedDomains())
  }

  func operate(_ store: (OpenKeychain, ProtectedDomains)) throws {
    _ = try store.1.unlock(.always)
    let people = try Self.people.get()
    try Self.take([people.eveLater, people.bob], ContactStore(store.1))
  }

  func judge(_ store: (OpenKeychain, ProtectedDomains)) throws -> CrashVerdict {
    guard try store.1.unlock(.always).domains[.contacts] == .open else {
      throw CrashFinding.lost("the contacts do not open")
    }
    let people = try Self.people.get()
    let found = try ContactStore(store.1).list(at: Self.now)
    let keys = found.map { $0.keys.map { [$0.summary.fingerprint: $0.state] } }
    let isVerified = found.map { $0.verification != nil }
    if keys == [[[people.eve.fingerprint: .inUse]]], isVerified == [true] { return .before }
    let after: [[[Fingerprint: Contact.Key.State]]] = [
      [[people.eve.fingerprint: .former], [people.eveLater.fingerprint: .inUse]],
      [[people.bob.fingerprint: .inUse]],
    ]
    if keys == after, isVerified == [false, false] { return .after }
    throw CrashFinding.mixed("the contacts are neither those before nor those after")
  }

  func close(_ store: (OpenKeychain, ProtectedDomains)) { store.0.file.close() }
}

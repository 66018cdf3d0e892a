// SPDX-License-Identifier: Apache-2.0
//
// The contacts of an open coffer, in their domain of protected data (PD-13). Every call reads the domain again; every
// change is one transaction.

public import Foundation
public import OpenPGP
public import ProtectedData

/// Other people's public parts. Make one value for unlocked protected data.
public struct ContactStore: Sendable {
  let domains: ProtectedDomains

  /// The contacts in `domains`.
  public init(_ domains: ProtectedDomains) { self.domains = domains }

  /// All contacts, in the order in which they came, judged at a time.
  ///
  /// Signatures are not verified again, since all were before they were stored. Before a key is used, judge its
  /// certificate.
  /// - Throws: `ContactError.corrupt`; `ProtectedDataError`.
  public func list(at now: Timestamp) throws -> [ContactEntry] {
    try certificates(at: now).map(\.entry)
  }

  /// The same, with the certificates themselves.
  /// - Throws: `ContactError.corrupt`; `ProtectedDataError`.
  public func certificates(at now: Timestamp) throws -> [ContactCertificates] {
    let contacts = try domains.read(ContactsSnapshot.self).contacts
    return zip(contacts, try known(contacts)).map { contact, certificates in
      ContactCertificates(entry: ContactEntry(contact, certificates, at: now), certificates: certificates)
    }
  }

  /// The certificates of each contact, which know their revokers: these may be contacts or the user's own keys.
  func known(_ contacts: [Contact]) throws -> [[Certificate]] {
    let certificates = try contacts.map { try $0.certificates() }
    let others = try revokers(of: certificates.flatMap(\.self))
    return certificates.map { $0.map { $0.knowing(others) } }
  }

  /// Who may be a revoker of one of these: these themselves, and the user's own keys. Empty if nothing names a revoker.
  func revokers(of certificates: [Certificate]) throws -> [Certificate] {
    guard certificates.contains(where: { !$0.namedRevokers.isEmpty }) else { return [] }
    return try certificates + ownCertificates()
  }

  /// The public parts of the user's own keys.
  func ownCertificates() throws -> [Certificate] {
    try domains.read(KeyMetadata.self).identities.flatMap { identity in
      do { return try Certificate.readAll(MemorySource(identity.certificate)) } catch {
        throw ContactError.corrupt
      }
    }
  }

  /// All certificates, without a judgement.
  /// - Throws: `ContactError.corrupt`; `ProtectedDataError`.
  package func certificates() throws -> [Certificate] {
    try domains.read(ContactsSnapshot.self).contacts.flatMap { try $0.certificates() }
  }

  /// The contact that `who` means: a fingerprint or key ID, an address, a name, or beginnings of its words.
  /// - Throws: `ContactError.unknown`, `.ambiguous`, `.tooFewDigits`, `.corrupt`; `ProtectedDataError`.
  public func find(_ who: String, at now: Timestamp) throws -> ContactEntry {
    try ContactQuery(who).one(of: list(at: now))
  }

  /// The public part in use, as armored text to give away.
  /// - Throws: `ContactError.unknown`, `.noKeyInUse`; `ProtectedDataError`.
  public func armored(_ id: UUID) throws -> [UInt8] { try keyInUse(id).armored() }

  /// The public part in use, to give away.
  /// - Throws: `ContactError.unknown`, `.noKeyInUse`, `.corrupt`; `ProtectedDataError`.
  public func certificate(_ id: UUID) throws -> Certificate {
    let contacts = try domains.read(ContactsSnapshot.self).contacts
    let key = try keyInUse(id).fingerprint
    guard let found = try known(contacts).joined().first(where: { $0.fingerprint == key }) else {
      throw ContactError.unknown
    }
    return found
  }

  private func keyInUse(_ id: UUID) throws -> Contact.Key {
    let contacts = try domains.read(ContactsSnapshot.self).contacts
    guard let contact = contacts.first(where: { $0.id == id }) else { throw ContactError.unknown }
    guard let key = contact.keyInUse else { throw ContactError.noKeyInUse }
    return key
  }

  /// Gives a contact another name.
  /// - Throws: `ContactError.unknown`, `.unfitName`, `.nameTaken`; `ProtectedDataError`.
  public func rename(_ id: UUID, to name: String) throws {
    try change { snapshot in
      guard let index = snapshot.contacts.firstIndex(where: { $0.id == id }) else {
        throw ContactError.unknown
      }
      let others = snapshot.contacts.filter { $0.id != id }
      snapshot.contacts[index].displayName = try ContactName.checked(name, beside: others)
    }
  }

  /// Removes a contact with all its keys, and what is known of them.
  /// - Throws: `ContactError.unknown`; `ProtectedDataError`.
  public func remove(_ id: UUID) throws {
    try change { snapshot in
      guard let index = snapshot.contacts.firstIndex(where: { $0.id == id }) else {
        throw ContactError.unknown
      }
      snapshot.contacts.remove(at: index)
    }
  }

  // MARK: Verification

  /// Questions about the fingerprint of the key in use, which they do not reveal.
  /// - Throws: `ContactError.unknown`, `.noKeyInUse`; `ProtectedDataError`.
  public func challenge(_ id: UUID) throws -> FingerprintChallenge {
    FingerprintChallenge(contact: id, fingerprint: try keyInUse(id).fingerprint)
  }

  /// Stores that the questions were answered, or that they were not.
  /// - Parameter manner: how; nil when the answers were wrong, which changes nothing but the date of the failure.
  /// - Throws: `ContactError.unknown`, `.changedMeanwhile` when another key is in use by now; `ProtectedDataError`.
  public func finish(
    _ challenge: FingerprintChallenge, _ manner: Contact.Verification.Manner?, at now: Timestamp
  ) throws {
    try update(challenge.contact) { contact in
      guard contact.keyInUse?.fingerprint == challenge.fingerprint else {
        throw ContactError.changedMeanwhile
      }
      guard let manner else {
        contact.failedVerification = now.secondsSince1970
        return
      }
      contact.verification = Contact.Verification(
        date: now.secondsSince1970, manner: manner, fingerprint: challenge.fingerprint)
      contact.failedVerification = nil
    }
  }

  /// Makes a contact not verified.
  /// - Throws: `ContactError.unknown`; `ProtectedDataError`.
  public func forgetVerification(_ id: UUID) throws { try update(id) { $0.verification = nil } }

  // MARK: Changes

  private func update(_ id: UUID, _ body: (inout Contact) throws -> Void) throws {
    try change { snapshot in
      guard let index = snapshot.contacts.firstIndex(where: { $0.id == id }) else {
        throw ContactError.unknown
      }
      try body(&snapshot.contacts[index])
    }
  }

  /// Changes all contacts in one transaction.
  func change<R>(_ body: (inout ContactsSnapshot) throws -> R) throws -> R {
    do { return try domains.update(ContactsSnapshot.self, body) } catch let error as ProtectedDataError {
      // Names and certificates were checked, so together they are too large.
      if error == .invalidValue(.contacts) { throw ContactError.full }
      throw error
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Taking over certificates: first a preview, which asks nothing and changes nothing, then one transaction, which
// refuses when the contacts are no longer those of the preview.

public import Foundation
public import OpenPGP
internal import ProtectedData

/// What one certificate would change.
public struct ContactPreview: Equatable, Sendable {
  /// The kind of the change.
  public enum Outcome: Sendable {
    /// Nobody has this key, or claims one of its addresses.
    case new
    /// The stored copy says all that this one says.
    case unchanged
    /// The stored copy would learn something.
    case updated
    /// A contact has one of its addresses with another key, or the key waits for a decision already.
    case newKey
  }

  /// The kind of the change.
  public let outcome: Outcome
  /// The key as it would be, merged with the stored copy.
  public let key: KeySummary
  /// The contact as it is; nil for a new one.
  public let contact: ContactEntry?
  /// What a stored copy would learn.
  public let changes: [KeyChange]
  /// Addresses that the key claims from now on, and that contacts other than ``contact`` have.
  public let sharedAddresses: [SharedAddress]
  /// Whether the contact's key in use has certified a user ID of the new one.
  public let isVouchedFor: Bool
  /// The packets to store.
  let certificate: [UInt8]
  /// Of the contact that is made if there is no other.
  let idIfNew: UUID

  /// Whether the user is asked before an update is stored.
  public var needsDecision: Bool {
    !sharedAddresses.isEmpty
      || changes.contains { $0.needsDecision(isVerified: contact?.verification != nil) }
  }
}

/// An address that a key claims, and that another contact has.
public struct SharedAddress: Equatable, Sendable {
  public let address: String
  /// The name of the other contact.
  public let contact: String
}

/// What to do with another key for a contact's address.
public enum NewKeyDecision: Sendable {
  /// The contact keeps its key; the new one waits.
  case keep
  /// The new key is used from now on; the old one becomes former, and the contact is not verified.
  case use
  /// They are two people.
  case separate
  /// The new key is forgotten.
  case ignore
}

extension ContactStore {
  /// The name that a new contact with this key gets, unless the user chooses one.
  /// - Throws: `ProtectedDataError`.
  public func suggestedName(for key: KeySummary) throws -> String {
    ContactName.suggested(by: key, beside: try domains.read(ContactsSnapshot.self).contacts)
  }

  /// What each certificate of a file would change, in their order: one may change what the next one finds.
  /// - Parameter decide: see ``store(_:as:name:decisions:at:)``.
  /// - Throws: `ContactError.certificateTooLarge`, `.corrupt`, `.full`, `.tooManyKeys`; `ProtectedDataError`.
  public func preview(
    _ parts: PublicParts, at now: Timestamp, decide: (ContactPreview) -> NewKeyDecision? = { _ in .keep }
  ) throws -> [ContactPreview] {
    var contacts = try domains.read(ContactsSnapshot.self).contacts
    let others = try revokers(of: everybody(contacts, parts))
    return try Self.take(
      parts, knowing: others, into: &contacts, ids: parts.incoming.map { _ in UUID() }, at: now
    ) { _, preview in decide(preview) }
  }

  /// Stores the certificates of a file in one transaction: all or none.
  /// - Parameters:
  ///   - previews: what the user has seen. If the contacts have changed since, nothing is stored.
  ///   - name: of new contacts; nil is the one that the key suggests.
  ///   - decisions: for each certificate what to do if it is another key for a contact's address; nil leaves the
  ///     certificate out, whatever it is.
  /// - Returns: for each, the contact that has the key now; nil when it was forgotten or left out.
  /// - Throws: `ContactError.changedMeanwhile`, `.full`, `.tooManyKeys`, `.unfitName`, `.nameTaken`; `ProtectedDataError`.
  @discardableResult
  public func store(
    _ parts: PublicParts, as previews: [ContactPreview], name: String? = nil, decisions: [NewKeyDecision?],
    at now: Timestamp
  ) throws -> [UUID?] {
    let others = try revokers(of: everybody(domains.read(ContactsSnapshot.self).contacts, parts))
    return try change { snapshot in
      let found = try Self.take(
        parts, knowing: others, into: &snapshot.contacts, ids: previews.map(\.idIfNew), name: name, at: now
      ) { index, _ in decisions[index] }
      guard found == previews else { throw ContactError.changedMeanwhile }
      return zip(found, decisions).map { preview, decision in
        guard decision != nil else { return nil }
        let fingerprint = preview.key.fingerprint
        return snapshot.contacts.first { $0.keys.contains { $0.fingerprint == fingerprint } }?.id
      }
    }
  }

  private func everybody(_ contacts: [Contact], _ parts: PublicParts) throws -> [Certificate] {
    try contacts.flatMap { try $0.certificates() } + parts.incoming.map(\.whole)
  }

  /// Takes certificates over, one after the other.
  /// - Parameter others: who may be a revoker of what is stored or comes.
  /// - Returns: what each of them changed, or would have.
  private static func take(
    _ parts: PublicParts, knowing others: [Certificate], into contacts: inout [Contact], ids: [UUID],
    name: String? = nil, at now: Timestamp, decide: (Int, ContactPreview) -> NewKeyDecision?
  ) throws -> [ContactPreview] {
    func entry(_ contact: Contact) throws -> ContactEntry {
      ContactEntry(contact, try contact.certificates(knowing: others), at: now)
    }
    var entries = try contacts.map(entry)
    var previews: [ContactPreview] = []
    for (index, incoming) in parts.knowing(others).incoming.enumerated() {
      let preview = try preview(incoming, contacts, entries, id: ids[index], at: now)
      previews.append(preview)
      guard let decision = decide(index, preview) else { continue }
      let before = contacts
      try Taking(preview: preview, now: now, name: name).apply(to: &contacts, decision)
      for place in contacts.indices where place >= before.count || contacts[place] != before[place] {
        let entry = try entry(contacts[place])
        if place < entries.count { entries[place] = entry } else { entries.append(entry) }
      }
    }
    return previews
  }

  private static func preview(
    _ incoming: IncomingCertificate, _ contacts: [Contact], _ entries: [ContactEntry], id: UUID,
    at now: Timestamp
  ) throws(ContactError) -> ContactPreview {
    let fingerprint = incoming.reduced.fingerprint
    for (place, (contact, entry)) in zip(contacts, entries).enumerated() {
      guard let index = contact.keys.firstIndex(where: { $0.fingerprint == fingerprint }) else { continue }
      let stored = try Certificate.stored(contact.keys[index])
      let merged = stored.merging(incoming.reduced).reducedToHolderStatements()
      let packets = try merged.packets()
      let isKnown = packets == contact.keys[index].certificate
      let summary = KeySummary(merged, at: now)
      let isWaiting = contact.keys[index].state == .waiting
      return ContactPreview(
        outcome: isWaiting ? .newKey : isKnown ? .unchanged : .updated, key: summary, contact: entry,
        changes: KeyChange.changes(from: entry.keys[index].summary, to: summary),
        sharedAddresses: shared(summary, entries, besides: place, known: entry.keys[index].summary.addresses),
        isVouchedFor: isWaiting && isVouchedFor(incoming.whole, by: contact, at: now), certificate: packets,
        idIfNew: id)
    }
    let summary = KeySummary(incoming.reduced, at: now)
    let addresses = Set(summary.addresses.map { ContactQuery.folded(address: $0) })
    let index = entries.firstIndex { entry in
      entry.addresses.contains { addresses.contains(ContactQuery.folded(address: $0)) }
    }
    return ContactPreview(
      outcome: index == nil ? .new : .newKey, key: summary, contact: index.map { entries[$0] }, changes: [],
      sharedAddresses: index.map { shared(summary, entries, besides: $0) } ?? [],
      isVouchedFor: index.map { isVouchedFor(incoming.whole, by: contacts[$0], at: now) } ?? false,
      certificate: try incoming.reduced.packets(), idIfNew: id)
  }

  /// The addresses of a key, apart from those that its copy was `known` by, that other contacts have. A revoked key
  /// receives nothing, whatever it claims.
  private static func shared(
    _ key: KeySummary, _ entries: [ContactEntry], besides place: Int, known: [String] = []
  ) -> [SharedAddress] {
    guard key.status != .revoked else { return [] }
    let known = Set(known.map { ContactQuery.folded(address: $0) })
    return key.addresses.filter { !known.contains(ContactQuery.folded(address: $0)) }.flatMap { address in
      entries.enumerated().filter { other, entry in
        other != place
          && entry.addresses.contains {
            ContactQuery.folded(address: $0) == ContactQuery.folded(address: address)
          }
      }.map { SharedAddress(address: address, contact: $0.element.name) }
    }
  }

  /// Whether the key in use has certified a user ID that the new key claims.
  private static func isVouchedFor(_ certificate: Certificate, by contact: Contact, at now: Timestamp) -> Bool
  {
    guard let key = contact.keyInUse, let old = try? Certificate.stored(key) else { return false }
    let authority = ValidCertificate(old, at: now, now: now, policy: .standard)
    let valid = ValidCertificate(certificate, at: now, now: now, policy: .standard)
    return valid.userIDs.contains { valid.isCertified($0.userID, by: [authority]) }
  }
}

/// The change that stores a certificate.
private struct Taking {
  let preview: ContactPreview
  let now: Timestamp
  let name: String?

  private var fingerprint: Fingerprint { preview.key.fingerprint }

  private func key(_ state: Contact.Key.State) -> Contact.Key {
    Contact.Key(
      fingerprint: fingerprint, certificate: preview.certificate, state: state,
      firstSeen: now.secondsSince1970)
  }

  func apply(to contacts: inout [Contact], _ decision: NewKeyDecision) throws(ContactError) {
    guard let id = preview.contact?.id, let index = contacts.firstIndex(where: { $0.id == id }) else {
      return try add(to: &contacts)
    }
    if let place = contacts[index].keys.firstIndex(where: { $0.fingerprint == fingerprint }) {
      contacts[index].keys[place].certificate = preview.certificate
      if preview.outcome != .newKey { return }
    }
    switch decision {
    case .keep: try wait(&contacts[index])
    case .use:
      try wait(&contacts[index])
      use(&contacts[index])
    case .separate:
      contacts[index].keys.removeAll { $0.fingerprint == fingerprint }
      try add(to: &contacts)
    case .ignore: contacts[index].keys.removeAll { $0.fingerprint == fingerprint }
    }
  }

  private func add(to contacts: inout [Contact]) throws(ContactError) {
    guard contacts.count < ContactsSnapshot.countLimit else { throw .full }
    let name =
      if let name { try ContactName.checked(name, beside: contacts) } else {
        ContactName.suggested(by: preview.key, beside: contacts)
      }
    contacts.append(Contact(id: preview.idIfNew, displayName: name, keys: [key(.inUse)]))
  }

  /// Puts the key among those that wait, unless it is there.
  private func wait(_ contact: inout Contact) throws(ContactError) {
    if contact.keys.contains(where: { $0.fingerprint == fingerprint }) { return }
    guard contact.keys.count < Contact.keyCountLimit else { throw .tooManyKeys }
    contact.keys.append(key(.waiting))
  }

  private func use(_ contact: inout Contact) {
    for index in contact.keys.indices {
      if contact.keys[index].fingerprint == fingerprint {
        contact.keys[index].state = .inUse
      } else if contact.keys[index].state == .inUse {
        contact.keys[index].state = .former
      }
    }
    contact.verification = nil
    contact.failedVerification = nil
  }
}

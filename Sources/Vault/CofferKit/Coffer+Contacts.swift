// SPDX-License-Identifier: Apache-2.0
//
// Operations on the contacts of a coffer, with their entries in the audit log. An open coffer is enough: contacts are
// private, and no secret.

public import Contacts
public import Foundation
public import OpenPGP
public import ProtectedData
internal import Vaults

extension Coffer {
  /// The contacts. What you change there directly leaves no entry in the audit log.
  /// - Throws: `ProtectedDataError`.
  public func contacts() throws -> ContactStore {
    try unlockProtectedData()
    return ContactStore(try protectedDomains())
  }

  /// The present time, as OpenPGP has it.
  public var openPGPTime: Timestamp { Timestamp(secondsSince1970: UInt32(clamping: clock.now())) }

  /// Stores the certificates of a file: all or none.
  /// - Throws: what `ContactStore.store` throws.
  @discardableResult
  public func storeContacts(
    _ parts: PublicParts, as previews: [ContactPreview], name: String? = nil, decisions: [NewKeyDecision?]
  ) throws -> [UUID?] {
    let ids = try contacts().store(parts, as: previews, name: name, decisions: decisions, at: openPGPTime)
    let count = ids.count { $0 != nil }
    if count > 0 { audit(.contactStored, count: count) }
    return ids
  }

  /// Gives a contact another name.
  /// - Throws: what `ContactStore.rename` throws.
  public func renameContact(_ id: UUID, to name: String) throws {
    try contacts().rename(id, to: name)
    audit(.contactRenamed, count: 1)
  }

  /// Removes a contact with all its keys.
  /// - Throws: what `ContactStore.remove` throws.
  public func removeContact(_ id: UUID) throws {
    try contacts().remove(id)
    audit(.contactRemoved, count: 1)
  }

  /// Stores that a contact's fingerprint was compared.
  /// - Parameter manner: how; nil when it was not the same.
  /// - Throws: what `ContactStore.finish` throws.
  public func finishVerification(
    _ challenge: FingerprintChallenge, _ manner: Contact.Verification.Manner?
  ) throws {
    try contacts().finish(challenge, manner, at: openPGPTime)
    audit(manner == nil ? .contactNotConfirmed : .contactVerified, count: 1)
  }

  /// Makes a contact not verified.
  /// - Throws: what `ContactStore.forgetVerification` throws.
  public func forgetVerification(_ id: UUID) throws {
    try contacts().forgetVerification(id)
    audit(.contactVerificationUndone, count: 1)
  }
}

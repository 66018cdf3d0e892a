// SPDX-License-Identifier: Apache-2.0
//
// The identities of an open coffer, with their entries in the audit log.

internal import Contacts
public import Identities
public import KeyCustody
internal import ProtectedData
public import Secrets
internal import Vaults

/// The identities of a coffer, after recovery from an interrupted change.
public struct OpenIdentities: Sendable {
  /// Finds them and moves one to the front.
  public let store: IdentityStore
  /// Private keys that no identity lists: tell the user.
  public let unlisted: [UnlistedKey]
}

extension Coffer {
  /// The identities. If a slot opened this coffer, private keys that lost their metadata are listed again.
  /// - Parameter authorization: opens private keys; nil for the passphrase or PIN that opened the coffer.
  /// - Throws: `ProtectedDataError`; `CustodyError`; `EnclaveError.unavailable`.
  public func openIdentities(_ authorization: CustodyAuthorization? = nil) throws -> OpenIdentities {
    let domains = try protectedDomains()
    let contacts = ContactStore(domains)
    let store = IdentityStore(try openPrivateKeys().custody, domains) { try contacts.certificates() }
    let unlisted = try store.unlisted()
    guard unlisted.contains(where: { !$0.place.isLost }), authorization != nil || slot != nil,
      try store.listUnlisted(authorization ?? self.authorization(), at: clock.now()) > 0
    else { return OpenIdentities(store: store, unlisted: unlisted) }
    return OpenIdentities(store: store, unlisted: try store.unlisted())
  }

  /// All identities, the default one first, judged now.
  /// - Parameter asks: whether the enclaves are asked for the private parts.
  /// - Throws: `IdentityError.corrupt`; `ProtectedDataError`; `CustodyError`.
  public func identities(_ open: OpenIdentities, asking asks: Bool = false) throws -> [Identity] {
    try open.store.all(at: clock.now(), asking: asks)
  }

  /// Makes an identity. When this returns, all of it is on the disk; if it throws, nothing of it.
  /// - Parameter authorization: satisfies the mode; nil for the passphrase or PIN that opened the coffer.
  /// - Throws: `CofferError.slotRequired` when an agent's keys opened this coffer; `IdentityError`; `CustodyError`;
  ///   `ProtectedDataError`.
  public func generateIdentity(
    _ wanted: NewIdentity, _ open: OpenIdentities, _ authorization: CustodyAuthorization
  ) throws -> Identity {
    guard slot != nil else { throw CofferError.slotRequired }
    let identity = try open.store.generate(wanted, authorization, at: clock.now())
    audit(.identityGenerated)
    return identity
  }

  /// Changes an identity: private part and metadata, or neither.
  /// - Returns: the identity as it is then.
  /// - Throws: as ``generateIdentity(_:_:_:)``.
  public func makeChange(
    _ change: IdentityChange, of identity: Identity, _ open: OpenIdentities,
    _ authorization: CustodyAuthorization
  ) throws -> Identity {
    guard slot != nil else { throw CofferError.slotRequired }
    let changed = try open.store.make(change, of: identity, authorization, at: clock.now())
    switch change {
    case .end: audit(.identityEndChanged)
    case .revocation: audit(.identityRevoked)
    case .newUserID, .userIDRevocation, .newSubkey, .subkeyRevocation, .replacement:
      audit(.identityChanged)
    }
    return changed
  }

  /// Makes two identities say that one replaces the other.
  /// - Returns: both as they are then.
  /// - Throws: as ``generateIdentity(_:_:_:)``.
  public func replaceIdentity(
    _ old: Identity, by new: Identity, _ open: OpenIdentities, _ authorization: CustodyAuthorization
  ) throws -> (old: Identity, new: Identity) {
    guard slot != nil else { throw CofferError.slotRequired }
    let made = try open.store.replace(old, by: new, authorization, at: clock.now())
    audit(.identityChanged)
    return made
  }

  /// Writes a backup of an identity, reads it back, and notes the date.
  /// - Throws: as ``generateIdentity(_:_:_:)``.
  public func backUp(
    _ identity: Identity, _ open: OpenIdentities, to target: BackupTarget,
    under passphrase: SharedSecretBytes,
    _ authorization: CustodyAuthorization
  ) throws {
    try open.store.backUp(identity, to: target, under: passphrase, authorization, at: clock.now())
    audit(.identityBackedUp)
  }

  /// The private keys of a file, judged now.
  /// - Throws: `IdentityError`.
  public func keyFile(_ bytes: SharedSecretBytes) throws -> KeyFile { try KeyFile(bytes, at: clock.now()) }

  /// Seals private keys of a file, all or none.
  /// - Throws: as ``generateIdentity(_:_:_:)``.
  public func importIdentities(
    _ keys: [OpenedKey], _ open: OpenIdentities, _ authorization: CustodyAuthorization
  ) throws {
    guard slot != nil else { throw CofferError.slotRequired }
    try open.store.importKeys(keys, authorization, at: clock.now())
    audit(.identitiesImported, count: keys.count)
  }

  /// Takes over what the owner of an identity has said with another program.
  /// - Throws: `IdentityError.missing`, `.tooLarge`; `ProtectedDataError`.
  public func updateIdentity(
    _ identity: Identity, with news: IdentityNews, _ open: OpenIdentities
  ) throws -> Identity {
    let updated = try open.store.take(news, of: identity, at: clock.now())
    audit(.identityChanged)
    return updated
  }

  /// Makes and keeps a revocation certificate for an identity that has none.
  /// - Throws: `CofferError.slotRequired`; `IdentityError`; `CustodyError`; `ProtectedDataError`.
  public func makeRevocation(
    _ identity: Identity, _ open: OpenIdentities, _ authorization: CustodyAuthorization
  ) throws {
    guard slot != nil else { throw CofferError.slotRequired }
    try open.store.makeRevocation(identity, authorization, at: clock.now())
  }

  /// Writes the revocation certificate of an identity to a new file.
  /// - Throws: `CofferError.slotRequired`; `IdentityError`; `ProtectedDataError`.
  public func writeRevocation(_ identity: Identity, _ open: OpenIdentities, path: String) throws {
    guard slot != nil else { throw CofferError.slotRequired }
    try open.store.writeRevocation(identity, path: path)
    audit(.revocationExported)
  }

  /// Certifies the names of somebody else's public part.
  /// - Parameter publicPart: one certificate, armored.
  /// - Throws: `CofferError.slotRequired`; `IdentityError`; `CustodyError`.
  public func certify(
    _ publicPart: [UInt8], as identity: Identity, _ open: OpenIdentities,
    _ authorization: CustodyAuthorization
  ) throws -> CertifiedPart {
    guard slot != nil else { throw CofferError.slotRequired }
    let certified = try open.store.certify(publicPart, as: identity, authorization, at: clock.now())
    audit(.contactCertified)
    return certified
  }

  /// Deletes an identity permanently.
  /// - Parameter acknowledgesMissingBackup: whether the user knows that there is no other copy.
  /// - Throws: `CofferError.slotRequired`; `IdentityError.noBackup`; `CustodyError`; `ProtectedDataError`.
  public func deleteIdentity(
    _ identity: Identity, _ open: OpenIdentities, acknowledgesMissingBackup: Bool
  ) throws {
    guard slot != nil else { throw CofferError.slotRequired }
    try open.store.delete(identity, acknowledgesMissingBackup: acknowledgesMissingBackup)
    audit(.identityDeleted)
  }

  /// Deletes a private key that no identity lists, permanently.
  /// - Throws: as ``deleteIdentity(_:_:acknowledgesMissingBackup:)``.
  public func deleteUnlisted(
    _ unlisted: UnlistedKey, _ open: OpenIdentities, acknowledgesMissingBackup: Bool
  ) throws {
    guard slot != nil else { throw CofferError.slotRequired }
    try open.store.delete(unlisted, acknowledgesMissingBackup: acknowledgesMissingBackup)
    audit(.identityDeleted)
  }
}

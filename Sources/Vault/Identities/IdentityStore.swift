// SPDX-License-Identifier: Apache-2.0
//
// The user's own OpenPGP keys: private parts in custody, everything else in the domain key-metadata. The order in
// which both are written is custody's (Specs/envelopes.md, "Key and metadata").

public import KeyCustody
public import OpenPGP
internal import Primitives
internal import ProtectedData

/// The identities of a coffer.
public struct IdentityStore: Sendable {
  let custody: PrivateKeyCustody
  let records: any CustodyRecords
  /// Other people's certificates.
  let others: @Sendable () throws -> [Certificate]

  /// - Parameters:
  ///   - custody: after recovery from an interrupted change.
  ///   - records: those of the custody.
  ///   - others: other people's certificates; asked for when an identity names somebody who may revoke it.
  public init(
    _ custody: PrivateKeyCustody, _ records: any CustodyRecords,
    others: @escaping @Sendable () throws -> [Certificate] = { [] }
  ) {
    self.custody = custody
    self.records = records
    self.others = others
  }

  // MARK: Looking

  /// All identities, the default one first, judged at a time.
  /// - Parameters:
  ///   - now: seconds since 1970, UTC.
  ///   - asks: whether the enclaves are asked for the private parts; otherwise only what is stored is compared.
  /// - Throws: ``IdentityError/corrupt``; `ProtectedDataError`; `CustodyError`.
  public func all(at now: Int64, asking asks: Bool = false) throws -> [Identity] {
    let places = try custody.places(asking: asks)
    return try records.identities().enumerated().map { index, stored in
      try identity(stored, isDefault: index == 0, place: places[stored.fingerprint], at: Timestamp(now))
    }
  }

  /// Judges the public part of an identity. Revocations by others count if these are known.
  func identity(
    _ stored: PGPKeyIdentity, isDefault: Bool, place: PrivateKeyPlace?, at now: Timestamp
  ) throws -> Identity {
    var certificate = try stored.publicPart()
    if !certificate.namedRevokers.isEmpty {
      let own = try records.identities().map { try $0.publicPart() }
      certificate = certificate.knowing(try own + others())
    }
    return Identity(stored, certificate, isDefault: isDefault, place: place, at: now)
  }

  /// An identity as it is stored now.
  /// - Throws: ``IdentityError/missing``
  func stored(_ identity: Identity) throws -> PGPKeyIdentity {
    guard let found = try records.identities().first(where: { $0.fingerprint == identity.key }) else {
      throw IdentityError.missing
    }
    return found
  }

  /// The same, judged.
  func found(_ key: Fingerprint, at now: Timestamp) throws -> Identity {
    let all = try all(at: Int64(now.secondsSince1970))
    guard let found = all.first(where: { $0.key == key }) else { throw IdentityError.missing }
    return found
  }

  /// Where a private part is, as its envelope says.
  func place(of key: Fingerprint) throws -> PrivateKeyPlace? { try custody.places(asking: false)[key] }

  // MARK: Changing

  /// Makes an identity. When this returns, private part and metadata are on the disk; if it throws, neither is.
  /// - Parameter now: the creation time; seconds since 1970, UTC.
  /// - Throws: ``IdentityError``; `CustodyError`; `ProtectedDataError`.
  public func generate(
    _ wanted: NewIdentity, _ authorization: CustodyAuthorization, at now: Int64
  ) throws -> Identity {
    let time = Timestamp(now)
    let present = try records.identities().count
    guard present < KeyMetadata.countLimit else { throw IdentityError.tooMany(limit: KeyMetadata.countLimit) }
    let key = try wanted.key(at: time)
    let metadata = try PGPKeyIdentity(key, at: time)
    try custody.wrap(listing: [key.listed(metadata)], authorization)
    return try identity(metadata, isDefault: present == 0, place: place(of: metadata.fingerprint), at: time)
  }

  /// Moves an identity to the front.
  /// - Throws: ``IdentityError/missing``; `ProtectedDataError`.
  public func makeDefault(_ identity: Identity) throws {
    var isFound = false
    try records.changeIdentities { identities in
      guard let index = identities.firstIndex(where: { $0.fingerprint == identity.key }) else { return }
      isFound = true
      identities.insert(identities.remove(at: index), at: 0)
    }
    guard isFound else { throw IdentityError.missing }
  }

  /// Deletes an identity permanently: the private part first, then its metadata. If the process ends between the
  /// two, recovery removes the metadata.
  /// - Parameter acknowledgesMissingBackup: whether the user knows that there is no other copy.
  /// - Throws: ``IdentityError/noBackup``, before anything is written; `CustodyError`; `ProtectedDataError`.
  public func delete(_ identity: Identity, acknowledgesMissingBackup: Bool) throws {
    let stored = try stored(identity)
    guard stored.backedUpAt != nil || acknowledgesMissingBackup || !identity.hasPrivatePart else {
      throw IdentityError.noBackup
    }
    if try custody.fingerprints().contains(identity.key) { return try custody.delete(identity.key) }
    try records.changeIdentities { identities in identities.removeAll { $0.fingerprint == identity.key } }
  }
}

extension Timestamp {
  /// The nearest time of the format.
  init(_ seconds: Int64) { self.init(secondsSince1970: UInt32(clamping: seconds)) }
}

// SPDX-License-Identifier: Apache-2.0
//
// Private keys that no identity lists, as after a reset of the domain: they are named, listed again, or deleted. One
// that cannot be opened never stands in the way of another.

public import KeyCustody
internal import OpenPGP
internal import ProtectedData

/// A private key without metadata.
public struct UnlistedKey: Sendable, Equatable {
  /// Lower-case hexadecimal: 40 digits of version 4, 64 of version 6.
  public let fingerprint: String
  /// Where it is, and whether it can be opened there.
  public let place: PrivateKeyPlace
  let key: Fingerprint
}

extension IdentityStore {
  /// The private keys that no identity lists. If there are any, their enclaves are asked for them.
  /// - Throws: `CustodyError`; `ProtectedDataError`.
  public func unlisted() throws -> [UnlistedKey] {
    let listed = Set(try records.identities().map(\.fingerprint))
    guard try custody.fingerprints().contains(where: { !listed.contains($0) }) else { return [] }
    return try custody.places().filter { !listed.contains($0.key) }.sorted { $0.key < $1.key }
      .map { UnlistedKey(fingerprint: $0.key.text, place: $0.value, key: $0.key) }
  }

  /// Lists private keys without metadata again: the key itself has its public part. A new revocation certificate
  /// is made. Keys that do not open are left as they are, and so are those that are not OpenPGP keys.
  /// - Returns: how many were listed.
  /// - Throws: `CustodyError.locked`, `.keychain`; `ProtectedDataError`; what was listed before stays.
  @discardableResult
  public func listUnlisted(_ authorization: CustodyAuthorization, at now: Int64) throws -> Int {
    var count = 0
    for unlisted in try unlisted() where !unlisted.place.isLost {
      guard let metadata = try metadata(of: unlisted.key, authorization, at: now) else { continue }
      try records.changeIdentities { identities in
        guard !identities.contains(where: { $0.fingerprint == unlisted.key }) else { return }
        identities.append(metadata)
      }
      count += 1
    }
    return count
  }

  /// Nil for a key that does not open, or is not the one of its name.
  private func metadata(
    of fingerprint: Fingerprint, _ authorization: CustodyAuthorization, at now: Int64
  ) throws -> PGPKeyIdentity? {
    do {
      let metadata = try custody.withPrivateKey(fingerprint, authorization) { bytes, _ in
        (try? TransferableSecretKey(opened: bytes)).flatMap { try? PGPKeyIdentity($0, at: Timestamp(now)) }
      }
      return metadata?.fingerprint == fingerprint ? metadata : nil
    } catch let error as CustodyError {
      switch error {
      case .locked, .keychain: throw error
      default: return nil
      }
    }
  }

  /// Deletes a private key that no identity lists, permanently.
  /// - Parameter acknowledgesMissingBackup: whether the user knows that no backup of it is known.
  /// - Throws: ``IdentityError/noBackup``, before anything is written; `CustodyError`; `ProtectedDataError`.
  public func delete(_ unlisted: UnlistedKey, acknowledgesMissingBackup: Bool) throws {
    guard acknowledgesMissingBackup else { throw IdentityError.noBackup }
    try custody.delete(unlisted.key)
  }
}

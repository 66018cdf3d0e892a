// SPDX-License-Identifier: Apache-2.0
//
// What a holder says about an identity later. Each change opens the private part once, and writes it with its
// metadata as one (Specs/envelopes.md, "Key and metadata").

public import KeyCustody
public import OpenPGP
internal import ProtectedData

/// A change of an identity.
public enum IdentityChange: Sendable, Equatable {
  /// Another end: seconds since 1970, UTC; nil for never. An identity that has ended comes back to life.
  case end(Int64?)
  /// It is not used any more, for good.
  case revocation(RevocationCause)
  /// One more user ID.
  case newUserID(UserIDText)
  /// A user ID is not right any more.
  case userIDRevocation(UserIDText)
  /// A new subkey for this use.
  case newSubkey(TransferableSecretKey.SubkeyUse)
  /// The subkey of this fingerprint (lower-case hexadecimal) is not used any more. It still reads what was written
  /// to it.
  case subkeyRevocation(String, RevocationCause)
  /// It says that another key replaces it, or which keys it replaces. Both keys have to say it: see
  /// ``IdentityStore/replace(_:by:_:at:)``.
  case replacement(KeyReplacement)

  /// Whether a backup from before opens everything that comes after the change.
  var keepsBackup: Bool { if case .newSubkey(let use) = self { use == .sign } else { true } }
}

/// Why an identity or a subkey is not used any more.
public enum RevocationCause: String, Sendable, CaseIterable {
  /// A new one replaces it.
  case superseded
  /// It is not used any more.
  case retired
  /// Somebody else may have its private part: nothing that it signed counts any more.
  case compromised
  /// Its private part is lost. What it signed still counts.
  case lost

  /// As it is written into a revocation (RFC 9580, section 5.2.3.31).
  fileprivate var reason: RevocationReason {
    switch self {
    case .superseded: RevocationReason(.superseded)
    case .retired: RevocationReason(.retired)
    case .compromised: RevocationReason(.compromised)
    case .lost: RevocationReason(.retired, text: Array("lost".utf8))
    }
  }
}

extension IdentityStore {
  /// Whether a change can be made, as far as that can be told without the private part.
  /// - Throws: ``IdentityError/privatePartLost``, ``IdentityError/primaryMissing``, ``IdentityError/revoked``,
  ///   ``IdentityError/unusable``; ``IdentityError/userIDExists``, ``IdentityError/wrongNumberOfUserIDs(limit:)``,
  ///   ``IdentityError/userIDMissing``, ``IdentityError/lastUserID``, ``IdentityError/subkeyMissing``.
  public func check(_ change: IdentityChange, of identity: Identity) throws(IdentityError) {
    // Retired first, and stolen later.
    let isSharper = change == .revocation(.compromised) && identity.state == .revoked
    try checkPrimaryKey(of: identity, mayBeRevoked: isSharper)
    switch change {
    case .end, .revocation, .replacement: return
    case .newUserID(let userID):
      guard identity.state == .good else { throw .unusable }
      guard !identity.userIDs.contains(userID) else { throw .userIDExists }
      guard identity.userIDs.count < PGPKeyIdentity.userIDCountLimit else {
        throw .wrongNumberOfUserIDs(limit: PGPKeyIdentity.userIDCountLimit)
      }
    case .userIDRevocation(let userID):
      guard identity.userIDs.contains(userID) else { throw .userIDMissing }
      guard identity.userIDs.count > 1 else { throw .lastUserID }
    case .newSubkey: guard identity.state == .good else { throw .unusable }
    case .subkeyRevocation(let subkey, _):
      guard identity.parts.dropFirst().contains(where: { $0.fingerprint.text == subkey && !$0.isRevoked })
      else {
        throw .subkeyMissing
      }
    }
  }

  /// Whether the primary key can sign statements.
  func checkPrimaryKey(of identity: Identity, mayBeRevoked: Bool = false) throws(IdentityError) {
    guard identity.hasPrivatePart else { throw .privatePartLost }
    guard identity.hasPrimaryKey else { throw .primaryMissing }
    switch identity.state {
    case .good, .expired: return
    case .revoked: if !mayBeRevoked { throw .revoked }
    case .unusable: throw .unusable
    }
  }

  /// Makes a change. When this returns, private part and metadata are on the disk; if it throws, both are as before.
  /// A new subkey for messages is in no backup yet, so the identity has none then. A revocation certificate that is
  /// missing is made on this occasion.
  /// - Parameter now: seconds since 1970, UTC.
  /// - Returns: the identity as it is then.
  /// - Throws: as ``check(_:of:)``; `CustodyError`; `ProtectedDataError`.
  public func make(
    _ change: IdentityChange, of identity: Identity, _ authorization: CustodyAuthorization, at now: Int64
  ) throws -> Identity {
    try check(change, of: identity)
    let time = Timestamp(now)
    var made = try stored(identity)
    try custody.replaceListed(identity.key, authorization) { bytes in
      let former = try stored(identity)
      var key = try key(opened: bytes, former)
      do throws(OpenPGPError) { try key.make(change, at: time) } catch {
        throw IdentityError(changing: error)
      }
      made = try PGPKeyIdentity(key, after: former, at: time)
      if !change.keepsBackup { made.backedUpAt = nil }
      return try key.listed(made)
    }
    return try self.identity(
      made, isDefault: identity.isDefault, place: place(of: made.fingerprint), at: time)
  }
}

extension TransferableSecretKey {
  /// - Precondition: the key has what is revoked.
  fileprivate mutating func make(_ change: IdentityChange, at time: Timestamp) throws(OpenPGPError) {
    let primary = try unlocked(certificate.fingerprint, for: .certify, passwords: [])
    var valid: ValidCertificate { ValidCertificate(certificate, at: time, now: time, policy: .standard) }
    switch change {
    case .end(let end):
      certificate = try valid.settingExpiration(to: end.map { Timestamp($0) }, by: primary)
    case .revocation(let cause): try revoke(.primaryKey, cause.reason, at: time, by: primary)
    case .newUserID(let userID): certificate = try valid.addingUserID(UserID(userID.text), by: primary)
    case .userIDRevocation(let userID):
      try revoke(.userID(UserID(userID.text)), RevocationReason(.userIDInvalid), at: time, by: primary)
    case .newSubkey(let use): try addSubkey(for: use, at: time, by: primary)
    case .subkeyRevocation(let text, let cause):
      guard let subkey = certificate.subkeys.map(\.packet.fingerprint).first(where: { $0.text == text })
      else {
        throw .keyCannot(.certify)
      }
      try revoke(.subkey(subkey), cause.reason, at: time, by: primary)
    case .replacement(let replacement): certificate = try valid.stating(replacement, by: primary)
    }
  }

  private mutating func revoke(
    _ part: Certificate.Part, _ reason: RevocationReason, at time: Timestamp, by primary: UnlockedKey
  ) throws(OpenPGPError) {
    certificate = try certificate.revoking(part, reason: reason, at: time, by: primary)
  }
}

extension IdentityError {
  /// An error of the engine while it changed a key.
  fileprivate init(changing error: OpenPGPError) {
    self =
      switch error {
      case .keyCannot, .refused: .unusable
      default: .engine(error)
      }
  }
}

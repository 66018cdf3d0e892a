// SPDX-License-Identifier: Apache-2.0
//
// What a newer copy of a certificate changes, and which of these changes the user is asked about.

public import OpenPGP

/// A change to a key that a newer copy brings.
public enum KeyChange: Equatable, Sendable {
  /// It ends at another time; seconds since 1970, nil is never.
  case expiry(from: UInt32?, to: UInt32?)
  /// The holder claims another user ID.
  case userIDAdded(String)
  /// The holder no longer claims a user ID, without revoking it.
  case userIDGone(String)
  /// The holder has given a user ID up.
  case userIDRevoked(String)
  /// Another user ID is the main one.
  case mainUserID(from: String, to: String)
  /// The holder has revoked the key.
  case revoked
  /// There is a new part to encrypt to.
  case encryptionKeyAdded
  /// There is a new part for something else.
  case subkeyAdded
  /// The holder has revoked a part.
  case subkeyRevoked

  /// The changes between two copies of one certificate, judged at a time.
  public static func changes(from old: Certificate, to new: Certificate, at time: Timestamp) -> [KeyChange] {
    changes(from: KeySummary(old, at: time), to: KeySummary(new, at: time))
  }

  /// The changes between two copies of one certificate.
  static func changes(from old: KeySummary, to new: KeySummary) -> [KeyChange] {
    var changes: [KeyChange] = []
    if old.status != .revoked, new.status == .revoked { changes.append(.revoked) }
    if old.expires != new.expires { changes.append(.expiry(from: old.expires, to: new.expires)) }
    changes += new.userIDs.filter { !old.userIDs.contains($0) }.map { .userIDAdded($0) }
    for userID in old.userIDs where !new.userIDs.contains(userID) {
      changes.append(
        new.revokedUserIDs.contains(userID) ? .userIDRevoked(userID) : .userIDGone(userID))
    }
    if let from = old.userIDs.first, let to = new.userIDs.first, from != to {
      changes.append(.mainUserID(from: from, to: to))
    }
    for key in new.subkeys where !old.subkeys.contains(key) {
      changes.append(new.encryptionKeys.contains(key) ? .encryptionKeyAdded : .subkeyAdded)
    }
    // The revocation of the whole key says it for its parts.
    for key in new.status == .revoked ? [] : new.revokedKeys
    where old.subkeys.contains(key) && !old.revokedKeys.contains(key) {
      changes.append(.subkeyRevoked)
    }
    return changes
  }

  /// Whether the user is asked before it is stored. A revocation never waits.
  /// - Parameter isVerified: whether the contact is.
  func needsDecision(isVerified: Bool) -> Bool {
    switch self {
    case .expiry(_, nil): true
    case .userIDGone, .mainUserID: isVerified
    default: false
    }
  }
}

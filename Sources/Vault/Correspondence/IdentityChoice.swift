// SPDX-License-Identifier: Apache-2.0
//
// Which of the user's own identities some words mean: by the rules for everybody. Several is an answer too: nothing
// is guessed.

internal import Contacts
public import Identities
internal import OpenPGP

extension [Identity] {
  /// The answer to some words of a user.
  public enum Choice: Sendable {
    /// Exactly this one.
    case one(Identity)
    /// Several fit; the words have to be longer.
    case several([Identity])
    /// Nothing fits.
    case nothing
    /// Nothing fits, and the words look like a fingerprint that was cut off, which can be forged.
    case shortFingerprint
  }

  /// The identities that words mean, by the rules of ``AddressBook/find(_:)``; `me` is the default identity unless
  /// something else is called that.
  public func choose(_ who: String) -> Choice {
    let fitting: [Identity]
    do { fitting = try ContactQuery(who).fitting(self) { $0.whoNames } } catch { return .shortFingerprint }
    switch fitting.count {
    case 0:
      guard who.lowercased() == "me", let first else { return .nothing }
      return .one(first)
    case 1: return .one(fitting[0])
    default: return .several(fitting)
    }
  }
}

extension Identity {
  /// What it can be meant by.
  var whoNames: WhoNames {
    WhoNames(
      fingerprints: certificate.publicKeys.map(\.fingerprint), addresses: userIDs.compactMap(\.address),
      names: userIDs.compactMap(\.name), userIDs: userIDs.map(\.text))
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// What signatures over keys and user IDs say, beyond what all signatures do. Facts come from the hashed area.

extension Signature {
  /// Whether `key` is among those that are hinted at as its maker, of a version that goes with it: without a
  /// hint it may be anybody's. Costs no cryptography, so that thousands of other people's signatures can be
  /// passed over.
  func mayBe(by key: PublicKey) -> Bool {
    guard fits(key) else { return false }
    let fingerprints = issuerFingerprints
    let keyIDs = issuerKeyIDs
    return fingerprints.isEmpty && keyIDs.isEmpty || fingerprints.contains(key.fingerprint)
      || keyIDs.contains(key.keyID)
  }

  var keyFlags: KeyFlags? {
    hashedArea.last { if case .keyFlags(let flags) = $0 { flags } else { nil } }
  }

  /// When `key` ends by this signature; nil is never, and so are zero seconds (section 5.2.3.13).
  func keyExpirationTime(of key: PublicKey) -> Timestamp? {
    let seconds: UInt32? = hashedArea.last {
      if case .keyExpirationTime(let seconds) = $0 { seconds } else { nil }
    }
    guard let seconds, seconds != 0 else { return nil }
    return key.creationTime.adding(seconds: seconds)
  }
}

extension Certificate {
  /// Revocations of subkeys that may be the holder's: those that stand where they do not belong first, then
  /// those behind subkeys; no more than ``Limits/subkeyRevocationCount``.
  var subkeyRevocations: [Signature] {
    let places =
      [signatures] + userIDs.map(\.signatures) + userAttributes.map(\.signatures)
      + opaqueSubkeys.map(\.signatures) + subkeys.map(\.signatures)
    let found = places.joined().lazy
      .filter { $0.type == .subkeyRevocation && $0.mayBe(by: primaryKey) }
      .prefix(Limits.subkeyRevocationCount)
    return Array(found)
  }
}

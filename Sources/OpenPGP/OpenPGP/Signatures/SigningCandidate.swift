// SPDX-License-Identifier: Apache-2.0
//
// Which keys may have made a signature. Issuers are hints: they choose what is tried, and prove nothing. Who names
// nobody is not looked for.

/// A key that may have made a signature.
struct SigningCandidate {
  let key: PublicKey
  let primaryKey: Fingerprint
  let certificateIndex: Int

  /// The keys that `signature` names; at most ``Limits/issuerAttemptCount``.
  static func all(for signature: Signature, in certificates: [Certificate]) -> [SigningCandidate] {
    let fingerprints = Set(signature.issuerFingerprints)
    let keyIDs = Set(signature.issuerKeyIDs).subtracting([.anonymous])
    var candidates: [SigningCandidate] = []
    for (index, certificate) in certificates.enumerated() {
      for key in [certificate.primaryKey] + certificate.subkeys.map(\.packet) {
        guard fingerprints.contains(key.fingerprint) || keyIDs.contains(key.keyID) else { continue }
        candidates.append(
          SigningCandidate(key: key, primaryKey: certificate.fingerprint, certificateIndex: index))
        if candidates.count == Limits.issuerAttemptCount { return candidates }
      }
    }
    return candidates
  }
}

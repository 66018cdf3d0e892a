// SPDX-License-Identifier: Apache-2.0
//
// Which keys may have made a signature. Issuers are hints: they choose what is tried, and prove nothing.

/// A key that may have made a signature.
struct SigningCandidate {
  let key: PublicKey
  let primaryKey: Fingerprint
  let certificateIndex: Int

  /// The keys that `signature` names, or all of its kind when it names none; at most
  /// ``Limits/issuerAttemptCount``.
  static func all(for signature: Signature, in certificates: [Certificate]) -> [SigningCandidate] {
    let fingerprints = Set(signature.issuerFingerprints)
    let keyIDs = Set(signature.issuerKeyIDs).subtracting([.anonymous])
    let isNamed = !fingerprints.isEmpty || !keyIDs.isEmpty
    var candidates: [SigningCandidate] = []
    for (index, certificate) in certificates.enumerated() {
      for key in [certificate.primaryKey] + certificate.subkeys.map(\.packet) {
        let fits =
          isNamed
          ? fingerprints.contains(key.fingerprint) || keyIDs.contains(key.keyID)
          : signature.fits(key)
        guard fits else { continue }
        candidates.append(
          SigningCandidate(key: key, primaryKey: certificate.fingerprint, certificateIndex: index))
        if candidates.count == Limits.issuerAttemptCount { return candidates }
      }
    }
    return candidates
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// What a certificate says of a key costs a verification for every statement that claims to be the holder's, and
// anybody can put thousands of those into a certificate and copies of one signature on a document. One thing is
// not found out twice.

/// What certificates said of keys at the times of the signatures on one document.
final class SigningKeyCache {
  private struct Question: Hashable {
    let certificateIndex: Int
    let key: Fingerprint
    let time: Timestamp
  }

  private var results: [Question: SignatureVerification.Result] = [:]

  /// How many different questions were asked.
  var count: Int { results.count }

  /// What `find` finds, or has found before for the same key, certificate and time.
  func result(
    of candidate: SigningCandidate, at time: Timestamp, orFind find: () -> SignatureVerification.Result
  ) -> SignatureVerification.Result {
    let question = Question(
      certificateIndex: candidate.certificateIndex, key: candidate.key.fingerprint, time: time)
    if let known = results[question] { return known }
    let result = find()
    results[question] = result
    return result
  }
}

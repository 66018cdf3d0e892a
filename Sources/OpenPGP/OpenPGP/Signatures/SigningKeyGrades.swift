// SPDX-License-Identifier: Apache-2.0
//
// What a certificate says of a key costs a verification for every statement that claims to be the holder's, and
// anybody can put thousands of those into a certificate and copies of one signature on a document. One thing is
// not found out twice.

/// What certificates said of keys at the times of the signatures on one document.
final class SigningKeyGrades {
  private struct Question: Hashable {
    let certificateIndex: Int
    let key: Fingerprint
    let time: Timestamp
  }

  private var grades: [Question: SignatureVerdict.Grade] = [:]

  /// How many different questions were asked.
  var count: Int { grades.count }

  /// What `find` finds, or has found before for the same key, certificate and time.
  func grade(
    of candidate: SigningCandidate, at time: Timestamp, orFind find: () -> SignatureVerdict.Grade
  ) -> SignatureVerdict.Grade {
    let question = Question(
      certificateIndex: candidate.certificateIndex, key: candidate.key.fingerprint, time: time)
    if let known = grades[question] { return known }
    let grade = find()
    grades[question] = grade
    return grade
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The primary key and the subkeys of a certificate, in words and in JSON: only with --details.

internal import Contacts
internal import OpenPGP

enum PartWords {
  /// What it is, for what, from when to when.
  static func line(_ part: CertificatePart) -> String {
    var facts = [part.algorithm]
    if !part.purposes.isEmpty { facts.append("to \(part.purposes.joined(separator: ", "))") }
    facts.append("made \(ContactWords.day(part.created.secondsSince1970))")
    let end = part.expires.map { ContactWords.day($0.secondsSince1970) }
    switch part.problem {
    case nil: facts.append(end.map { "expires \($0)" } ?? "never expires")
    case .expired: facts.append("EXPIRED" + (end.map { " \($0)" } ?? ""))
    case .revoked: facts.append("REVOKED")
    default: facts.append("cannot be used")
    }
    return facts.joined(separator: ", ")
  }

  struct Answer: Encodable {
    let fingerprint: String
    let algorithm: String
    let purposes: [String]
    let created: String
    let expires: String?
    let state: String

    init(_ part: CertificatePart) {
      fingerprint = FingerprintText.plain(part.fingerprint)
      algorithm = part.algorithm
      purposes = part.purposes
      created = ContactWords.instant(part.created.secondsSince1970)
      expires = part.expires.map { ContactWords.instant($0.secondsSince1970) }
      state =
        switch part.problem {
        case nil: "good"
        case .expired: "expired"
        case .revoked: "revoked"
        default: "unusable"
        }
    }
  }
}

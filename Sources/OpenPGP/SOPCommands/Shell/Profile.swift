// SPDX-License-Identifier: Apache-2.0
//
// The profiles, by their names in this command and by the names that all implementations share (the draft
// allows four lines in a list), and the kinds of documents.

internal import OpenPGP

/// A way to make keys or messages.
enum Profile: String, CaseIterable {
  /// Version 4, Ed25519 (EdDSALegacy) and Curve25519 (ECDH), SEIPD version 1: understood by GnuPG.
  case universal = "rfc4880"
  /// Version 6, Ed448 and X448, SEIPD version 2, Argon2.
  case advanced = "rfc9580"
  /// Version 6, ML-DSA-65+Ed25519 and ML-KEM-768+X25519 (RFC 9980).
  case postQuantum = "pqc"
  /// Version 6, ML-DSA-87+Ed448 and ML-KEM-1024+X448.
  case postQuantumHigh = "pqc-high"
  /// Version 6, SLH-DSA-SHAKE-128s and ML-KEM-768+X25519.
  case hashBased128s = "slh-dsa-128s"
  /// Version 6, SLH-DSA-SHAKE-128f and ML-KEM-768+X25519.
  case hashBased128f = "slh-dsa-128f"
  /// Version 6, SLH-DSA-SHAKE-256s and ML-KEM-1024+X448.
  case hashBased256s = "slh-dsa-256s"

  /// What keys of this profile are made of.
  var keys: KeyProfile {
    switch self {
    case .universal: .universal
    case .advanced: .advanced
    case .postQuantum: .postQuantum
    case .postQuantumHigh: .postQuantumHigh
    case .hashBased128s: .hashBased128s
    case .hashBased128f: .hashBased128f
    case .hashBased256s: .hashBased256s
    }
  }

  /// The profile of that name; nil when there is none.
  init?(named name: String) {
    switch name {
    case "default", "compatibility", Profile.universal.rawValue: self = .universal
    case "security", "performance", Profile.advanced.rawValue: self = .advanced
    default: self.init(rawValue: name)
    }
  }

  /// The profile that a call asks for; nil when it does not.
  /// - Parameter known: the profiles of the subcommand.
  /// - Throws: 89.
  static func asked(_ call: Call, of known: [Profile] = allCases) throws(Failure) -> Profile? {
    guard let name = call.value("profile"), name != "default" else { return nil }
    guard let profile = Profile(named: name), known.contains(profile) else {
      throw Failure(
        .unsupportedProfile, "there is no profile '\(name)'", hint: "coffer-sop list-profiles SUBCOMMAND")
    }
    return profile
  }
}

/// What `--as` says that a document is.
enum DocumentMode: String {
  case binary, text
}

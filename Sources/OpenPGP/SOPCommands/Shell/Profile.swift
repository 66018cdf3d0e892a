// SPDX-License-Identifier: Apache-2.0
//
// The profiles, by their names in this command and by the names that all implementations share (the draft
// allows four lines in a list), and the kinds of documents.

/// A way to make keys or messages.
enum Profile: String, CaseIterable {
  /// Version 4, Ed25519 (EdDSALegacy) and Curve25519 (ECDH), SEIPD version 1: understood by GnuPG.
  case universal = "rfc4880"
  /// Version 6, Ed448 and X448, SEIPD version 2, Argon2.
  case advanced = "rfc9580"

  /// The profile of that name; nil when there is none.
  init?(named name: String) {
    switch name {
    case "default", "compatibility", Profile.universal.rawValue: self = .universal
    case "security", "performance", Profile.advanced.rawValue: self = .advanced
    default: return nil
    }
  }

  /// The profile that a call asks for; nil when it does not.
  /// - Throws: 89.
  static func asked(_ call: Call) throws(Failure) -> Profile? {
    guard let name = call.value("profile"), name != "default" else { return nil }
    guard let profile = Profile(named: name) else {
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

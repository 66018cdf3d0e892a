// SPDX-License-Identifier: Apache-2.0

enum ListProfilesCommand: Subcommand {
  static let name = "list-profiles"
  static let operandNames = ["SUBCOMMAND"]
  static let operandCounts = 1...1
  static let page = """
    coffer-sop list-profiles: the profiles of a subcommand, the default first

    usage: coffer-sop list-profiles SUBCOMMAND

    generate-key and encrypt have profiles. Each has other names too, in brackets.

    example: coffer-sop list-profiles generate-key
    """

  static func run(_ call: Call) throws(Failure) {
    switch call.operands[0] {
    case GenerateKeyCommand.name:
      try StandardStreams.print(
        """
        rfc4880: version 4, Ed25519 and Curve25519, as GnuPG reads it (aliases: default, compatibility)
        rfc9580: version 6, Ed448 and X448, Argon2 (aliases: security, performance)
        pqc: version 6, safe against quantum computers: ML-DSA-65+Ed25519, ML-KEM-768+X25519
        pqc-high: the same, stronger and larger: ML-DSA-87+Ed448, ML-KEM-1024+X448

        """)
    case EncryptCommand.name:
      try StandardStreams.print(
        """
        default: the best that all recipients can read; for passwords alone as rfc4880
        rfc4880: for passwords, version 1 and iterated S2K, as GnuPG reads it (alias: compatibility)
        rfc9580: for passwords, version 2 (AEAD) and Argon2 (aliases: security, performance)

        """)
    default:
      throw Failure(
        .unsupportedProfile, "'\(call.operands[0])' has no profiles",
        hint: "generate-key and encrypt have some")
    }
  }
}

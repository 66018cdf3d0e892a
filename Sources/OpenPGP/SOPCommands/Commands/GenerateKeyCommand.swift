// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP

enum GenerateKeyCommand: Subcommand {
  static let name = "generate-key"
  static let operandCounts = 0...any
  static let options: [OptionRule] = [
    .flag("no-armor"), .value("with-key-password"), .value("profile"), .flag("signing-only"),
  ]
  static let page = """
    coffer-sop generate-key: makes a secret key

    usage: coffer-sop generate-key [OPTIONS] [USERID ...] > KEYS

      --profile=NAME              rfc4880 (the default), rfc9580, pqc or pqc-high: see list-profiles;
                                  slh-dsa-128s, slh-dsa-128f or slh-dsa-256s: signatures by a hash alone
      --signing-only              no subkey to encrypt to
      --with-key-password=FILE    protect it with this password
      --no-armor                  binary output

    example: coffer-sop generate-key --profile=rfc9580 'Alice <alice@example.org>' > alice.key
    """

  static func run(_ call: Call) throws(Failure) {
    let profile = try Profile.asked(call) ?? .universal
    let password = try call.value("with-key-password").map { (name) throws(Failure) in
      try Password(name).new()
    }
    var generation = KeyGeneration(
      profile.keys, userIDs: call.operands.map { UserID($0) },
      creationTime: CalendarTime.now())
    generation.isSigningOnly = call.has("signing-only")
    let key: TransferableSecretKey
    do {
      key = try generation.generate(password: password)
    } catch {
      throw Failure(error, .keys)
    }
    try KeyFiles.write([key], isArmored: !call.has("no-armor"))
  }
}

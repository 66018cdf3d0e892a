// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP

enum ExtractCertCommand: Subcommand {
  static let name = "extract-cert"
  static let operandCounts = 0...0
  static let options: [OptionRule] = [.flag("no-armor")]
  static let page = """
    coffer-sop extract-cert: the certificates of secret keys

    usage: coffer-sop extract-cert [--no-armor] < KEYS > CERTS

      --no-armor    binary output

    example: coffer-sop extract-cert < alice.key > alice.cert
    """

  static func run(_ call: Call) throws(Failure) {
    let keys = try KeyFiles.keys(in: StandardStreams.input())
    try KeyFiles.write(keys.map(\.certificate), isArmored: !call.has("no-armor"))
  }
}

// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP

enum MergeCertsCommand: Subcommand {
  static let name = "merge-certs"
  static let operandCounts = 0...any
  static let options: [OptionRule] = [.flag("no-armor")]
  static let page = """
    coffer-sop merge-certs: brings copies of certificates together

    usage: coffer-sop merge-certs [--no-armor] [CERTS ...] < CERTS > CERTS

    Only certificates of standard input come out, with all that the files know of them.

      --no-armor    binary output

    example: coffer-sop merge-certs alice.revoked < alice.cert > alice.new
    """

  static func run(_ call: Call) throws(Failure) {
    var merged = try KeyFiles.certificates(in: StandardStreams.input())
    let index = Dictionary(
      merged.enumerated().map { ($0.element.fingerprint, $0.offset) }, uniquingKeysWith: { first, _ in first }
    )
    for designator in call.operands {
      for other in try KeyFiles.certificates(at: designator) {
        if let place = index[other.fingerprint] { merged[place] = merged[place].merging(other) }
      }
    }
    try KeyFiles.write(merged, isArmored: !call.has("no-armor"))
  }
}

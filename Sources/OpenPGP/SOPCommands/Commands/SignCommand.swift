// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP

enum SignCommand: Subcommand {
  static let name = "sign"
  static let operandNames = ["KEYS"]
  static let operandCounts = 1...any
  static let options: [OptionRule] = [
    .flag("no-armor"), .value("micalg-out"), .values("with-key-password"), .value("as"),
  ]
  static let page = """
    coffer-sop sign: makes detached signatures

    usage: coffer-sop sign [OPTIONS] KEYS ... < DATA > SIGNATURES

      --as=binary|text            text: UTF-8, whatever its line ends
      --with-key-password=FILE    opens the keys; can be given several times
      --micalg-out=FILE           the hash algorithm, for PGP/MIME
      --no-armor                  binary output

    example: coffer-sop sign alice.key < letter.txt > letter.sig
    """

  static func run(_ call: Call) throws(Failure) {
    let mode = try call.choice("as", DocumentMode.binary)
    let now = CalendarTime.now()
    let algorithmOutput = try call.value("micalg-out").map { (name) throws(Failure) in
      try OutputDesignator(name)
    }
    let signers = try SigningKeys(call, at: now).signers(at: call.operands)
    let signatures: [Signature]
    do {
      var signing = DetachedSigning(signers, time: now)
      signing.isText = mode == .text
      signatures = try signing.sign(StandardStreams.input())
    } catch {
      throw Failure(error, .document)
    }
    try algorithmOutput?.prepare(algorithmNames(signatures))
    try StandardStreams.write(call.has("no-armor") ? nil : .signature, .document) {
      (sink) throws(OpenPGPError) in
      for signature in signatures { try Packet.signature(signature).write(to: sink) }
    }
    try algorithmOutput?.finish()
  }

  /// The value of `micalg` (RFC 3156, section 5); nothing when the signatures are not of one algorithm.
  private static func algorithmNames(_ signatures: [Signature]) -> String {
    let names = Set(signatures.map { "pgp-\($0.hash.textName?.lowercased() ?? "")" })
    return names.count == 1 ? names.joined() : ""
  }
}

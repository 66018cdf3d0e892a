// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import OpenPGP
internal import Secrets

enum InlineDetachCommand: Subcommand {
  static let name = "inline-detach"
  static let operandCounts = 0...0
  static let options: [OptionRule] = [.flag("no-armor"), .value("signatures-out")]
  static let page = """
    coffer-sop inline-detach: takes a signed message apart, without verifying it

    usage: coffer-sop inline-detach --signatures-out=FILE [--no-armor] < INLINESIGNED > DATA

      --signatures-out=FILE    the signatures
      --no-armor               binary signatures

    example: coffer-sop inline-detach --signatures-out=letter.sig < letter.pgp > letter.txt
    """

  static func run(_ call: Call) throws(Failure) {
    guard let name = call.value("signatures-out") else {
      throw Failure(.missingArgument, "no --signatures-out is given")
    }
    let signaturesOutput = try OutputDesignator(name)
    var release = Release()
    let isArmored = !call.has("no-armor")
    func mayRelease(_ signatures: [Signature]) -> Bool {
      release.isAllowed { () throws(Failure) in
        try prepare(signaturesOutput, with: signatures, isArmored: isArmored)
      }
    }
    do throws(OpenPGPError) {
      let input = try SpooledSource(descriptor: STDIN_FILENO)
      let output = StandardStreams.output()
      let signatures: [Signature]
      if case .cleartext(let message) = try OpenPGPInput(input) {
        signatures = message.signatures
        guard !signatures.isEmpty else { throw .malformed(.cleartextSignature) }
        if mayRelease(signatures) { try message.writeUnverifiedText(to: output) }
      } else {
        try input.rewind(recognising: true)
        signatures = try InlineMessageReader(verifier: nil).read(from: input, to: output) {
          !$0.signatures.isEmpty && mayRelease($0.signatures)
        }.signatures
        guard !signatures.isEmpty else { throw .malformed(.messageStructure) }
      }
      try output.flush()
    } catch {
      throw Failure(error, .message)
    }
    try release.throwFailure()
    try signaturesOutput.finish()
  }

  private static func prepare(
    _ output: OutputDesignator, with signatures: [Signature], isArmored: Bool
  ) throws(Failure) {
    let collected = ArraySink()
    do {
      let armor = isArmored ? try ArmorWriter(collected, kind: .signature) : nil
      for signature in signatures { try Packet.signature(signature).write(to: armor ?? collected) }
      try armor?.finish()
    } catch {
      throw Failure(error, .signatures)
    }
    try output.prepare(collected.bytes.rawSpan)
  }
}

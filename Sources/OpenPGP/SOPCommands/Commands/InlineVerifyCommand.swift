// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import OpenPGP

enum InlineVerifyCommand: Subcommand {
  static let name = "inline-verify"
  static let operandNames = ["CERTS"]
  static let operandCounts = 1...any
  static let options: [OptionRule] = [
    .value("not-before"), .value("not-after"), .value("verifications-out"),
  ]
  static let page = """
    coffer-sop inline-verify: verifies a signed message

    usage: coffer-sop inline-verify [OPTIONS] CERTS ... < INLINESIGNED > DATA

    Succeeds when one signature is good; nothing comes out before that is known.

      --verifications-out=FILE    a line for each signature that is good
      --not-before=TIME           older signatures do not count; - means no limit, the default
      --not-after=TIME            younger ones do not count; - means no limit, the default

    example: coffer-sop inline-verify alice.cert < letter.pgp > letter.txt
    """

  static func run(_ call: Call) throws(Failure) {
    let verificationsOutput = try call.value("verifications-out").map { (name) throws(Failure) in
      try OutputDesignator(name)
    }
    let verification = try Verification(
      with: call.operands, notBefore: call.value("not-before"), notAfter: call.value("not-after"))
    let verifications = try verifications(verification.verifier) { (verifications) throws(Failure) in
      try verificationsOutput?.prepare(verification.lines(verifications))
    }
    guard verifications.contains(where: { $0.verified != nil }) else {
      throw Verification.noSignature(verifications)
    }
    try verificationsOutput?.finish()
  }

  /// - Parameter prepare: writes what else is to come of a message with a good signature, before its data do.
  private static func verifications(
    _ verifier: SignatureVerifier, preparing prepare: ([SignatureVerification]) throws(Failure) -> Void
  ) throws(Failure) -> [SignatureVerification] {
    var release = Release()
    let found: [SignatureVerification]
    do throws(OpenPGPError) {
      let input = try SpooledSource(descriptor: STDIN_FILENO)
      let output = StandardStreams.output()
      let verifications: [SignatureVerification]
      if case .cleartext(let message) = try OpenPGPInput(input) {
        verifications = try message.verify(with: verifier, writingTo: output) { verifications in
          release.isAllowed { () throws(Failure) in try prepare(verifications) }
        }
      } else {
        try input.rewind(recognising: true)
        verifications = try InlineMessageReader(verifier: verifier).read(from: input, to: output) { message in
          message.verifications.contains { $0.verified != nil }
            && release.isAllowed { () throws(Failure) in try prepare(message.verifications) }
        }.verifications
      }
      try output.flush()
      found = verifications
    } catch {
      throw Failure(error, .message)
    }
    try release.throwFailure()
    return found
  }
}

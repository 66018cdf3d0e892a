// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP

enum VerifyCommand: Subcommand {
  static let name = "verify"
  static let operandNames = ["SIGNATURES", "CERTS"]
  static let operandCounts = 2...any
  static let options: [OptionRule] = [.value("not-before"), .value("not-after")]
  static let page = """
    coffer-sop verify: verifies detached signatures

    usage: coffer-sop verify [OPTIONS] SIGNATURES CERTS ... < DATA > VERIFICATIONS

    Succeeds when one signature is good, and prints a line for each that is.

      --not-before=TIME    older signatures do not count; - means no limit, the default
      --not-after=TIME     younger ones do not count; - means no limit, the default

    example: coffer-sop verify letter.sig alice.cert < letter.txt
    """

  static func run(_ call: Call) throws(Failure) {
    let verification = try Verification(
      with: Array(call.operands.dropFirst()), notBefore: call.value("not-before"),
      notAfter: call.value("not-after"))
    let list = try InputDesignator(call.operands[0]).withSource { (source) throws(Failure) in
      try readSignatures(source)
    }
    let verifications: [SignatureVerification]
    do {
      verifications = try DetachedVerification(verification.verifier).verify(
        list.signatures, over: StandardStreams.input())
    } catch {
      throw Failure(error, .document)
    }
    let lines = verification.lines(verifications)
    guard !lines.isEmpty else { throw Verification.noSignature(verifications) }
    try StandardStreams.print(lines)
  }

  private static func readSignatures(_ source: any ByteSource) throws(Failure) -> SignatureList {
    do throws(OpenPGPError) {
      let list = try SignatureList(reading: OpenPGPInput.packets(source, .allBlocks))
      guard list.hasSignature else { throw .malformed(.signature) }
      return list
    } catch {
      throw Failure(error, .signatures)
    }
  }
}

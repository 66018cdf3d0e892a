// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP

enum ValidateUserIDCommand: Subcommand {
  static let name = "validate-userid"
  static let operandNames = ["USERID", "CERTS"]
  static let operandCounts = 2...any
  static let options: [OptionRule] = [.flag("addr-spec-only"), .value("validate-at")]
  static let page = """
    coffer-sop validate-userid: whether authorities certify who holds certificates

    usage: coffer-sop validate-userid [OPTIONS] USERID CERTS ... < CERTS

    Succeeds when every certificate of standard input has the user ID, claimed by its holder and certified by
    an authority, which the CERTS are.

      --addr-spec-only      USERID is a mail address; any name may come with it
      --validate-at=TIME    as things were then, not now

    example: coffer-sop validate-userid 'Bob <bob@example.org>' alice.cert < bob.cert
    """

  static func run(_ call: Call) throws(Failure) {
    let now = CalendarTime.now()
    let time = try CalendarTime.bound(call.value("validate-at") ?? "now") ?? now
    func valid(_ certificate: Certificate) -> ValidCertificate {
      ValidCertificate(certificate, at: time, now: max(time, now), policy: .standard)
    }
    let others = try KeyFiles.certificates(at: Array(call.operands.dropFirst()))
    let judged = try KeyFiles.certificates(in: StandardStreams.input())
    // Any of them may revoke another that allows it.
    let everybody = others + judged
    let authorities = others.map { valid($0.knowing(everybody)) }
    let wanted = call.operands[0]
    for certificate in judged.map({ $0.knowing(everybody) }) {
      let candidates = certificate.userIDs.map(\.packet).filter {
        call.has("addr-spec-only") ? $0.address == wanted : $0 == UserID(wanted)
      }
      let valid = valid(certificate)
      guard candidates.contains(where: { valid.isCertified($0, by: authorities) }) else {
        throw Failure(
          .certificateUserIDNoMatch, "no authority certifies this user ID on a certificate",
          hint: "do not rely on whose it is")
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP

enum CertifyUserIDCommand: Subcommand {
  static let name = "certify-userid"
  static let operandNames = ["KEYS"]
  static let operandCounts = 1...any
  static let options: [OptionRule] = [
    .flag("no-armor"), .values("userid"), .values("with-key-password"), .flag("no-require-self-sig"),
  ]
  static let page = """
    coffer-sop certify-userid: certifies who holds certificates

    usage: coffer-sop certify-userid --userid=USERID [OPTIONS] KEYS ... < CERTS > CERTS

      --userid=USERID             to be certified on every certificate; can be given several times
      --no-require-self-sig       also when its holder does not claim it
      --with-key-password=FILE    opens the keys; can be given several times
      --no-armor                  binary output

    example: coffer-sop certify-userid --userid='Bob <bob@example.org>' alice.key < bob.cert > bob.new
    """

  static func run(_ call: Call) throws(Failure) {
    let userIDs = call.all("userid").map { UserID($0) }
    guard !userIDs.isEmpty else { throw Failure(.missingArgument, "no --userid is given") }
    let now = CalendarTime.now()
    let signing = try SigningKeys(call, at: now)
    var signers: [any Signer] = []
    for key in try KeyFiles.keys(at: call.operands) { signers.append(try signing.certifier(of: key)) }
    var certificates = try KeyFiles.certificates(in: StandardStreams.input())
    for index in certificates.indices {
      let valid = ValidCertificate(certificates[index], at: now, now: now, policy: .standard)
      for userID in userIDs {
        let isClaimed =
          valid.problem == nil && valid.userIDs.contains { $0.userID == userID && $0.problem == nil }
        guard isClaimed || call.has("no-require-self-sig") else {
          throw Failure(
            .certificateUserIDNoMatch, "the holder of a certificate does not claim this user ID",
            hint: "--no-require-self-sig certifies it anyway")
        }
        for signer in signers {
          certificates[index] = try certified(certificates[index], userID, signer, now)
        }
      }
    }
    try KeyFiles.write(certificates, isArmored: !call.has("no-armor"))
  }

  private static func certified(
    _ certificate: Certificate, _ userID: UserID, _ signer: any Signer, _ time: Timestamp
  ) throws(Failure) -> Certificate {
    do {
      return try certificate.certifying(userID, at: time, by: signer)
    } catch {
      throw Failure(error, .keys)
    }
  }
}

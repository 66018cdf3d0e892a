// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP

enum RevokeKeyCommand: Subcommand {
  static let name = "revoke-key"
  static let operandCounts = 0...0
  static let options: [OptionRule] = [.flag("no-armor"), .values("with-key-password")]
  static let page = """
    coffer-sop revoke-key: ends keys

    usage: coffer-sop revoke-key [OPTIONS] < KEYS > CERTS

    What comes out is each primary key with its revocation. Merged into the certificate, wherever that is, it
    ends all that the key was used for, without giving a reason.

      --with-key-password=FILE    opens the keys; can be given several times
      --no-armor                  binary output

    example: coffer-sop revoke-key < alice.key > alice.revoked
    """

  static func run(_ call: Call) throws(Failure) {
    let now = CalendarTime.now()
    let passwords = try [Password](call.all("with-key-password")).candidates
    let keys = try KeyFiles.keys(in: StandardStreams.input())
    var revoked: [Certificate] = []
    for key in keys {
      do {
        let signer = try key.unlocked(key.certificate.fingerprint, for: .certify, passwords: passwords)
        revoked.append(
          try key.certificate.revocationCertificate(reason: RevocationReason(.none), at: now, by: signer))
      } catch {
        throw Failure(error, .keys)
      }
    }
    try KeyFiles.write(revoked, isArmored: !call.has("no-armor"))
  }
}

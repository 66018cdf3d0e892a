// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP
internal import Secrets

enum ChangeKeyPasswordCommand: Subcommand {
  static let name = "change-key-password"
  static let operandCounts = 0...0
  static let options: [OptionRule] = [
    .flag("no-armor"), .value("new-key-password"), .values("old-key-password"),
  ]
  static let page = """
    coffer-sop change-key-password: protects secret keys with a new password

    usage: coffer-sop change-key-password [OPTIONS] < KEYS > KEYS

      --old-key-password=FILE    opens the keys; can be given several times
      --new-key-password=FILE    protects them; without it they come out unprotected
      --no-armor                 binary output

    example: coffer-sop change-key-password --new-key-password=new.txt < alice.key > locked.key
    """

  static func run(_ call: Call) throws(Failure) {
    let old = try [Password](call.all("old-key-password")).candidates
    let new = try call.value("new-key-password").map { (name) throws(Failure) in try Password(name).new() }
    var keys = try KeyFiles.keys(in: StandardStreams.input())
    do {
      for index in keys.indices { try keys[index].changePassword(from: old, to: new) }
    } catch .keyIsLocked, .wrongPassword {
      throw Failure(
        .keyIsProtected, "a secret key is protected, and no password that was given opens it",
        hint: "--old-key-password=FILE")
    } catch {
      throw Failure(error, .keys)
    }
    try KeyFiles.write(keys, isArmored: !call.has("no-armor"))
  }
}

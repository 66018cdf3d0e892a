// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP
internal import Secrets

enum UpdateKeyCommand: Subcommand {
  static let name = "update-key"
  static let operandCounts = 0...0
  static let options: [OptionRule] = [
    .flag("no-armor"), .flag("signing-only"), .flag("no-added-capabilities"), .flag("revoke-deprecated-keys"),
    .values("with-key-password"), .values("merge-certs"),
  ]
  static let page = """
    coffer-sop update-key: brings secret keys up to date

    usage: coffer-sop update-key [OPTIONS] < KEYS > KEYS

    Preferences, features and the hash of self-signatures become those of new keys; what a key cannot do, a new
    subkey does. A key that is up to date comes out as it went in.

      --signing-only              no new subkey to encrypt to
      --no-added-capabilities     no new subkeys
      --revoke-deprecated-keys    revokes subkeys that the policy refuses
      --merge-certs=CERTS         takes in what these know of the keys; can be given several times
      --with-key-password=FILE    opens the keys; can be given several times
      --no-armor                  binary output

    example: coffer-sop update-key --merge-certs=alice.cert < alice.key > alice.new
    """

  static func run(_ call: Call) throws(Failure) {
    let passwords = try [Password](call.all("with-key-password")).candidates
    let others = try KeyFiles.certificates(at: call.all("merge-certs"))
    var refresh = KeyUpdate(time: CalendarTime.now(), policy: .standard)
    refresh.isSigningOnly = call.has("signing-only")
    refresh.addsCapabilities = !call.has("no-added-capabilities")
    refresh.revokesRefusedKeys = call.has("revoke-deprecated-keys")
    var keys = try KeyFiles.keys(in: StandardStreams.input())
    for index in keys.indices {
      for other in others where other.fingerprint == keys[index].certificate.fingerprint {
        keys[index].certificate = keys[index].certificate.merging(other)
      }
      keys[index] = try refreshed(keys[index], refresh, passwords)
    }
    try KeyFiles.write(keys, isArmored: !call.has("no-armor"))
  }

  private static func refreshed(
    _ key: TransferableSecretKey, _ refresh: KeyUpdate, _ passwords: [SharedSecretBytes]
  ) throws(Failure) -> TransferableSecretKey {
    do {
      return try refresh.apply(to: key, passwords: passwords)
    } catch .refused(let rule) {
      throw Failure(
        .primaryKeyBad, "a primary key is refused by policy: \(PolicyWords.text(rule))",
        hint: "make a new key with generate-key")
    } catch .keyCannot {
      throw Failure(
        .primaryKeyBad, "a primary key has expired, was revoked, or is not here",
        hint: "make a new key with generate-key")
    } catch {
      throw Failure(error, .keys)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// OpenPGP for people: how soon commands answer with 1,000 contacts and 50 identities. The peer is gpg with as many keys.

import Foundation

enum PeopleGroup {
  private static let contactCount = 1_000
  private static let identityCount = 50

  static func run() throws {
    let place = try BenchCoffer()
    defer { place.remove() }
    defer { _ = try? place.plain(["lock", "--all"]) }
    let gpg = place.directory + "/gpg"
    try FileManager.default.createDirectory(
      atPath: gpg, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try fill(place, gpg)
    print("load average: \(SessionGroup.load())")
    var table = Table()
    try lists(place, gpg, &table)
    try small(place, gpg, &table)
    table.write()
  }

  private static func shell(_ place: BenchCoffer, _ line: String) throws -> Double {
    let sop = URL(filePath: BenchCoffer.binary).deletingLastPathComponent().appending(path: "coffer-sop").path
    let environment = place.environment.merging([
      "SOP": sop, "COFFER": BenchCoffer.binary, "D": place.directory,
    ]) { $1 }
    return try Command.time(["bash", "-euc", "cd \"$D\"; " + line], environment: environment)
  }

  private static func fill(_ place: BenchCoffer, _ gpg: String) throws {
    _ = try shell(
      place,
      """
      for i in $(seq \(contactCount)); do "$SOP" generate-key --no-armor "Contact $i <c$i@example.org>"; done > keys
      "$SOP" extract-cert --no-armor < keys > contacts
      "$SOP" generate-key --no-armor 'Friend <friend@example.org>' > friend; "$SOP" extract-cert < friend > friend.cert
      """)
    try place.coffer(["contact", "import", place.directory + "/contacts", "--all"])
    try place.coffer(["contact", "import", place.directory + "/friend.cert"])
    _ = try shell(place, "gpg --homedir \(gpg) --batch --quiet --import contacts keys friend.cert")
    for index in 1...identityCount {
      try place.coffer(["identity", "generate", "--user-id", "Me \(index) <me\(index)@example.org>"])
    }
    try place.coffer(["unlock"])
  }

  private static func lists(_ place: BenchCoffer, _ gpg: String, _ table: inout Table) throws {
    let contacts = try Harness.compare(
      ours: { try place.plain(["contact", "list"]).seconds },
      peers: [Peer(name: "gpg --list-keys") { try Command.time(["gpg", "--homedir", gpg, "--list-keys"]) }])
    table.add("contact list, 1,001", contacts.ours, peers: contacts.peers, target: .below(0.1))
    let identities = try Harness.compare(ours: { try place.plain(["identity", "list"]).seconds })
    table.add("identity list, 50", identities.ours, target: .below(0.1))
  }

  /// A hundred octets: the time is that until work begins.
  private static func small(_ place: BenchCoffer, _ gpg: String, _ table: inout Table) throws {
    _ = try shell(place, "head -c 100 /dev/urandom > small")
    _ = try shell(place, "\"$COFFER\" identity export me7@example.org > me.cert")
    let encrypted = try Harness.compare(
      ours: {
        try shell(
          place, "rm -f out; \"$COFFER\" encrypt --to c500@example.org --no-sign --no-self --output out small"
        )
      },
      peers: [
        Peer(name: "gpg --encrypt") {
          try shell(
            place,
            "rm -f out; gpg --homedir \(gpg) --batch --trust-model always -r c500@example.org -o out -e small"
          )
        }
      ])
    table.add("encrypt, 100 octets", encrypted.ours, peers: encrypted.peers, target: .below(0.1))
    _ = try shell(place, "\"$SOP\" encrypt me.cert < small > small.asc")
    let decrypted = try Harness.compare(
      ours: {
        try shell(
          place,
          "rm -f out; \"$COFFER\" decrypt --output out --passphrase-file \(place.passphraseFile) small.asc")
      },
      peers: [
        Peer(name: "slot opening alone (vault status)") { try place.coffer(["vault", "status"]).seconds }
      ])
    table.add("decrypt, 100 octets", decrypted.ours, peers: decrypted.peers)
    let beyond = decrypted.ours.median - decrypted.peers[0].series.median
    print("decrypt beyond the key derivation: \(Table.time(max(0, beyond))) (target 100 ms)")
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The command as a whole process: how long it takes to start, to open a slot, to show a message.

import Foundation

enum CommandGroup {
  static func run() throws {
    let runs = 15
    let argon = try BenchCoffer()
    defer { argon.remove() }
    let pbkdf2 = try BenchCoffer(kdf: "pbkdf2")
    defer { pbkdf2.remove() }
    let mbox = argon.directory + "/mail.mbox"
    try SampleMail.write(1_000, to: mbox)
    for place in [argon, pbkdf2] { try place.coffer(["message", "import", "mbox", mbox]) }

    var table = Table()
    let version = try Harness.compare(
      rounds: runs, ours: { try Command.time([BenchCoffer.binary, "--version"]) },
      peers: [
        Peer(name: "openssl version") { try Command.time(["openssl", "version"]) },
        Peer(name: "gpg --version") { try Command.time(["gpg", "--version"]) },
      ])
    table.add("coffer --version", version.ours, peers: version.peers, target: .below(0.015))

    let id = try firstID(argon)
    let shown = try Harness.compare(
      rounds: runs, ours: { try argon.coffer(["message", "show", id]).seconds },
      peers: [
        Peer(name: "slot opening alone (vault status)") { try argon.coffer(["vault", "status"]).seconds }
      ])
    table.add("message show, Argon2id slot", shown.ours, peers: shown.peers, target: .below(0.3))

    let other = try firstID(pbkdf2)
    let plain = try Harness.compare(
      rounds: runs, ours: { try pbkdf2.coffer(["message", "show", other]).seconds },
      peers: [
        Peer(name: "slot opening alone (vault status)") { try pbkdf2.coffer(["vault", "status"]).seconds },
        Peer(name: "openssl kdf PBKDF2 600,000") {
          try Command.time([
            "openssl", "kdf", "-keylen", "32", "-kdfopt", "digest:SHA256", "-kdfopt", "pass:bench", "-kdfopt",
            "salt:0123456789abcdef", "-kdfopt", "iter:600000", "PBKDF2",
          ])
        },
      ])
    table.add("message show, PBKDF2 slot", plain.ours, peers: plain.peers)
    table.write()
    for (name, series) in [("Argon2id", shown), ("PBKDF2", plain)] {
      let beyond = max(0, series.ours.median - series.peers[0].series.median)
      print("message show beyond the opening of the slot, \(name): \(Table.time(beyond)) (target 60 ms)")
    }
  }

  private static func firstID(_ place: BenchCoffer) throws -> String {
    try place.firstID(["message", "list", "--limit", "1", "--passphrase-file", place.passphraseFile])
  }
}

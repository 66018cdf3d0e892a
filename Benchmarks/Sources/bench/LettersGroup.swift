// SPDX-License-Identifier: Apache-2.0
//
// OpenPGP messages of 1 GiB: `coffer` beside `coffer-sop`, which has its keys in files. Both sign, verify, and write a
// file; the message is in the format that everybody reads.

import Foundation

enum LettersGroup {
  private static let byteCount = 1 << 30

  static func run() throws {
    let place = try BenchCoffer()
    defer { place.remove() }
    let folder = place.directory
    try writeInput(folder + "/input")
    try place.coffer(["identity", "generate", "--user-id", "Ada <ada@example.org>"])
    try place.coffer(["identity", "export", "me", "--output", folder + "/ada.asc"])
    try sop("generate-key 'Sop <sop@example.org>' > sop.key && $S extract-cert < sop.key > sop.cert", folder)
    try place.coffer(["contact", "import", folder + "/sop.cert", "--yes"])
    var table = Table()

    let opening = Peer(name: "coffer identity list") { try place.coffer(["identity", "list"]).seconds }
    let encrypt = Peer(name: "coffer-sop encrypt") {
      try fresh(folder + "/theirs")
      return try sop("encrypt --no-armor --sign-with=sop.key sop.cert ada.asc < input > theirs", folder)
    }
    let encrypted = try Harness.compare(
      ours: {
        try fresh(folder + "/ours")
        return try place.coffer(
          ["encrypt", "--to", "sop", "--output", folder + "/ours", folder + "/input"]
        ).seconds
      }, peers: [encrypt, opening])
    table.add("encrypt and sign 1 GiB", encrypted.ours, peers: encrypted.peers, target: .timeOfPeer(1.1))

    let decrypt = Peer(name: "coffer-sop decrypt") {
      try fresh(folder + "/plain")
      return try sop(
        "decrypt --verify-with=sop.cert --verifications-out=good sop.key < theirs > plain; rm good", folder)
    }
    let decrypted = try Harness.compare(
      ours: {
        try fresh(folder + "/read")
        return try place.coffer(["decrypt", folder + "/theirs", "--output", folder + "/read"]).seconds
      }, peers: [decrypt, opening])
    table.add("decrypt and verify 1 GiB", decrypted.ours, peers: decrypted.peers, target: .timeOfPeer(1.1))
    table.write()

    try fresh(folder + "/read")
    let peak = try place.coffer(["decrypt", folder + "/theirs", "--output", folder + "/read"]).peakKiB
    print("largest resident set of decrypt: \(peak >> 10) MiB")
  }

  /// Runs `coffer-sop`, which is beside `coffer`, in a shell, for its redirections.
  @discardableResult
  private static func sop(_ words: String, _ folder: String) throws -> Double {
    let binary = URL(filePath: BenchCoffer.binary).deletingLastPathComponent().appending(path: "coffer-sop")
      .path
    return try Command.time(["/bin/sh", "-c", "cd \(folder) && S=\(binary) && $S \(words)"])
  }

  /// Nothing is overwritten.
  private static func fresh(_ path: String) throws {
    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
  }

  /// Random octets, repeated: neither program compresses.
  private static func writeInput(_ path: String) throws {
    var piece = Data(count: 1 << 20)
    for index in piece.indices { piece[index] = UInt8.random(in: 0...255) }
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    for _ in 0..<byteCount / piece.count { try file.write(contentsOf: piece) }
    try file.close()
  }
}

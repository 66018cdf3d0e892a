// SPDX-License-Identifier: Apache-2.0
//
// The vault: sealing and opening one message in memory, items of its keychain, and importing, searching and
// rotating many with the release command, up to a million. BENCH_MESSAGES limits the largest vault.

import Crypto
import Foundation
import Glibc
import Keychains
import MessageFormats
import Primitives
import Secrets
import Storage
import Vaults

enum VaultGroup {
  static func run() throws {
    var table = Table()
    try messages(&table)
    try values(&table)
    try items(&table)
    table.write()
    print()
    try many()
  }

  // MARK: One message

  private static func messages(_ table: inout Table) throws {
    let frameCount = 1_024
    let vaultKey = SystemRandom.secretBytes(count: 32)
    let id = MessageID()
    var cipher = MessageCipher()
    var box = [UInt8](repeating: 7, count: frameCount + MessageCipher.overheadByteCount)
    var frame = [UInt8](repeating: 0, count: frameCount)
    let now = Int64(time(nil))

    func seal() throws {
      var span = box.mutableSpan
      var bytes = span.mutableBytes
      try vaultKey.withBytes { key in
        try cipher.seal(&bytes, id: id, timestamp: now, keyVersion: 1, vaultKey: key)
      }
    }
    let peerKey = Crypto.SymmetricKey(size: .bits256)
    let salt = Data(SystemRandom.publicBytes(count: 16))
    let aad = Data(repeating: 0x20, count: 112)
    let plaintext = Data(repeating: 7, count: frameCount)
    func peerMessageKey() -> Crypto.SymmetricKey {
      HKDF<Crypto.SHA256>.deriveKey(
        inputKeyMaterial: peerKey, salt: salt, info: Data("message-encryption".utf8), outputByteCount: 32)
    }
    let sealed = try Harness.compare(
      ours: { try Harness.round(seal) },
      peers: [
        Peer(name: "swift-crypto HKDF + AES.GCM") {
          try Harness.round {
            Harness.keep(try AES.GCM.seal(plaintext, using: peerMessageKey(), authenticating: aad))
          }
        }
      ])
    table.add(
      "seal a message of 1 KiB", sealed.ours, peers: sealed.peers, target: .below(1.0 / 300_000))
    note("seal", sealed.ours)

    try seal()
    let peerBox = try AES.GCM.seal(plaintext, using: peerMessageKey(), authenticating: aad)
    let opened = try Harness.compare(
      ours: {
        try Harness.round {
          var span = frame.mutableSpan
          var bytes = span.mutableBytes
          try vaultKey.withBytes { key in
            try cipher.open(
              box.span.bytes, id: id, timestamp: now, keyVersion: 1, vaultKey: key, into: &bytes)
          }
        }
      },
      peers: [
        Peer(name: "swift-crypto HKDF + AES.GCM") {
          try Harness.round {
            Harness.keep(try AES.GCM.open(peerBox, using: peerMessageKey(), authenticating: aad))
          }
        }
      ])
    table.add(
      "open a message of 1 KiB", opened.ours, peers: opened.peers, target: .below(1.0 / 300_000))
    note("open", opened.ours)
  }

  private static func note(_ what: String, _ series: Series) {
    print("\(what): \(Table.decimal(1 / series.median, 0)) messages a second (target 300000, goal 500000)")
  }

  // MARK: Values, and items of the keychain

  /// VA-22: more than 100 messages are encrypted a second, more than 200 decrypted.
  private static func values(_ table: inout Table) throws {
    let key = Primitives.SymmetricKey()
    let now = Int64(time(nil))
    var encryption = MessageEncryption()
    let content = SystemRandom.publicBytes(count: 1_024)
    let metadata = MessageMetadata(contentType: "text/plain", date: now)
    func encrypt() throws -> EncryptedMessage {
      let message = PlaintextMessage(content: SecretBytes(copying: content.span.bytes), metadata: metadata)
      return try encryption.encrypt(message, timestamp: now, key: key, keyVersion: 1)
    }
    let encrypted = try Harness.compare(ours: { try Harness.round { Harness.keep(try encrypt()) } })
    table.add("encrypt a message as a value, 1 KiB", encrypted.ours, target: .below(1.0 / 100))
    let message = try encrypt()
    let decrypted = try Harness.compare(ours: {
      try Harness.round {
        let opened = try encryption.decrypt(message, timestamp: now, key: key)
        Harness.keep(opened.content.count)
      }
    })
    table.add("decrypt a message as a value, 1 KiB", decrypted.ours, target: .below(1.0 / 200))
  }

  /// KC-23 and VA-22: an item of the keychain is saved and loaded in less than 10 ms.
  private static func items(_ table: inout Table) throws {
    let home = FileManager.default.temporaryDirectory.appending(path: "bench-items-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: home) }
    let file = try DatabaseFile.create(home: home.path) { _ in }
    defer { file.close() }
    let keychain = KeychainService(
      keychain: FileKeychain(file),
      keys: ClassKeys(
        whenUnlocked: SharedSecretBytes(SystemRandom.secretBytes(count: 32)),
        afterFirstUnlock: SharedSecretBytes(SystemRandom.secretBytes(count: 32))))
    try keychain.prepare()
    let save = try Harness.compare(ours: {
      try Harness.round { try keychain.save(Data(count: 1_024), forKey: "one") }
    })
    table.add("save an item of 1 KiB", save.ours, target: .below(0.010))
    let load = try Harness.compare(ours: {
      try Harness.round { Harness.keep(try keychain.load(forKey: "one")) }
    })
    table.add("load an item of 1 KiB", load.ours, target: .below(0.010))
    let key = Primitives.SymmetricKey()
    let trip = try Harness.compare(ours: {
      try Harness.round {
        try keychain.saveSymmetricKey(key, forKey: "key")
        let loaded = try keychain.loadSymmetricKey(forKey: "key")
        Harness.keep(loaded != nil)
      }
    })
    table.add("a key's round trip", trip.ours, target: .below(0.011))
  }

  // MARK: Many messages

  private static func many() throws {
    let limit = ProcessInfo.processInfo.environment["BENCH_MESSAGES"].flatMap { Int($0) } ?? 1_000_000
    var rows = [
      [
        "messages", "import", "a second", "peak", "gpg -c", "search", "grep -ic", "rotate", "sqlite3 copy",
        "list",
      ]
    ]
    for count in [10_000, 100_000, 300_000, 1_000_000] where count <= limit {
      rows.append(try measure(count))
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for row in rows {
      print(
        zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(
          separator: " | "))
    }
    print(
      "targets at 100,000: import 40000 a second, peak 150 MiB, search 1.5 s, rotate 6 s; linear to a million"
    )
  }

  private static func measure(_ count: Int) throws -> [String] {
    let place = try BenchCoffer()
    defer { place.remove() }
    let mbox = place.directory + "/mail.mbox"
    try SampleMail.write(count, to: mbox)
    let imported = try place.coffer(["message", "import", "mbox", mbox])
    // A word that occurs nowhere: every message is opened and looked through. Exit code 6 is the answer.
    let searched = try place.coffer(["message", "search", "zeppelin"], expecting: 6)
    let rotated = try place.coffer(["vault", "rotate"])
    let listed = try place.coffer(["message", "list"])
    let encrypted = try Command.time([
      "gpg", "--batch", "--yes", "--homedir", place.directory, "--pinentry-mode", "loopback", "--passphrase",
      "bench", "--compress-algo", "none", "--cipher-algo", "AES256", "--output",
      place.directory + "/mail.gpg",
      "--symmetric", mbox,
    ])
    let grepped = try Command.run(["grep", "-ic", "zeppelin", mbox])
    let copied = try Command.time([
      "sqlite3", place.home + "/coffer.db", "vacuum into '\(place.directory)/copy.db'",
    ])
    return [
      "\(count)", Table.time(imported.seconds), Table.decimal(Double(count) / imported.seconds, 0),
      "\(imported.peakKiB >> 10) MiB", Table.time(encrypted), Table.time(searched.seconds),
      Table.time(grepped.seconds), Table.time(rotated.seconds), Table.time(copied),
      Table.time(listed.seconds),
    ]
  }
}

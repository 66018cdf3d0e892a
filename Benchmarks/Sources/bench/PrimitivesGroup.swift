// SPDX-License-Identifier: Apache-2.0
//
// The primitives: hashing, AES-256-GCM, keys, derivations.

import CLibCrypto
import Crypto
import CryptoExtras
import Foundation
import Primitives
import Secrets

enum PrimitivesGroup {
  static func run() throws {
    try SecretMemory.prepare()
    var table = Table()
    try hashing(&table)
    try sealing(&table)
    try keys(&table)
    try derivations(&table)
    table.write()
  }

  // MARK: Hashing

  private static func hashing(_ table: inout Table) throws {
    let byteCount = 10_000_000
    let data = CryptoService.randomData(count: byteCount)
    let file = FileManager.default.temporaryDirectory.appending(
      path: "coffer-bench-\(UUID().uuidString)")
    try data.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let peers = [
      Peer(name: "openssl speed") { try OpenSSLSpeed.round("sha256", byteCount: byteCount) },
      Peer(name: "swift-crypto") { Harness.round { Harness.keep(Crypto.SHA256.hash(data: data)) } },
    ]
    let memory = try Harness.compare(
      ours: { Harness.round { Harness.keep(CryptoService.sha256Data(data)) } }, peers: peers)
    table.add(
      "SHA-256, 10 MB in memory", byteCount: byteCount, memory.ours, peers: memory.peers,
      target: .speedOfPeer(0.95))
    // CR-19.
    let service = try Harness.compare(ours: { Harness.round { Harness.keep(CryptoService.sha256(data)) } })
    table.add("CryptoService.sha256, 10 MB", service.ours, target: .below(0.100))
    let stream = try Harness.compare(
      ours: { try Harness.round { Harness.keep(try CryptoService.sha256Stream(url: file)) } },
      peers: [peers[0]])
    table.add(
      "SHA-256, 10 MB from a file", byteCount: byteCount, stream.ours, peers: stream.peers,
      target: .speedOfPeer(0.95))
  }

  // MARK: AES-256-GCM

  private static func sealing(_ table: inout Table) throws {
    let byteCount = 5_000_000
    let plaintext = SystemRandom.publicBytes(count: byteCount)
    let nonce = SystemRandom.publicBytes(count: AES256GCM.nonceByteCount)
    let key = SystemRandom.publicBytes(count: 32)
    var sealed = [UInt8](repeating: 0, count: byteCount + AES256GCM.tagByteCount)
    var opened = [UInt8](repeating: 0, count: byteCount)
    var cipher = AES256GCM()

    let peerKey = Crypto.SymmetricKey(data: key)
    let peerNonce = try AES.GCM.Nonce(data: nonce)
    let data = Data(plaintext)
    let box = try AES.GCM.seal(data, using: peerKey, nonce: peerNonce)

    let seal = try Harness.compare(
      ours: {
        try Harness.round {
          var span = sealed.mutableSpan
          var output = span.mutableBytes
          try cipher.seal(
            plaintext.span.bytes, key: key.span.bytes, nonce: nonce.span.bytes,
            authenticating: RawSpan(), into: &output)
        }
      },
      peers: [
        Peer(name: "openssl speed") { try OpenSSLSpeed.round("aes-256-gcm", byteCount: byteCount) },
        Peer(name: "swift-crypto") {
          try Harness.round {
            Harness.keep(try AES.GCM.seal(data, using: peerKey, nonce: peerNonce))
          }
        },
      ])
    table.add(
      "AES-256-GCM seal, 5 MB", byteCount: byteCount, seal.ours, peers: seal.peers,
      target: .speedOfPeer(1))

    let open = try Harness.compare(
      ours: {
        try Harness.round {
          var span = opened.mutableSpan
          var output = span.mutableBytes
          try cipher.open(
            sealed.span.bytes, key: key.span.bytes, nonce: nonce.span.bytes,
            authenticating: RawSpan(), into: &output)
        }
      },
      peers: [
        Peer(name: "openssl speed -decrypt") {
          try OpenSSLSpeed.round("aes-256-gcm", byteCount: byteCount, options: ["-decrypt"])
        },
        Peer(name: "swift-crypto") {
          try Harness.round { Harness.keep(try AES.GCM.open(box, using: peerKey)) }
        },
      ])
    table.add(
      "AES-256-GCM open, 5 MB", byteCount: byteCount, open.ours, peers: open.peers,
      target: .speedOfPeer(1))

    // CR-19.
    let serviceKey = CryptoService.generateKey()
    let combined = try CryptoService.encrypt(data, using: serviceKey)
    let encrypt = try Harness.compare(ours: {
      try Harness.round { Harness.keep(try CryptoService.encrypt(data, using: serviceKey)) }
    })
    table.add("CryptoService.encrypt, 5 MB", encrypt.ours, target: .below(0.050))
    let decrypt = try Harness.compare(ours: {
      try Harness.round { Harness.keep(try CryptoService.decrypt(combined, using: serviceKey)) }
    })
    table.add("CryptoService.decrypt, 5 MB", decrypt.ours, target: .below(0.050))
  }

  // MARK: Keys

  private static func keys(_ table: inout Table) throws {
    let short = Duration.milliseconds(200)
    let generate = try Harness.compare(
      ours: {
        Harness.round(for: short) {
          CryptoService.generateKey().withBytes { Harness.keep($0.byteCount) }
        }
      },
      peers: [
        Peer(name: "swift-crypto") {
          Harness.round(for: short) { Harness.keep(Crypto.SymmetricKey(size: .bits256)) }
        }
      ])
    table.add("generate a key", generate.ours, peers: generate.peers, target: .below(10e-6))
    let secret = try Harness.compare(ours: {
      Harness.round(for: short) { SecretBytes(zeroed: 32).withBytes { Harness.keep($0.byteCount) } }
    })
    table.add("SecretBytes(zeroed: 32)", secret.ours, target: .below(1e-6))
  }

  // MARK: Derivations

  private static func derivations(_ table: inout Table) throws {
    let password = SystemRandom.publicBytes(count: 24)
    let salt = SystemRandom.publicBytes(count: 32)
    let ikm = SystemRandom.publicBytes(count: 32)
    let info = Array("message-encryption".utf8)
    var output = [UInt8](repeating: 0, count: 32)
    let rounds = PBKDF2.passphraseIterations

    var hkdf = HKDF()
    let peerKey = Crypto.SymmetricKey(data: ikm)
    let derive = try Harness.compare(
      ours: {
        Harness.round(for: .milliseconds(200)) {
          var span = output.mutableSpan
          var bytes = span.mutableBytes
          hkdf.derive(
            ikm: ikm.span.bytes, salt: salt.span.bytes, info: info.span.bytes, into: &bytes)
        }
      },
      peers: [
        Peer(name: "swift-crypto") {
          Harness.round(for: .milliseconds(200)) {
            Harness.keep(
              Crypto.HKDF<Crypto.SHA256>.deriveKey(
                inputKeyMaterial: peerKey, salt: salt, info: info, outputByteCount: 32))
          }
        }
      ])
    table.add("HKDF-SHA256, one key", derive.ours, peers: derive.peers)

    let passphrase = try Harness.compare(
      ours: {
        try Harness.round {
          var span = output.mutableSpan
          var bytes = span.mutableBytes
          try PBKDF2.hmacSHA256(
            password: password.span.bytes, salt: salt.span.bytes, rounds: rounds, into: &bytes)
        }
      },
      peers: [
        Peer(name: "libcrypto") {
          var derived = [UInt8](repeating: 0, count: 32)
          return Harness.round {
            _ = password.withUnsafeBytes { password in
              PKCS5_PBKDF2_HMAC(
                password.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(password.count),
                salt,
                Int32(salt.count), Int32(rounds), EVP_sha256(), Int32(derived.count), &derived)
            }
          }
        },
        Peer(name: "swift-crypto") {
          try Harness.round {
            Harness.keep(
              try KDF.Insecure.PBKDF2.deriveKey(
                from: password, salt: salt, using: .sha256, outputByteCount: 32, rounds: rounds))
          }
        },
      ])
    table.add(
      "PBKDF2-HMAC-SHA256, 600,000", passphrase.ours, peers: passphrase.peers,
      target: .timeOfPeer(1.2))
    // VA-22.
    table.add("PBKDF2-HMAC-SHA256, 600,000", passphrase.ours, target: .below(1))

    let argon2id = try Harness.compare(ours: {
      try Harness.round {
        var span = output.mutableSpan
        var bytes = span.mutableBytes
        try Argon2id.derive(
          password: password.span.bytes, salt: salt.span.bytes, parameters: .recommended,
          into: &bytes)
      }
    })
    table.add("Argon2id, 64 MiB, 3, 4", argon2id.ours, target: .below(0.3))
  }
}

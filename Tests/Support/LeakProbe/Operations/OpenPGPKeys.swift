// SPDX-License-Identifier: Apache-2.0
//
// OpenPGP: keys made, locked and unlocked, signed with and decrypted with; messages to keys and to passwords.
// The profiles are those of KeyProfile; small messages are held, and larger ones are decrypted twice.

import OpenPGP
import Primitives
import Secrets

extension Operation {
  static let openPGP =
    [KeyProfile.universal, .advanced, .rfc4880].flatMap { profile in
      [
        Operation("sign with an OpenPGP key, \(profile)") { workspace in
          let key = try workspace.openPGPKey(profile)
          let document = MemorySource(SharedSecretBytes(workspace.bytes("document", count: 4_096)))
          let signatures = try DetachedSigning([key.signer], time: Workspace.time).sign(document)
          try expect(signatures.count == 1, "there is a signature")
        },
        Operation("encrypt to an OpenPGP key and decrypt, \(profile)") { workspace in
          try workspace.sendMessage(try workspace.openPGPKey(profile), byteCount: 4_096, isDamaged: false)
        },
        Operation("decrypt an OpenPGP message in two passes, \(profile)") { workspace in
          try workspace.sendMessage(
            try workspace.openPGPKey(profile), byteCount: Workspace.largeByteCount, isDamaged: false)
        },
        Operation("refuse a damaged OpenPGP message, \(profile)") { workspace in
          try workspace.sendMessage(
            try workspace.openPGPKey(profile), byteCount: Workspace.largeByteCount, isDamaged: true)
        },
      ]
    } + [
      Operation("lock an OpenPGP key and unlock it, universal") { try $0.lockKey(.universal) },
      Operation("lock an OpenPGP key and unlock it, advanced") { try $0.lockKey(.advanced) },
      Operation("an OpenPGP message to a password, universal") { try $0.sendToPassword(.universal) },
      Operation("an OpenPGP message to a password, advanced") { try $0.sendToPassword(.advanced) },
    ]
}

extension Workspace {
  fileprivate struct OpenPGPKey {
    let certificate: Certificate
    let signer: UnlockedKey
    let decryptor: UnlockedKey
  }

  /// More than is held in locked memory, so that it takes a second pass.
  fileprivate static let largeByteCount = 5 << 18
  /// The parent is told of so many bytes at a time.
  private static let toldByteCount = 1 << 19
  fileprivate static let time = Timestamp(secondsSince1970: 1_790_000_000)

  /// A new key, of whose secret parts the parent is told.
  @inline(never)
  fileprivate func openPGPKey(_ profile: KeyProfile) throws -> OpenPGPKey {
    let generation = KeyGeneration(profile, userIDs: [UserID("Leak Probe")], creationTime: Self.time)
    let key = try generation.generate()
    for secret in key.secrets.values { SecretReport.tell("private key", secret.protectedMaterial) }
    let subkey = key.certificate.subkeys[0].packet.fingerprint
    return OpenPGPKey(
      certificate: key.certificate,
      signer: try key.unlocked(key.certificate.fingerprint, for: .sign, passwords: []),
      decryptor: try key.unlocked(subkey, for: .decrypt, passwords: []))
  }

  @inline(never)
  fileprivate func sendMessage(_ key: OpenPGPKey, byteCount: Int, isDamaged: Bool) throws {
    let plaintext = SharedSecretBytes(SystemRandom.secretBytes(count: byteCount))
    plaintext.withBytes { all in
      for start in stride(from: 0, to: byteCount, by: Self.toldByteCount) {
        SecretReport.tell("plaintext", all.extracting(start..<min(start + Self.toldByteCount, byteCount)))
      }
    }
    var encryption = try MessageEncryption(to: [key.certificate], time: Self.time)
    SecretReport.tell("session key", encryption.sessionKey.bytes)
    encryption.signers = [key.signer]
    let ciphertext = ArraySink()
    try encryption.encrypt(from: MemorySource(plaintext), to: ciphertext)
    var octets = ciphertext.bytes
    if isDamaged { octets[octets.count - 100] ^= 1 }

    var decryption = MessageDecryption()
    decryption.keys = [
      MessageDecryption.Key(key.decryptor, certificate: key.certificate.fingerprint)
    ]
    decryption.verifier = SignatureVerifier(
      certificates: [key.certificate], policy: .standard, time: Self.time)
    let output = ComparingSink(plaintext)
    if isDamaged {
      try expectThrow("a damaged message") {
        _ = try decryption.decrypt(from: MemorySource(octets), to: output)
      }
      try expect(output.byteCount == 0, "nothing of a damaged message comes out")
    } else {
      let opened = try decryption.decrypt(from: MemorySource(octets), to: output)
      try expect(output.isEqual && output.byteCount == byteCount, "what was encrypted comes back")
      try expect(opened.verifications.map(\.result) == [.good], "the signature is good")
    }
  }

  @inline(never)
  fileprivate func sendToPassword(_ profile: MessageEncryption.PasswordProfile) throws {
    let plaintext = SharedSecretBytes(bytes("plaintext", count: 4_096))
    let password = SharedSecretBytes(text("password", byteCount: 24))
    let wrong = SharedSecretBytes(text("wrong password", byteCount: 24))
    let encryption = try MessageEncryption(
      to: [], passwords: [password], passwordProfile: profile, time: Self.time)
    SecretReport.tell("session key", encryption.sessionKey.bytes)
    let ciphertext = ArraySink()
    try encryption.encrypt(from: MemorySource(plaintext), to: ciphertext)
    var decryption = MessageDecryption()
    decryption.passwords = [wrong]
    let nothing = ComparingSink(plaintext)
    try expectThrow("a wrong password") {
      _ = try decryption.decrypt(from: MemorySource(ciphertext.bytes), to: nothing)
    }
    decryption.passwords = [wrong, password]
    let output = ComparingSink(plaintext)
    _ = try decryption.decrypt(from: MemorySource(ciphertext.bytes), to: output)
    try expect(output.isEqual && output.byteCount == plaintext.count, "what was encrypted comes back")
  }

  @inline(never)
  fileprivate func lockKey(_ profile: KeyProfile) throws {
    let password = SharedSecretBytes(text("password", byteCount: 24))
    let wrong = SharedSecretBytes(text("wrong password", byteCount: 24))
    var generation = KeyGeneration(profile, userIDs: [], creationTime: Self.time)
    generation.isSigningOnly = true
    let key = try generation.generate(password: password)
    let fingerprint = key.certificate.fingerprint
    try expectThrow("a wrong password") {
      _ = try key.unlocked(fingerprint, for: .sign, passwords: [wrong])
    }
    let unlocked = try key.unlocked(fingerprint, for: .sign, passwords: [password])
    SecretReport.tell("private key", unlocked.withoutProtection().protectedMaterial)
  }
}

/// Compares what is written with what is expected, and keeps none of it.
final class ComparingSink: ByteSink {
  private let expected: SharedSecretBytes
  private(set) var byteCount = 0
  private(set) var isEqual = true

  init(_ expected: SharedSecretBytes) { self.expected = expected }

  func write(_ bytes: RawSpan) throws(OpenPGPError) {
    let start = byteCount
    isEqual =
      isEqual
      && expected.withBytes { all in
        start + bytes.byteCount <= all.byteCount
          && constantTimeEqual(all.extracting(start..<start + bytes.byteCount), bytes)
      }
    byteCount += bytes.byteCount
  }
}

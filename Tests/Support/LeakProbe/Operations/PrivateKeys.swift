// SPDX-License-Identifier: Apache-2.0
//
// Private keys in custody: wrapped, used, used by what throws, replaced, brought under another mode, deleted.

import CofferKit
import Enclaves
import KeyCustody
import Keychains
import OpenPGP
import Primitives
import ScriptedPrompts
import Secrets
import UserAuthentication

extension Operation {
  static let privateKeys = [
    Operation("wrap a private key") { try $0.withPrivateKey { _, _, _ in } },
    Operation("use a private key") { workspace in
      try workspace.withPrivateKey { coffer, custody, key in
        try custody.withPrivateKey(key, coffer.authorization()) { secret, _ in
          try expect(secret.byteCount == Workspace.privateKeyByteCount, "the key is lent")
        }
      }
    },
    Operation("use a private key by a finger") { workspace in
      try workspace.withPrivateKey { coffer, custody, key in
        try coffer.switchMode(
          custody, to: .standardWithFinger, coffer.authorization(), acknowledgesMissingBackup: false)
        let finger = CustodyAuthorization(finger: try custody.fingerVerifier(workspace.context()))
        try custody.withPrivateKey(key, finger) { secret, _ in
          try expect(secret.byteCount == Workspace.privateKeyByteCount, "the key is lent")
        }
      }
    },
    Operation("a use of a private key that throws") { workspace in
      try workspace.withPrivateKey { coffer, custody, key in
        try expectThrow("a use") {
          try custody.withPrivateKey(key, coffer.authorization()) { _, _ in throw Unexpected("enough") }
        }
      }
    },
    Operation("a use of a private key by somebody else") { workspace in
      try workspace.withPrivateKey { _, custody, key in
        let other = SharedSecretBytes(workspace.bytes("wrong owner key", count: 32))
        try expectThrow("another's key") {
          try custody.withPrivateKey(key, CustodyAuthorization(owner: other)) { _, _ in }
        }
      }
    },
    Operation("replace a private key") { workspace in
      try workspace.withPrivateKey { coffer, custody, key in
        try custody.replace(key, coffer.authorization()) { _ in
          workspace.bytes("new private key", count: Workspace.privateKeyByteCount)
        }
      }
    },
    Operation("bring private keys under another mode") { workspace in
      try workspace.withPrivateKey { coffer, custody, key in
        let both = try coffer.authorization(custody, finger: workspace.context())
        try coffer.switchMode(custody, to: .highSecurityWithFinger, both, acknowledgesMissingBackup: true)
        try custody.withPrivateKey(key, both) { secret, _ in
          try expect(secret.byteCount == Workspace.privateKeyByteCount, "the key is lent")
        }
      }
    },
    Operation("refuse another mode") { workspace in
      try workspace.withPrivateKey { coffer, custody, _ in
        try expectThrow("a mode without a finger") {
          try coffer.switchMode(
            custody, to: .highSecurityWithFinger, coffer.authorization(), acknowledgesMissingBackup: true)
        }
      }
    },
    Operation("delete a private key") { workspace in
      try workspace.withPrivateKey { _, custody, key in try custody.delete(key) }
    },
    Operation("import private keys twice") { workspace in
      try workspace.withPrivateKey { coffer, custody, key in
        let second = SharedSecretBytes(
          workspace.bytes("imported private key", count: Workspace.privateKeyByteCount))
        for _ in 0..<2 {
          try custody.importKeys(
            [(secret: second, payload: .transferableSecretKeyV4, fingerprint: key)], coffer.authorization())
        }
      }
    },
    Operation("make a guard, use a private key with it, change it and leave it", needs: .chip) { workspace in
      try workspace.withPrivateKey { coffer, custody, key in try workspace.useGuards(coffer, custody, key) }
    },
    Operation("refuse a wrong PIN of the guard", needs: .chip) { workspace in
      try workspace.withPrivateKey { coffer, custody, _ in
        try workspace.enterGuard(workspace.pin("PIN of the guard"), coffer, custody, coffer.authorization())
        let wrong = workspace.pin("wrong PIN of the guard")
        try expectThrow("a wrong PIN") { _ = try custody.openGuard(pin: wrong) }
      }
    },
    Operation("wrap and use a private key with a chip", needs: .chip) { workspace in
      try workspace.withPrivateKey { coffer, custody, key in
        try custody.withPrivateKey(key, coffer.authorization()) { secret, _ in
          try expect(secret.byteCount == Workspace.privateKeyByteCount, "the key is lent")
        }
      }
    },
  ]
}

extension Workspace {
  fileprivate static let privateKeyByteCount = 220

  /// Makes a coffer with a private key in custody, and lends it.
  @inline(never)
  fileprivate func withPrivateKey(
    _ body: (Coffer, PrivateKeyCustody, Fingerprint) throws -> Void
  ) throws {
    let passphrase = try passphrase()
    try makeCoffer(passphrase)
    guard let fingerprint = Fingerprint(bytes: SystemRandom.publicBytes(count: 20)) else {
      throw Unexpected("no fingerprint")
    }
    try withCoffer(passphrase) { coffer in
      let custody = try coffer.openPrivateKeys().custody
      try custody.wrap(
        bytes("private key", count: Self.privateKeyByteCount), .transferableSecretKeyV4, fingerprint,
        coffer.authorization())
      try coffer.protectedDomains().relock()
    }
    // Now, for some uses end with other envelopes.
    try tellKeys(SlotCredential(passphrase))
    try withCoffer(passphrase) { coffer in
      try body(coffer, coffer.openPrivateKeys().custody, fingerprint)
    }
    try tellKeys(SlotCredential(passphrase))
  }

  fileprivate func enterGuard(
    _ pin: SharedSecretBytes, _ coffer: Coffer, _ custody: PrivateKeyCustody,
    _ authorization: CustodyAuthorization
  ) throws {
    let made = try custody.newGuard(pin: pin, in: chip())
    try coffer.switchMode(
      custody, to: .highSecurityWithGuard, authorization, guard: made, acknowledgesMissingBackup: true)
  }

  @inline(never)
  fileprivate func useGuards(_ coffer: Coffer, _ custody: PrivateKeyCustody, _ key: Fingerprint) throws {
    let pin = pin("PIN of the guard")
    try enterGuard(pin, coffer, custody, coffer.authorization())
    let open = try custody.openGuard(pin: pin)
    try tellGuard(coffer, pin)
    try custody.withPrivateKey(key, coffer.authorization().with(guard: open)) { secret, _ in
      try expect(secret.byteCount == Self.privateKeyByteCount, "the key is lent")
    }
    let next = self.pin("next PIN of the guard")
    try enterGuard(next, coffer, custody, coffer.authorization().with(guard: open))
    let later = try custody.openGuard(pin: next)
    try coffer.switchMode(
      custody, to: .standard, coffer.authorization().with(guard: later), acknowledgesMissingBackup: false)
  }

  /// Tells of the guard secret and its key: the only way is a PIN (Specs/envelopes.md, "Guard record").
  @inline(never)
  fileprivate func tellGuard(_ coffer: Coffer, _ pin: SharedSecretBytes) throws {
    let item = try coffer.keychain.requireSecret(forKey: "com.cypherair.v1.guard")
    let record = item.withBytes { [UInt8](copying: $0) }
    let (start, way) = (Array(record[..<41]) + [record[42]], Array(record[45...]))
    let handle = Array(way[2...].prefix(Int(way[0]) << 8 | Int(way[1])))
    let rest = Array(way[(2 + handle.count)...])
    let head = start + way.prefix(2 + handle.count + 97)
    let sealing = EnclaveSealing(label: Array("coffer guard v1 pin".utf8)) { (_, _) in
      SecretBytes(copying: head.span.bytes)
    }
    let sealed = EnclaveSealed(
      ephemeralKey: Array(rest[..<65]), salt: Array(rest[65..<97]), keyCheck: Array(rest[97..<129]),
      nonce: Array(rest[129..<141]), ciphertext: Array(rest[141...]))
    let secret = try sealing.open(
      sealed, chip().loadKey(handle), in: chip(), authorization: .passcode(pin))
    SecretReport.tell("guard secret", secret)
    let key = secret.withBytes { HKDF.secret(from: $0, info: "coffer guard v1 envelope") }
    SecretReport.tell("key of the guard", key)
  }

  /// A finger was recognised a moment ago.
  fileprivate func context() throws -> AuthenticatedContext {
    let authenticator = UserAuthenticator(
      prompt: ScriptedPrompt(), reader: ScriptedFingerprintReader(events: [.match]))
    return try authenticator.evaluate(
      .deviceOwnerWithBiometrics, passcode: PromptRequest("")
    ) { _ in false }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// OpenPGP messages with private parts in custody: written and signed, read, changed on the way, signed beside a file.

import CofferKit
import Correspondence
import Identities
import Keychains
import OpenPGP
import Primitives
import Secrets

extension Operation {
  static let letters =
    [true, false].flatMap { isUniversal in
      [
        Operation("encrypt and sign with an identity, and decrypt, \(isUniversal ? "universal" : "advanced")")
        {
          try $0.withIdentity(isUniversal: isUniversal) { try $0.sendLetter(isDamaged: false) }
        },
        Operation("refuse a damaged message to an identity, \(isUniversal ? "universal" : "advanced")") {
          try $0.withIdentity(isUniversal: isUniversal) { try $0.sendLetter(isDamaged: true) }
        },
        Operation("sign a file with an identity, \(isUniversal ? "universal" : "advanced")") { workspace in
          try workspace.withIdentity(isUniversal: isUniversal) { identity in
            let document = MemorySource(SharedSecretBytes(workspace.bytes("document", count: 4_096)))
            let signatures = try DetachedSigning([identity.signer()], time: identity.time).sign(document)
            try expect(signatures.count == 1, "there is a signature")
          }
        },
      ]
    }
}

/// An identity in an open coffer.
private struct OpenIdentity {
  let coffer: Coffer
  let identity: Identity
  let lend: PrivatePartLender

  var time: Timestamp { coffer.openPGPTime }

  func signer() throws -> BorrowedKey {
    BorrowedKey(try identity.signingKey(at: time), of: identity.certificate.fingerprint, lend: lend)
  }

  /// More than is held in locked memory, so that it takes a second pass.
  private static let byteCount = 5 << 18

  @inline(never)
  func sendLetter(isDamaged: Bool) throws {
    let plaintext = SharedSecretBytes(SystemRandom.secretBytes(count: Self.byteCount))
    plaintext.withBytes { all in
      for start in stride(from: 0, to: Self.byteCount, by: 1 << 19) {
        SecretReport.tell("plaintext", all.extracting(start..<min(start + 1 << 19, Self.byteCount)))
      }
    }
    let message = try OutgoingMessage(to: [("me", .identity(identity))], signer: identity, own: nil, at: time)
    var encryption = try message.encryption(passwords: [])
    SecretReport.tell("session key", encryption.sessionKey.bytes)
    encryption.signers = [try signer()]
    let ciphertext = ArraySink()
    try encryption.encrypt(from: MemorySource(plaintext), to: ciphertext)
    var octets = ciphertext.bytes
    if isDamaged { octets[octets.count - 100] ^= 1 }
    let book = try coffer.addressBook()
    let judge = SignatureJudge(book)
    let plan = ReadingPlan(try MessageRecipients(reading: MemorySource(octets)), book.identities)
    var decryption = MessageDecryption()
    decryption.verifier = judge.verifier
    decryption.keys = plan.keys(lend).map { .init($0, certificate: $0.identity) }
    let output = ComparingSink(plaintext)
    guard !isDamaged else {
      try expectThrow("a damaged message") {
        _ = try decryption.decrypt(from: MemorySource(octets), to: output)
      }
      return try expect(output.byteCount == 0, "nothing of a damaged message comes out")
    }
    let opened = try decryption.decrypt(from: MemorySource(octets), to: output)
    try expect(output.isEqual && output.byteCount == Self.byteCount, "what was encrypted comes back")
    try expect(
      judge.verdict(opened.verifications, isEncrypted: true).grade == .verified, "the signature is good")
  }
}

extension Workspace {
  /// Makes a coffer with an identity, tells of its private part, and lends it.
  @inline(never)
  fileprivate func withIdentity(
    isUniversal: Bool, _ body: (OpenIdentity) throws -> Void
  ) throws {
    let passphrase = try passphrase()
    try makeCoffer(passphrase)
    try withCoffer(passphrase) { coffer in
      let open = try coffer.openIdentities()
      let wanted = try NewIdentity(
        userIDs: [UserIDText(new: "Leak Probe <probe@example.org>")], isUniversal: isUniversal)
      _ = try coffer.generateIdentity(wanted, open, coffer.authorization())
      try coffer.protectedDomains().relock()
    }
    try tellKeys(SlotCredential(passphrase))
    try withCoffer(passphrase) { coffer in
      let custody = try coffer.openPrivateKeys().custody
      let authorization = coffer.authorization()
      guard let identity = try coffer.identities(try coffer.openIdentities()).first else {
        throw Unexpected("no identity")
      }
      try custody.withPrivateKey(identity.certificate.fingerprint, authorization) { bytes, _ in
        try tellSecrets(of: bytes)
      }
      try body(
        OpenIdentity(coffer: coffer, identity: identity) { fingerprint, body in
          try custody.withPrivateKey(fingerprint, authorization) { bytes, _ in try body(bytes) }
        })
    }
  }

  /// The secret fields; the rest of a private part is public.
  @inline(never)
  private func tellSecrets(of bytes: RawSpan) throws {
    let source = MemorySource(SharedSecretBytes(SecretBytes(copying: bytes)))
    for key in try TransferableSecretKey.readAll(source) {
      for secret in key.secrets.values { SecretReport.tell("private part", secret.protectedMaterial) }
    }
  }
}

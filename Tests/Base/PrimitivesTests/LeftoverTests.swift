// SPDX-License-Identifier: Apache-2.0
//
// After a secret has gone, the memory of the process holds neither half of it: not in our cells, not in
// libcrypto's contexts, not in libargon2's pages, not on the stack. The functions of `CryptoService` that
// give and take `Data` are left out: by their nature they leave copies.

import Secrets
import MemorySearch
import Testing

@testable import Primitives

@Suite("What secrets leave in memory")
struct LeftoverTests {
  /// Ways for a secret to be used; each returns what may not be found afterwards.
  enum Use: String, CaseIterable, Sendable {
    case secretBytes, duplicate, shortened, large, symmetricKey, randomKey
    case sealed, opened, openedWithAnotherKey, plaintext
    case hkdfInput, hkdfKey, hkdfShortKey, macKey, hash
    case pbkdf2Password, pbkdf2Key, pbkdf2SHA512Key, argon2idPassword, argon2idKey
    case p256Scalar, p256ImportedScalar, p256Secret
  }

  /// Runs `body` away from the stack frames that search later.
  @inline(never)
  private func use(_ use: Use) throws -> (needle: Needle, seenWhileAlive: Int) {
    let secret = SystemRandom.secretBytes(count: use == .large ? 100_000 : 32)
    let salt = SystemRandom.publicBytes(count: 32)
    let nonce = SystemRandom.publicBytes(count: 12)
    let none = RawSpan()
    let costs = try Argon2idParameters(memoryKiB: 1_024, passes: 2, lanes: 2)
    var output = SecretBytes(zeroed: 48)
    var needle = secret.withBytes { Needle($0.extracting(first: 32)) }
    var alive = 0
    func look() throws { alive = try ProcessMemory.places(of: needle).count }

    switch use {
    case .secretBytes, .large: try look()
    case .duplicate:
      let other = secret.duplicate()
      try look()
      let isSame = other.isEqual(to: secret)
      #expect(isSame)
    case .shortened:
      var other = secret.duplicate()
      other.shorten(to: 1)
      try look()
    case .symmetricKey:
      let key = try secret.withBytes { bytes throws(CryptoError) in try SymmetricKey(copying: bytes)
      }
      try look()
      #expect(key.withBytes { $0.byteCount } == 32)
    case .randomKey:
      let key = SymmetricKey()
      needle = key.withBytes { Needle($0) }
      try look()
      #expect(key.withBytes { $0.byteCount } == 32)
    case .sealed, .opened, .openedWithAnotherKey:
      var cipher = AES256GCM()
      var buffer = SecretBytes(zeroed: 48)
      var opened = SecretBytes(zeroed: 32)
      try secret.withBytes { key throws(CryptoError) in
        try buffer.withMutableBytes { buffer throws(CryptoError) in
          try cipher.sealInPlace(&buffer, key: key, nonce: nonce.span.bytes, authenticating: none)
        }
      }
      if use != .sealed {
        let other = SymmetricKey()
        let error = opened.withMutableBytes { opened -> CryptoError? in
          do throws(CryptoError) {
            try secret.withBytes { key throws(CryptoError) in
              try buffer.withBytes { buffer throws(CryptoError) in
                try cipher.open(
                  buffer, key: key, nonce: nonce.span.bytes, authenticating: none, into: &opened)
              }
            }
            guard use == .openedWithAnotherKey else { return nil }
            try other.withBytes { key throws(CryptoError) in
              try buffer.withBytes { buffer throws(CryptoError) in
                try cipher.open(
                  buffer, key: key, nonce: nonce.span.bytes, authenticating: none, into: &opened)
              }
            }
            return nil
          } catch {
            return error
          }
        }
        #expect(error == (use == .openedWithAnotherKey ? .authenticationFailed : nil))
      }
      try look()
    case .plaintext:
      var cipher = AES256GCM()
      let key = SymmetricKey()
      try secret.withBytes { plaintext throws(CryptoError) in
        try key.withBytes { key throws(CryptoError) in
          try output.withMutableBytes { output throws(CryptoError) in
            try cipher.seal(
              plaintext, key: key, nonce: nonce.span.bytes, authenticating: none, into: &output)
          }
        }
      }
      var opened = SecretBytes(zeroed: 32)
      try key.withBytes { key throws(CryptoError) in
        try output.withBytes { sealed throws(CryptoError) in
          try opened.withMutableBytes { opened throws(CryptoError) in
            try cipher.open(
              sealed, key: key, nonce: nonce.span.bytes, authenticating: none, into: &opened)
          }
        }
      }
      let isSame = opened.isEqual(to: secret)
      #expect(isSame)
      try look()
    case .hkdfInput, .hkdfKey, .hkdfShortKey:
      var hkdf = HKDF()
      let key = secret.withBytes { hkdf.deriveKey(ikm: $0, salt: salt.span.bytes, info: "test") }
      if use == .hkdfKey { needle = key.withBytes { Needle($0) } }
      if use == .hkdfShortKey {
        output.shorten(to: 24)
        output.withMutableBytes { output in
          secret.withBytes {
            hkdf.derive(ikm: $0, salt: salt.span.bytes, info: none, into: &output)
          }
        }
        needle = output.withBytes { Needle($0) }
      }
      try look()
      #expect(key.withBytes { $0.byteCount } == 32)
    case .macKey:
      var hmac = HMACSHA256()
      output.shorten(to: 32)
      output.withMutableBytes { output in
        secret.withBytes { hmac.authenticate(salt.span.bytes, key: $0, into: &output) }
      }
      try look()
    case .hash:
      output.shorten(to: 32)
      output.withMutableBytes { output in secret.withBytes { SHA256.hash($0, into: &output) } }
      try look()
    case .pbkdf2Password, .pbkdf2Key, .pbkdf2SHA512Key:
      output.shorten(to: 32)
      try output.withMutableBytes { output throws(CryptoError) in
        try secret.withBytes { password throws(CryptoError) in
          if use == .pbkdf2SHA512Key {
            try PBKDF2.hmacSHA512(
              password: password, salt: salt.span.bytes, rounds: 100, into: &output)
          } else {
            try PBKDF2.hmacSHA256(
              password: password, salt: salt.span.bytes, rounds: 100, into: &output)
          }
        }
      }
      if use != .pbkdf2Password { needle = output.withBytes { Needle($0) } }
      try look()
    case .argon2idPassword, .argon2idKey:
      output.shorten(to: 32)
      try output.withMutableBytes { output throws(Argon2idError) in
        try secret.withBytes { password throws(Argon2idError) in
          try Argon2id.derive(
            password: password, salt: salt.span.bytes, parameters: costs, into: &output)
        }
      }
      if use == .argon2idKey { needle = output.withBytes { Needle($0) } }
      try look()
    case .p256Scalar, .p256ImportedScalar, .p256Secret:
      let key = P256PrivateKey()
      let peer = P256PrivateKey()
      let scalar = key.scalar()
      needle = scalar.withBytes { Needle($0) }
      let digest = SystemRandom.publicBytes(count: 32)
      var signature = try key.signature(digest: digest)
      if use == .p256ImportedScalar {
        let imported = try P256PrivateKey(scalar: scalar, publicKey: key.publicKey)
        signature = try imported.signature(digest: digest)
      }
      let agreed = try peer.sharedSecret(with: key.publicKey)
      if use == .p256Secret { needle = agreed.withBytes { Needle($0) } }
      let again = try key.sharedSecret(with: peer.publicKey)
      let isSame = agreed.isEqual(to: again)
      #expect(isSame)
      try look()
      #expect(P256.isValidSignature(signature, digest: digest, publicKey: key.publicKey))
      #expect(scalar.count == 32)
    }
    #expect(secret.count >= 32)
    #expect(output.count >= 24)
    return (needle, alive)
  }

  @Test("No half of a secret can be found once it is gone")
  func nothingIsLeft() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        for use in Use.allCases { try LeftoverTests().expectGone(use) }
      }
    }
  }

  private func expectGone(_ use: Use) throws {
    let (needle, alive) = try self.use(use)
    #expect(alive >= 2, "\(use.rawValue): the search did not see the secret while it was there")
    try ProcessMemory.expectGone(needle, "\(use.rawValue)")
  }
}

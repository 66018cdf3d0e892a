// SPDX-License-Identifier: Apache-2.0
//
// The primitives, called as the rooms above call them. `CryptoService` is left out: by its required
// interface it gives and takes `Data` (SECURITY.md).

import Primitives
import Secrets

extension Operation {
  static let ciphers = [
    Operation("derive with HKDF") { workspace in
      let key = workspace.bytes("input key", count: 32)
      workspace.tellDerived("derived key", from: key, salt: SystemRandom.publicBytes(count: 32), "leak probe")
    },
    Operation("derive with PBKDF2") { workspace in
      try workspace.derive { password, salt, output throws(CryptoError) in
        try PBKDF2.hmacSHA256(password: password, salt: salt, rounds: 1_000, into: &output)
      }
    },
    Operation("derive with PBKDF2 and SHA-512") { workspace in
      try workspace.derive { password, salt, output throws(CryptoError) in
        try PBKDF2.hmacSHA512(password: password, salt: salt, rounds: 2_048, into: &output)
      }
    },
    Operation("derive with Argon2id") { workspace in
      try workspace.derive { password, salt, output throws(Argon2idError) in
        try Argon2id.derive(password: password, salt: salt, parameters: .recommended, into: &output)
      }
    },
    Operation("derive with Argon2id without the memory for it") { workspace in
      try expectThrow("too little memory") {
        try workspace.derive { password, salt, output throws(Argon2idError) in
          try Argon2id.derive(
            password: password, salt: salt, parameters: .recommended,
            memory: MemoryGuard(availableByteCount: 1 << 20), into: &output)
        }
      }
    },
    Operation("seal and open with AES-256-GCM") { try $0.useCipher(isDamaged: false) },
    Operation("open damaged AES-256-GCM") { try $0.useCipher(isDamaged: true) },
    Operation("seal and open a sealed value") { try $0.useSealedValue(isKeyWrong: false) },
    Operation("open a sealed value with a wrong key") { try $0.useSealedValue(isKeyWrong: true) },
    Operation("authenticate with HMAC") { workspace in
      var hmac = HMACSHA256()
      let key = workspace.bytes("key", count: 32)
      let message = workspace.bytes("message", count: 100)
      var code = SecretBytes(zeroed: HMACSHA256.byteCount)
      code.withMutableBytes { code in
        key.withBytes { key in message.withBytes { hmac.authenticate($0, key: key, into: &code) } }
      }
      SecretReport.tell("code", code)
    },
    Operation("hash a secret") { workspace in
      let secret = workspace.bytes("secret", count: 200)
      var digest = SecretBytes(zeroed: SHA256.byteCount)
      digest.withMutableBytes { digest in secret.withBytes { SHA256.hash($0, into: &digest) } }
      SecretReport.tell("digest", digest)
    },
  ]
}

extension Workspace {
  @inline(never)
  fileprivate func derive<E: Error>(
    _ body: (_ password: RawSpan, _ salt: RawSpan, _ output: inout MutableRawSpan) throws(E) -> Void
  ) throws {
    let password = text("password", byteCount: 24)
    let salt = SystemRandom.publicBytes(count: 32)
    var output = SecretBytes(zeroed: 32)
    try output.withMutableBytes { output in
      try password.withBytes { try body($0, salt.span.bytes, &output) }
    }
    SecretReport.tell("derived key", output)
  }

  @inline(never)
  fileprivate func useCipher(isDamaged: Bool) throws {
    let key = bytes("key", count: 32)
    let plaintext = bytes("plaintext", count: 100)
    let nonce = SystemRandom.publicBytes(count: AES256GCM.nonceByteCount)
    var cipher = AES256GCM()
    var sealed = SecretBytes(zeroed: plaintext.count + AES256GCM.tagByteCount)
    try sealed.withMutableBytes { sealed in
      try plaintext.withBytes { plaintext in
        try key.withBytes {
          try cipher.seal(
            plaintext, key: $0, nonce: nonce.span.bytes, authenticating: RawSpan(), into: &sealed)
        }
      }
    }
    if isDamaged { sealed.withMutableBytes { $0.withUnsafeMutableBytes { $0[$0.count - 1] ^= 1 } } }
    var opened = SecretBytes(zeroed: plaintext.count)
    func open() throws {
      try opened.withMutableBytes { opened in
        try sealed.withBytes { sealed in
          try key.withBytes {
            try cipher.open(
              sealed, key: $0, nonce: nonce.span.bytes, authenticating: RawSpan(), into: &opened)
          }
        }
      }
    }
    if isDamaged { return try expectThrow("damaged ciphertext", open) }
    try open()
    try expect(opened.isEqual(to: plaintext), "what was sealed comes back")
  }

  @inline(never)
  fileprivate func useSealedValue(isKeyWrong: Bool) throws {
    var sealer = SealedValue()
    let key = bytes("key", count: 32)
    let value = bytes("value", count: 64)
    let sealed = key.withBytes { key in value.withBytes { sealer.seal($0, key: key, context: [1]) } }
    if isKeyWrong {
      let other = bytes("wrong key", count: 32)
      try expectThrow("a wrong key") {
        _ = try other.withBytes { try sealer.open(sealed.span.bytes, key: $0, context: [1]) }
      }
    } else {
      let opened = try key.withBytes { try sealer.open(sealed.span.bytes, key: $0, context: [1]) }
      try expect(opened.isEqual(to: value), "what was sealed comes back")
    }
  }
}

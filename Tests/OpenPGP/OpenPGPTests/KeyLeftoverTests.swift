// SPDX-License-Identifier: Apache-2.0
//
// After keys, passwords and session keys have gone, the memory of the process holds neither half of them, in
// neither order of octets: libcrypto keeps its integers with the lowest octets first.

import MemorySearch
import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("What keys leave in memory")
struct KeyLeftoverTests {
  private struct Needles {
    let all: [Needle]

    init(all: [Needle]) { self.all = all }

    init(_ bytes: RawSpan) {
      let reversed = SecretBytes(byteCount: bytes.byteCount) { output in
        for offset in 0..<bytes.byteCount {
          output.storeBytes(
            of: bytes.unsafeLoad(fromByteOffset: bytes.byteCount - 1 - offset, as: UInt8.self),
            toByteOffset: offset, as: UInt8.self)
        }
      }
      all = [Needle(bytes), reversed.withBytes { Needle($0) }]
    }

    func places() throws -> [String] { try all.flatMap { try ProcessMemory.places(of: $0) } }

    func expectGone(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
      for needle in all { try ProcessMemory.expectGone(needle, name, sourceLocation: sourceLocation) }
    }
  }

  /// The last octets of a key's secret fields: all of them belong to the key itself. Those of SLH-DSA end with its
  /// public key, and composites have a secret at both ends.
  private func needles(_ key: UnlockedKey) -> Needles {
    key.material.withBytes { fields in
      let first = Needles(fields.extracting(first: min(32, fields.byteCount)))
      let last = Needles(fields.extracting(last: min(32, fields.byteCount)))
      return switch key.publicKey.material {
      case .hashBasedSignature: first
      case .compositeSignature, .compositeKEM: Needles(all: first.all + last.all)
      default: last
      }
    }
  }

  /// Uses a key in all ways that it has; away from the stack frames that search later.
  @inline(never)
  private func useKey(_ algorithm: KeyAlgorithm, _ version: UInt8, rsa: Bool = false) throws -> (Needles, Int)
  {
    let key =
      rsa
      ? try UnlockedKey.generate(algorithm, version: version, creationTime: KeyFixtures.time)
      : try KeyFixtures.key(algorithm, version)
    let needles = needles(key)
    if key.publicKey.algorithm.signs {
      let digest = SystemRandom.publicBytes(count: 32)
      let signature = try key.sign(digest: digest, hash: .sha256)
      #expect(try key.publicKey.isValid(signature, digest: digest, hash: .sha256))
    }
    if key.publicKey.algorithm.encrypts {
      let packet = try key.publicKey.encrypt(
        KeyFixtures.sessionKey(.aes256), version: 6, isAnonymous: true)
      #expect(try key.decrypt(packet).bytes.count == 32)
    }
    let password = SystemRandom.secretBytes(count: 32)
    let locked = try password.withBytes { password throws(OpenPGPError) in
      try key.locked(password: password, with: .universal, isSubkey: false)
    }
    let unlocked = try password.withBytes { password throws(OpenPGPError) in
      try locked.unlocked(password: password, isSubkey: false)
    }
    #expect(unlocked.publicKey == key.publicKey)
    let plain = try key.withoutProtection().unlocked(password: nil, isSubkey: false)
    #expect(plain.publicKey == key.publicKey)
    return (needles, try needles.places().count)
  }

  @Test("A private key of any curve that was made, used, locked and unlocked is gone")
  func curves() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        for (algorithm, version) in KeyFixtures.oneOfEach.dropFirst() {
          try KeyLeftoverTests().expectKeyGone(algorithm, version)
        }
      }
    }
  }

  @Test("A private key of RSA that was made, used, locked and unlocked is gone")
  func rsa() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        try KeyLeftoverTests().expectKeyGone(.rsa(bitCount: 3072), 4, rsa: true)
      }
    }
  }

  private func expectKeyGone(_ algorithm: KeyAlgorithm, _ version: UInt8, rsa: Bool = false) throws {
    let (needles, alive) = try useKey(algorithm, version, rsa: rsa)
    #expect(alive >= 2, "\(algorithm), \(version): the search did not see the key while it was there")
    try needles.expectGone("\(algorithm), \(version)")
  }

  @inline(never)
  private func sessionKey(_ algorithm: KeyAlgorithm, _ version: UInt8) throws -> (Needles, Int) {
    let key = try KeyFixtures.key(algorithm, version)
    let sessionKey = KeyFixtures.sessionKey(.aes256)
    let needles = sessionKey.bytes.withBytes { Needles($0) }
    for packetVersion in [UInt8(3), 6] {
      let packet = try key.publicKey.encrypt(sessionKey, version: packetVersion, isAnonymous: true)
      let found = try key.decrypt(packet)
      #expect(found.bytes.withBytes { found in sessionKey.bytes.withBytes { constantTimeEqual(found, $0) } })
    }
    return (needles, try needles.places().count)
  }

  static let sessionKeyAlgorithms: [(KeyAlgorithm, UInt8)] = [
    (.rsa(bitCount: 3072), 4), (.curve25519Legacy, 4), (.x25519, 6), (.x448, 6), (.ecdh(.p256), 6),
    (.compositeKEM(.mlkem768X25519), 6), (.compositeKEM(.mlkem1024X448), 6),
  ]

  @Test("A session key that was encrypted and decrypted is gone")
  func sessionKeys() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        for (algorithm, version) in KeyLeftoverTests.sessionKeyAlgorithms {
          let (needles, alive) = try KeyLeftoverTests().sessionKey(algorithm, version)
          #expect(alive >= 2, "\(algorithm), \(version): the search did not see the key while it was there")
          try needles.expectGone("\(algorithm), \(version)")
        }
      }
    }
  }

  static let specifiers: [StringToKey] = [
    .simple(.sha1), .salted(.sha256, salt: [1, 2, 3, 4, 5, 6, 7, 8]),
    .iterated(.sha256, salt: [1, 2, 3, 4, 5, 6, 7, 8], codedCount: 96),
    .iterated(.md5, salt: [1, 2, 3, 4, 5, 6, 7, 8], codedCount: 96),
    .argon2(salt: [UInt8](repeating: 5, count: 16), passes: 1, lanes: 2, memoryExponent: 8),
  ]

  @inline(never)
  private func derive(_ specifier: StringToKey) throws -> (password: Needles, key: Needles, Int) {
    let password = SystemRandom.secretBytes(count: 32)
    let key = try password.withBytes { password throws(OpenPGPError) in
      try specifier.deriveKey(password: password, byteCount: 32)
    }
    let expanded = key.withBytes {
      HKDF.derive(.sha256, ikm: $0, salt: RawSpan(), info: [1, 2, 3, 4], byteCount: 32)
    }
    let found = (password.withBytes { Needles($0) }, key.withBytes { Needles($0) })
    let alive = try found.0.places().count + found.1.places().count
    #expect(expanded.count == 32)
    return (found.0, found.1, alive)
  }

  @Test("A password and the key that was derived from it are gone")
  func passwords() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        for specifier in KeyLeftoverTests.specifiers {
          let (password, key, alive) = try KeyLeftoverTests().derive(specifier)
          #expect(alive >= 4, "\(specifier): the search did not see them while they were there")
          try password.expectGone("password, \(specifier)")
          try key.expectGone("key, \(specifier)")
        }
      }
    }
  }

  enum Cipher: CaseIterable, Sendable { case ocb, gcm, eax, cfbEncrypt, cfbDecrypt, camellia, keyWrap }

  /// The key, and a plaintext of a whole block more than a piece.
  @inline(never)
  private func encipher(_ cipher: Cipher) throws -> (key: Needles, plaintext: Needles, Int) {
    let key = SystemRandom.secretBytes(count: 32)
    var buffer = SystemRandom.secretBytes(count: 64)
    let needles = (key.withBytes { Needles($0) }, buffer.withBytes { Needles($0.extracting(first: 32)) })
    let alive = try needles.0.places().count + needles.1.places().count
    let iv = SystemRandom.publicBytes(count: 16)
    try key.withBytes { key in
      switch cipher {
      case .ocb, .gcm, .eax:
        let algorithm: AEADAlgorithm = cipher == .ocb ? .ocb : cipher == .gcm ? .gcm : .eax
        let nonce = iv.span.bytes.extracting(first: algorithm.nonceByteCount ?? 0)
        var sealer = try AEADCipher(.aes256, algorithm, .seal, key: key)
        var opener = try AEADCipher(.aes256, algorithm, .open, key: key)
        try buffer.withMutableBytes { buffer in
          sealer.seal(&buffer, nonce: nonce, authenticating: RawSpan())
          try opener.open(&buffer, nonce: nonce, authenticating: RawSpan())
        }
      case .cfbEncrypt, .cfbDecrypt, .camellia:
        let algorithm: SymmetricAlgorithm = cipher == .camellia ? .camellia256 : .aes256
        let direction: CFBCipher.Direction = cipher == .cfbDecrypt ? .decrypt : .encrypt
        var stream = try CFBCipher(algorithm, direction, key: key, iv: iv.span.bytes)
        buffer.withMutableBytes { stream.process(&$0) }
      case .keyWrap:
        let wrapped = try buffer.withBytes { try AESKeyWrap.wrap($0, with: .aes256, key: key) }
        #expect(try AESKeyWrap.unwrap(wrapped, with: .aes256, key: key).count == 64)
      }
    }
    return (needles.0, needles.1, alive)
  }

  @Test("The key and the plaintext of a cipher are gone")
  func ciphers() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        for cipher in Cipher.allCases {
          let (key, plaintext, alive) = try KeyLeftoverTests().encipher(cipher)
          #expect(alive >= 4, "\(cipher): the search did not see them while they were there")
          try key.expectGone("key, \(cipher)")
          try plaintext.expectGone("plaintext, \(cipher)")
        }
      }
    }
  }
}

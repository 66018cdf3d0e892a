// SPDX-License-Identifier: Apache-2.0
//
// What the ciphers promise beyond published vectors: pieces of any size, refusal, and erasure.

import Secrets
import Primitives
import TestVectors
import Testing

@testable import OpenPGP

@Suite("Ciphers")
struct CipherTests {
  static let aead: [(SymmetricAlgorithm, AEADAlgorithm)] = [
    (.aes128, .eax), (.aes192, .eax), (.aes256, .eax), (.camellia256, .eax),
    (.aes128, .ocb), (.aes192, .ocb), (.aes256, .ocb),
    (.aes128, .gcm), (.aes192, .gcm), (.aes256, .gcm),
  ]

  @Test("One context opens many messages, and each only under its own nonce and data", arguments: aead)
  func manyMessages(cipher: SymmetricAlgorithm, algorithm: AEADAlgorithm) throws {
    let key = SystemRandom.publicBytes(count: try #require(cipher.keyByteCount))
    let nonceByteCount = try #require(algorithm.nonceByteCount)
    var sealer = try AEADCipher(cipher, algorithm, .seal, key: key.span.bytes)
    var opener = try AEADCipher(cipher, algorithm, .open, key: key.span.bytes)
    for count in [0, 1, 15, 16, 17, 4_096, 70_001] {
      let plaintext = SystemRandom.publicBytes(count: count)
      let nonce = SystemRandom.publicBytes(count: nonceByteCount)
      let data = SystemRandom.publicBytes(count: count % 40)
      var buffer = plaintext + [UInt8](repeating: 0, count: 16)
      var span = buffer.mutableSpan
      var bytes = span.mutableBytes
      sealer.seal(&bytes, nonce: nonce.span.bytes, authenticating: data.span.bytes)
      let again = try sealed(plaintext, cipher, algorithm, key: key, nonce: nonce, data: data)
      #expect(buffer == again)

      var copy = buffer
      var copySpan = copy.mutableSpan
      var copyBytes = copySpan.mutableBytes
      try opener.open(&copyBytes, nonce: nonce.span.bytes, authenticating: data.span.bytes)
      #expect(copy.starts(with: plaintext))

      for place in [0, buffer.count / 2, buffer.count - 1] {
        var changed = buffer
        changed[place] ^= 1
        let result = try opened(changed, cipher, algorithm, key: key, nonce: nonce, data: data)
        #expect(result.error == .notAuthentic)
        #expect(result.buffer.allSatisfy { $0 == 0 })
      }
      let otherNonce = SystemRandom.publicBytes(count: nonceByteCount)
      #expect(
        try opened(buffer, cipher, algorithm, key: key, nonce: otherNonce, data: data).error
          == .notAuthentic)
      #expect(
        try opened(buffer, cipher, algorithm, key: key, nonce: nonce, data: data + [0]).error
          == .notAuthentic)
    }
  }

  @Test("Fewer bytes than a tag are not authentic")
  func tooShort() throws {
    let key = [UInt8](repeating: 1, count: 32)
    let nonce = [UInt8](repeating: 2, count: 15)
    let result = try opened(
      [UInt8](repeating: 0, count: 15), .aes256, .ocb, key: key, nonce: nonce, data: [])
    #expect(result.error == .notAuthentic)
  }

  @Test(
    "A cipher that cannot do it is refused by name",
    arguments: [
      (SymmetricAlgorithm.tripleDES, AEADAlgorithm.ocb), (.twofish, .ocb), (.camellia128, .gcm),
      (.cast5, .eax), (SymmetricAlgorithm(rawValue: 99), .ocb),
    ])
  func unsupportedAEAD(cipher: SymmetricAlgorithm, algorithm: AEADAlgorithm) {
    let key = [UInt8](repeating: 0, count: cipher.keyByteCount ?? 16)
    let error = #expect(throws: OpenPGPError.self) {
      _ = try AEADCipher(cipher, algorithm, .open, key: key.span.bytes).self
    }
    #expect(error == .unsupported(.symmetricAlgorithm(cipher.rawValue)))
  }

  @Test("A key of another length than the cipher's is refused")
  func keyLength() {
    let key = [UInt8](repeating: 0, count: 16)
    let iv = [UInt8](repeating: 0, count: 16)
    for algorithm in [AEADAlgorithm.eax, .ocb, .gcm] {
      #expect(throws: OpenPGPError.malformed(.sessionKey)) {
        _ = try AEADCipher(.aes256, algorithm, .open, key: key.span.bytes).self
      }
    }
    for direction in [CFBCipher.Direction.encrypt, .decrypt] {
      #expect(throws: OpenPGPError.malformed(.sessionKey)) {
        _ = try CFBCipher(.aes256, direction, key: key.span.bytes, iv: iv.span.bytes).self
      }
    }
  }

  @Test(
    "CFB decrypts what it encrypted, in pieces of any size",
    arguments: [
      SymmetricAlgorithm.tripleDES, .aes128, .aes192, .aes256, .camellia128, .camellia192, .camellia256,
    ])
  func cfbPieces(_ algorithm: SymmetricAlgorithm) throws {
    let key = SystemRandom.publicBytes(count: try #require(algorithm.keyByteCount))
    let iv = SystemRandom.publicBytes(count: try #require(algorithm.blockByteCount))
    for pieces in [
      [1], [15], [16], [17, 3], [0, 5, 11, 1], [8_192], [8_193, 8_191, 40_000], [7, 100_000, 2],
    ] {
      let plaintext = SystemRandom.publicBytes(count: pieces.reduce(0, +))
      let whole = try cfb(plaintext, algorithm, .encrypt, key: key, iv: iv, pieces: [plaintext.count])
      #expect(try cfb(plaintext, algorithm, .encrypt, key: key, iv: iv, pieces: pieces) == whole)
      // A single octet may well encrypt to itself.
      #expect(whole != plaintext || plaintext.count < 15)
      #expect(try cfb(whole, algorithm, .decrypt, key: key, iv: iv, pieces: pieces) == plaintext)
      #expect(try cfb(whole, algorithm, .decrypt, key: key, iv: iv, pieces: [plaintext.count]) == plaintext)
    }
  }

  /// NIST SP 800-38A, F.3.17: CFB128-AES256.
  @Test("CFB is that of SP 800-38A")
  func cfbVector() throws {
    let key = try hexBytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    let iv = try hexBytes("000102030405060708090a0b0c0d0e0f")
    let plaintext = try hexBytes("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
    let ciphertext = try hexBytes("dc7e84bfda79164b7ecd8486985d386039ffed143b28b1c832113c6331e5407b")
    #expect(try cfb(plaintext, .aes256, .encrypt, key: key, iv: iv, pieces: [32]) == ciphertext)
    #expect(try cfb(ciphertext, .aes256, .decrypt, key: key, iv: iv, pieces: [32]) == plaintext)
  }

  @Test("Ciphers of the legacy provider work where it is installed, and are unsupported where not")
  func legacy() throws {
    for algorithm in [SymmetricAlgorithm.idea, .cast5, .blowfish] {
      let (key, iv) = ([UInt8](repeating: 7, count: 16), [UInt8](repeating: 9, count: 8))
      let plaintext = SystemRandom.publicBytes(count: 100)
      do {
        let encrypted = try cfb(plaintext, algorithm, .encrypt, key: key, iv: iv, pieces: [100])
        #expect(encrypted != plaintext)
        #expect(try cfb(encrypted, algorithm, .decrypt, key: key, iv: iv, pieces: [33, 67]) == plaintext)
      } catch {
        #expect(error as? OpenPGPError == .unsupported(.symmetricAlgorithm(algorithm.rawValue)))
      }
    }
  }

  @Test("Twofish, plaintext and unknown ciphers are unsupported", arguments: [UInt8(0), 5, 10, 14, 255])
  func unsupported(_ number: UInt8) {
    let (key, iv) = ([UInt8](repeating: 7, count: 32), [UInt8](repeating: 9, count: 16))
    for direction in [CFBCipher.Direction.encrypt, .decrypt] {
      #expect(throws: OpenPGPError.unsupported(.symmetricAlgorithm(number))) {
        _ = try cfb(
          [1], SymmetricAlgorithm(rawValue: number), direction, key: key, iv: iv, pieces: [1])
      }
    }
  }
}

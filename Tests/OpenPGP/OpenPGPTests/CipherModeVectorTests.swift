// SPDX-License-Identifier: Apache-2.0
//
// The ciphers against published vectors: OCB of RFC 7253, EAX, GCM, key wrap and HKDF of Wycheproof, Argon2id of
// its authors.

import Primitives
import Secrets
import TestVectors
import Testing

@testable import OpenPGP

@Suite("Published vectors of ciphers")
struct CipherModeVectorTests {
  private func cipher(keyByteCount: Int) throws -> SymmetricAlgorithm {
    try #require([.aes128, .aes192, .aes256].first { $0.keyByteCount == keyByteCount })
  }

  @Test(
    "OCB seals and opens as its vectors say", arguments: [("ocb/rfc7253", 16), ("ocb/gocrypto_random", 24)])
  func ocb(name: String, count: Int) throws {
    let rows = try VectorTable(name).rows
    for row in rows {
      let (key, nonce, data) = (try row.bytes("key"), try row.bytes("nonce"), try row.bytes("aad"))
      let cipher = try cipher(keyByteCount: key.count)
      let (plaintext, ciphertext) = (try row.bytes("msg"), try row.bytes("ciphertext"))
      #expect(
        try sealed(plaintext, cipher, .ocb, key: key, nonce: nonce, data: data) == ciphertext, "\(row)")
      let result = try opened(ciphertext, cipher, .ocb, key: key, nonce: nonce, data: data)
      #expect(result.error == nil, "\(row)")
      #expect(Array(result.buffer.dropLast(16)) == plaintext, "\(row)")
    }
    #expect(rows.count == count)
  }

  @Test(
    "Wycheproof's rows for EAX and GCM seal and open as they say",
    arguments: [
      ("wycheproof/aes_eax", AEADAlgorithm.eax, 186), ("wycheproof/aes_gcm", AEADAlgorithm.gcm, 197),
    ])
  func wycheproof(name: String, algorithm: AEADAlgorithm, count: Int) throws {
    var ran = 0
    for row in try VectorTable(name).rows
    where try row.integer("ivSize") == (algorithm.nonceByteCount ?? 0) * 8 && row.integer("tagSize") == 128 {
      ran += 1
      let cipher = try cipher(keyByteCount: try row.integer("keySize") / 8)
      let (key, nonce, data) = (try row.bytes("key"), try row.bytes("iv"), try row.bytes("aad"))
      let plaintext = try row.bytes("msg")
      let ciphertext = try row.bytes("ct") + row.bytes("tag")
      let mine = try sealed(plaintext, cipher, algorithm, key: key, nonce: nonce, data: data)
      let result = try opened(ciphertext, cipher, algorithm, key: key, nonce: nonce, data: data)
      if row.isValid {
        #expect(mine == ciphertext, "\(row)")
        #expect(result.error == nil, "\(row)")
        #expect(Array(result.buffer.dropLast(16)) == plaintext, "\(row)")
      } else {
        #expect(mine != ciphertext, "\(row)")
        #expect(result.error == .notAuthentic, "\(row)")
        #expect(result.buffer.allSatisfy { $0 == 0 }, "\(row): plaintext is left")
      }
    }
    #expect(ran == count)
  }

  @Test("Wycheproof's rows for AES key wrap wrap and unwrap as they say")
  func keyWrap() throws {
    var (valid, invalid) = (0, 0)
    for row in try VectorTable("wycheproof/aes_wrap").rows {
      let cipher = try cipher(keyByteCount: try row.integer("keySize") / 8)
      let (key, message, wrapped) = (try row.bytes("key"), try row.bytes("msg"), try row.bytes("ct"))
      guard row.isValid else {
        invalid += 1
        let error = #expect(throws: OpenPGPError.self, "\(row)") {
          _ = try AESKeyWrap.unwrap(wrapped, with: cipher, key: key.span.bytes)
        }
        #expect(error == .notAuthentic, "\(row)")
        continue
      }
      valid += 1
      let mine = try AESKeyWrap.wrap(message.span.bytes, with: cipher, key: key.span.bytes)
      #expect(mine == wrapped, "\(row)")
      let unwrapped = try AESKeyWrap.unwrap(wrapped, with: cipher, key: key.span.bytes)
      let isSame = unwrapped.withBytes { constantTimeEqual($0, message.span.bytes) }
      #expect(isSame, "\(row)")
    }
    #expect([valid, invalid] == [36, 129])
  }

  @Test(
    "Wycheproof's rows for HKDF derive as they say",
    arguments: [
      ("wycheproof/hkdf_sha256", HashAlgorithm.sha256, 83),
      ("wycheproof/hkdf_sha512", HashAlgorithm.sha512, 80),
    ])
  func hkdf(name: String, hash: HashAlgorithm, count: Int) throws {
    var ran = 0
    // What is invalid asks for more than HKDF can give, as no caller does.
    for row in try VectorTable(name).rows where row.isValid {
      ran += 1
      let (ikm, salt) = (try row.bytes("ikm"), try row.bytes("salt"))
      let (info, expected) = (try row.bytes("info"), try row.bytes("okm"))
      let key = HKDF.derive(
        hash, ikm: ikm.span.bytes, salt: salt.span.bytes, info: info, byteCount: try row.integer("size"))
      let isSame = key.withBytes { constantTimeEqual($0, expected.span.bytes) }
      #expect(isSame, "\(row)")
    }
    #expect(ran == count)
  }

  @Test("Argon2id's own vectors come out of the string-to-key specifier")
  func argon2() throws {
    let rows = try VectorTable("argon2/argon2id").rows
    for row in rows {
      let memory = try row.integer("memoryKiB")
      let specifier = StringToKey.argon2(
        salt: try row.bytes("salt"), passes: UInt8(try row.integer("passes")),
        lanes: UInt8(try row.integer("lanes")), memoryExponent: UInt8(memory.trailingZeroBitCount))
      let (password, expected) = (try row.bytes("password"), try row.bytes("tag"))
      let key = try specifier.deriveKey(password: password.span.bytes, byteCount: expected.count)
      let isSame = key.withBytes { constantTimeEqual($0, expected.span.bytes) }
      #expect(isSame, "\(row)")
    }
    #expect(rows.count == 8)
  }
}

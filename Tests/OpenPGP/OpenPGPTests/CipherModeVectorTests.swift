// SPDX-License-Identifier: Apache-2.0
//
// The ciphers against published vectors: OCB of RFC 7253, EAX, GCM, key wrap and HKDF of Wycheproof, Argon2id of
// its authors.

import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("Published vectors of ciphers", .enabled(if: VectorFiles.arePresent, VectorFiles.absence))
struct CipherModeVectorTests {
  private func cipher(keyByteCount: Int) throws -> SymmetricAlgorithm {
    try #require([.aes128, .aes192, .aes256].first { $0.keyByteCount == keyByteCount })
  }

  private struct OCBRow: Decodable {
    let key, nonce, aad, pt, ctAndTag: String
    let tagBits: Int?
  }

  private struct OCBFile: Decodable {
    let tests: [OCBRow]?
    let sampleResults: [OCBRow]?
  }

  @Test(
    "OCB seals and opens as its vectors say",
    arguments: [("ocb/rfc7253.json", 16), ("ocb/ocb_random_gocrypto.json", 24)])
  func ocb(path: String, expectedCount: Int) throws {
    let file = try VectorFiles.json(path, as: OCBFile.self)
    let rows = (file.tests ?? file.sampleResults ?? []).filter { ($0.tagBits ?? 128) == 128 }
    #expect(rows.count == expectedCount)
    for row in rows {
      let (key, nonce, data) = (
        try hexadecimal(row.key), try hexadecimal(row.nonce), try hexadecimal(row.aad)
      )
      let cipher = try cipher(keyByteCount: key.count)
      let (plaintext, ciphertext) = (try hexadecimal(row.pt), try hexadecimal(row.ctAndTag))
      #expect(try sealed(plaintext, cipher, .ocb, key: key, nonce: nonce, data: data) == ciphertext)
      let result = try opened(ciphertext, cipher, .ocb, key: key, nonce: nonce, data: data)
      #expect(result.error == nil)
      #expect(Array(result.buffer.dropLast(16)) == plaintext)
    }
  }

  private struct AEADGroup: Decodable {
    struct Row: Decodable {
      let tcId: Int
      let key, iv, aad, msg, ct, tag, result: String
    }
    let ivSize, keySize, tagSize: Int
    let tests: [Row]
  }

  @Test(
    "Wycheproof's rows for EAX and GCM seal and open as they say",
    arguments: [
      ("wycheproof/aes_eax_test.json", AEADAlgorithm.eax, 120),
      ("wycheproof/aes_gcm_test.json", AEADAlgorithm.gcm, 120),
    ])
  func wycheproof(path: String, algorithm: AEADAlgorithm, atLeast: Int) throws {
    let file = try VectorFiles.json(path, as: WycheproofFile<AEADGroup>.self)
    var count = 0
    for group in file.testGroups
    where group.ivSize == (algorithm.nonceByteCount ?? 0) * 8 && group.tagSize == 128 {
      let cipher = try cipher(keyByteCount: group.keySize / 8)
      for row in group.tests {
        count += 1
        let (key, nonce, data) = (
          try hexadecimal(row.key), try hexadecimal(row.iv), try hexadecimal(row.aad)
        )
        let plaintext = try hexadecimal(row.msg)
        let ciphertext = try hexadecimal(row.ct + row.tag)
        let mine = try sealed(plaintext, cipher, algorithm, key: key, nonce: nonce, data: data)
        let result = try opened(ciphertext, cipher, algorithm, key: key, nonce: nonce, data: data)
        if row.result == "valid" {
          #expect(mine == ciphertext, "row \(row.tcId)")
          #expect(result.error == nil, "row \(row.tcId)")
          #expect(Array(result.buffer.dropLast(16)) == plaintext, "row \(row.tcId)")
        } else {
          #expect(mine != ciphertext, "row \(row.tcId)")
          #expect(result.error == .notAuthentic, "row \(row.tcId)")
          #expect(result.buffer.allSatisfy { $0 == 0 }, "row \(row.tcId): plaintext is left")
        }
      }
    }
    print("vectors: \(path): \(count) ran")
    #expect(count >= atLeast)
  }

  private struct WrapGroup: Decodable {
    struct Row: Decodable {
      let tcId: Int
      let key, msg, ct, result: String
    }
    let keySize: Int
    let tests: [Row]
  }

  @Test("Wycheproof's rows for AES key wrap wrap and unwrap as they say")
  func keyWrap() throws {
    let file = try VectorFiles.json("wycheproof/aes_wrap_test.json", as: WycheproofFile<WrapGroup>.self)
    var (valid, invalid) = (0, 0)
    for group in file.testGroups {
      let cipher = try cipher(keyByteCount: group.keySize / 8)
      for row in group.tests {
        let (key, message, wrapped) = (
          try hexadecimal(row.key), try hexadecimal(row.msg), try hexadecimal(row.ct)
        )
        guard row.result == "valid" else {
          invalid += 1
          let error = #expect(throws: OpenPGPError.self, "row \(row.tcId)") {
            _ = try AESKeyWrap.unwrap(wrapped, with: cipher, key: key.span.bytes)
          }
          #expect(error == .notAuthentic, "row \(row.tcId)")
          continue
        }
        valid += 1
        let mine = try AESKeyWrap.wrap(message.span.bytes, with: cipher, key: key.span.bytes)
        #expect(mine == wrapped, "row \(row.tcId)")
        let unwrapped = try AESKeyWrap.unwrap(wrapped, with: cipher, key: key.span.bytes)
        let isSame = unwrapped.withBytes { constantTimeEqual($0, message.span.bytes) }
        #expect(isSame, "row \(row.tcId)")
      }
    }
    print("vectors: key wrap: \(valid) valid, \(invalid) invalid")
    #expect(valid > 30 && invalid > 60)
  }

  private struct HKDFGroup: Decodable {
    struct Row: Decodable {
      let tcId: Int
      let ikm, salt, info, okm, result: String
      let size: Int
    }
    let tests: [Row]
  }

  @Test(
    "Wycheproof's rows for HKDF derive as they say",
    arguments: [
      ("wycheproof/hkdf_sha256_test.json", HashAlgorithm.sha256),
      ("wycheproof/hkdf_sha512_test.json", HashAlgorithm.sha512),
    ])
  func hkdf(path: String, hash: HashAlgorithm) throws {
    let file = try VectorFiles.json(path, as: WycheproofFile<HKDFGroup>.self)
    var count = 0
    for row in file.testGroups.flatMap({ $0.tests }) where row.result == "valid" {
      count += 1
      let (ikm, salt) = (try hexadecimal(row.ikm), try hexadecimal(row.salt))
      let (info, expected) = (try hexadecimal(row.info), try hexadecimal(row.okm))
      let key = HKDF.derive(
        hash, ikm: ikm.span.bytes, salt: salt.span.bytes, info: info, byteCount: row.size)
      let isSame = key.withBytes { constantTimeEqual($0, expected.span.bytes) }
      #expect(isSame, "row \(row.tcId)")
    }
    #expect(count > 60)
  }

  private struct Argon2File: Decodable {
    struct Row: Decodable {
      let t, log2MKib, p: Int
      let password, salt, tag: String
    }
    let tests: [Row]
  }

  @Test("Argon2id's own vectors come out of the string-to-key specifier")
  func argon2() throws {
    let file = try VectorFiles.json("argon2/argon2id.json", as: Argon2File.self)
    #expect(file.tests.count >= 8)
    for row in file.tests where row.log2MKib <= 18 {
      let specifier = StringToKey.argon2(
        salt: Array(row.salt.utf8), passes: UInt8(row.t), lanes: UInt8(row.p),
        memoryExponent: UInt8(row.log2MKib))
      let (password, expected) = (Array(row.password.utf8), try hexadecimal(row.tag))
      let key = try specifier.deriveKey(password: password.span.bytes, byteCount: expected.count)
      let isSame = key.withBytes { constantTimeEqual($0, expected.span.bytes) }
      #expect(isSame, "\(row.log2MKib) \(row.t) \(row.p)")
    }
  }
}

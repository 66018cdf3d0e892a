// SPDX-License-Identifier: Apache-2.0
//
// AES-256-GCM against Wycheproof and NIST's CAVP: keys of 256 bits, nonces of 96, tags of 128. Rows of
// other sizes cannot be put to `AES256GCM`, which takes no other.

import Primitives
import TestVectors
import Testing

@Suite("AES-256-GCM vectors")
struct CipherVectorTests {
  @Test("Wycheproof's AES-GCM rows seal and open as they say")
  func wycheproof() throws {
    var (ran, otherSizes) = (0, 0)
    for row in try VectorTable("wycheproof/aes_gcm").rows {
      let sizes = [try row.integer("keySize"), try row.integer("ivSize"), try row.integer("tagSize")]
      guard sizes == [256, 96, 128] else {
        otherSizes += 1
        continue
      }
      ran += 1
      let (key, nonce, aad) = (try row.bytes("key"), try row.bytes("iv"), try row.bytes("aad"))
      let plaintext = try row.bytes("msg")
      let ciphertext = try row.bytes("ct") + row.bytes("tag")
      let (mine, inPlace) = (
        try sealed(plaintext, key: key, nonce: nonce, aad: aad),
        try sealedInPlace(plaintext, key: key, nonce: nonce, aad: aad)
      )
      let result = opened(ciphertext, key: key, nonce: nonce, aad: aad)
      #expect(mine == inPlace, "\(row)")
      if row.isValid {
        #expect(mine == ciphertext, "\(row)")
        #expect(result == Opened(error: nil, output: plaintext), "\(row)")
      } else {
        #expect(mine != ciphertext, "\(row)")
        #expect(result.error == .authenticationFailed, "\(row)")
        #expect(result.output.allSatisfy { $0 == 0 }, "\(row): plaintext left in the output")
      }
    }
    #expect(ran == 66 && otherSizes == 250)
  }

  @Test("NIST's encryption records give their ciphertext and tag")
  func nistEncrypt() throws {
    let rows = try VectorTable("nist/aes256_gcm_encrypt").rows
    for row in rows {
      let (key, nonce, aad) = (try row.bytes("key"), try row.bytes("iv"), try row.bytes("aad"))
      let plaintext = try row.bytes("msg")
      let expected = try row.bytes("ct") + row.bytes("tag")
      #expect(try sealed(plaintext, key: key, nonce: nonce, aad: aad) == expected, "\(row)")
      #expect(try sealedInPlace(plaintext, key: key, nonce: nonce, aad: aad) == expected, "\(row)")
      #expect(
        opened(expected, key: key, nonce: nonce, aad: aad) == Opened(error: nil, output: plaintext), "\(row)")
    }
    #expect(rows.count == 375)
  }

  @Test("NIST's decryption records open, or fail and leave nothing")
  func nistDecrypt() throws {
    var (valid, invalid) = (0, 0)
    for row in try VectorTable("nist/aes256_gcm_decrypt").rows {
      let ciphertext = try row.bytes("ct") + row.bytes("tag")
      let result = opened(
        ciphertext, key: try row.bytes("key"), nonce: try row.bytes("iv"), aad: try row.bytes("aad"))
      if row.isValid {
        valid += 1
        #expect(result == Opened(error: nil, output: try row.bytes("msg")), "\(row)")
      } else {
        invalid += 1
        #expect(result.error == .authenticationFailed, "\(row)")
        #expect(result.output.allSatisfy { $0 == 0 }, "\(row): plaintext left in the output")
      }
    }
    #expect(valid == 184 && invalid == 191)
  }
}

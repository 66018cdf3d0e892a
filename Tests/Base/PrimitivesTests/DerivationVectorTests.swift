// SPDX-License-Identifier: Apache-2.0
//
// HKDF, HMAC and PBKDF2 against Wycheproof; Argon2id against its reference values and RFC 9106; and the
// values made for this project (600,000 iterations, the worked example of a message).

import Primitives
import TestVectors
import Testing

@Suite("Key derivation vectors")
struct DerivationVectorTests {
  @Test("Wycheproof's HKDF-SHA256 rows of up to 32 bytes give their output")
  func hkdf() throws {
    var (ran, tooLong) = (0, 0)
    var hkdf = HKDF()
    for row in try VectorTable("wycheproof/hkdf_sha256").rows {
      let size = try row.integer("size")
      guard (1...HMACSHA256.byteCount).contains(size) else {
        tooLong += 1
        continue
      }
      ran += 1
      let (ikm, salt, info) = (try row.bytes("ikm"), try row.bytes("salt"), try row.bytes("info"))
      let output = filled(size) {
        hkdf.derive(ikm: ikm.span.bytes, salt: salt.span.bytes, info: info.span.bytes, into: &$0)
      }
      #expect((output == (try row.bytes("okm"))) == row.isValid, "\(row)")
      guard size == SymmetricKey.byteCount else { continue }
      let key = hkdf.deriveKey(ikm: ikm.span.bytes, salt: salt.span.bytes, info: info.span.bytes)
      #expect(key.withBytes { key in key.withUnsafeBytes { Array($0) } } == output, "\(row)")
    }
    #expect(ran == 30 && tooLong == 56)
  }

  @Test("Wycheproof's HMAC-SHA256 rows match, or do not, truncated tags by their prefix")
  func hmac() throws {
    let rows = try VectorTable("wycheproof/hmac_sha256").rows
    var hmac = HMACSHA256()
    for row in rows {
      let (key, message, tag) = (try row.bytes("key"), try row.bytes("msg"), try row.bytes("tag"))
      let code = filled(HMACSHA256.byteCount) {
        hmac.authenticate(message.span.bytes, key: key.span.bytes, into: &$0)
      }
      #expect((Array(code.prefix(tag.count)) == tag) == row.isValid, "\(row)")
    }
    #expect(rows.count == 174)
  }

  @Test(
    "Wycheproof's PBKDF2 rows give their key",
    arguments: [("wycheproof/pbkdf2_hmacsha256", 60), ("wycheproof/pbkdf2_hmacsha512", 58)])
  func pbkdf2(_ name: String, count: Int) throws {
    let rows = try VectorTable(name).rows
    let derive = name.hasSuffix("sha512") ? PBKDF2.hmacSHA512 : PBKDF2.hmacSHA256
    for row in rows {
      let (password, salt) = (try row.bytes("password"), try row.bytes("salt"))
      let rounds = try row.integer("iterationCount")
      let key = try filled(try row.integer("dkLen")) { output throws(CryptoError) in
        try derive(password.span.bytes, salt.span.bytes, rounds, &output)
      }
      #expect((key == (try row.bytes("dk"))) == row.isValid, "\(row)")
    }
    #expect(rows.count == count)
  }

  @Test("The reference values of Argon2id come out")
  func argon2id() throws {
    let rows = try VectorTable("argon2/argon2id").rows
    for row in rows {
      let (password, salt) = (try row.bytes("password"), try row.bytes("salt"))
      let (parameters, expected) = (try parameters(row), try row.bytes("tag"))
      let tag = try filled(expected.count) { output throws(Argon2idError) in
        try Argon2id.derive(
          password: password.span.bytes, salt: salt.span.bytes, parameters: parameters, into: &output)
      }
      #expect(tag == expected, "\(row)")
    }
    #expect(rows.count == 8)
  }

  @Test("The example of RFC 9106 comes out, with a secret and associated data")
  func argon2idOfTheStandard() throws {
    let row = try #require(try VectorTable("argon2/rfc9106").rows.first)
    let (password, salt) = (try row.bytes("password"), try row.bytes("salt"))
    let (secret, associated) = (try row.bytes("secret"), try row.bytes("ad"))
    let parameters = try parameters(row)
    let tag = try filled(32) { output throws(Argon2idError) in
      try Argon2id.derive(
        password: password.span.bytes, salt: salt.span.bytes, secret: secret.span.bytes,
        associatedData: associated.span.bytes, parameters: parameters, into: &output)
    }
    #expect(tag == (try row.bytes("tag")))
  }

  private func parameters(_ row: VectorRow) throws -> Argon2idParameters {
    try Argon2idParameters(
      memoryKiB: try row.integer("memoryKiB"), passes: try row.integer("passes"),
      lanes: try row.integer("lanes"))
  }

  @Test("PBKDF2 with 600,000 iterations gives the keys of another implementation")
  func manyIterations() throws {
    let rows = try VectorTable("made-here/pbkdf2").rows
    for row in rows {
      let rounds = try row.integer("iterations")
      #expect(rounds == PBKDF2.passphraseIterations)
      let key = try derive(try row.bytes("password"), try row.bytes("salt"), rounds)
      #expect(key == (try row.bytes("dk")), "\(row)")
    }
    #expect(rows.count == 5)
  }

  @Test("A message goes from passphrase to ciphertext as in another implementation")
  func madeHere() throws {
    let row = try #require(try VectorTable("made-here/message").rows.first)
    let vaultKey = try derive(
      try row.bytes("passphrase"), try row.bytes("salt"), try row.integer("iterations"))
    #expect(vaultKey == (try row.bytes("masterKey")))
    var hkdf = HKDF()
    let identifier = try row.bytes("messageID")
    let info = Array("message-encryption".utf8)
    let messageKey = filled(32) {
      hkdf.derive(
        ikm: vaultKey.span.bytes, salt: identifier.span.bytes, info: info.span.bytes, into: &$0)
    }
    #expect(messageKey == (try row.bytes("messageKey")))
    #expect(
      try sealed(
        try row.bytes("msg"), key: messageKey, nonce: try row.bytes("nonce"), aad: try row.bytes("aad"))
        == (try row.bytes("ciphertext")))
  }

  private func derive(_ password: [UInt8], _ salt: [UInt8], _ rounds: Int) throws -> [UInt8] {
    try filled(32) { output throws(CryptoError) in
      try PBKDF2.hmacSHA256(
        password: password.span.bytes, salt: salt.span.bytes, rounds: rounds, into: &output)
    }
  }
}

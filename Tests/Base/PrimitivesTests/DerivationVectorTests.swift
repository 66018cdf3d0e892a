// SPDX-License-Identifier: Apache-2.0
//
// HKDF, HMAC and PBKDF2 against Wycheproof; Argon2id against its reference values and RFC 9106; and the
// values made for this project (600,000 iterations, the worked example of a message).

import Foundation
import Primitives
import Testing

@Suite("Key derivation vectors", .enabled(if: VectorFile.isPresent, VectorFile.absence))
struct DerivationVectorTests {
  struct HKDFRow: Decodable {
    let tcId: Int
    let ikm, salt, info, okm, result: String
    let size: Int
  }

  @Test(
    "Wycheproof's HKDF-SHA256 rows of up to 32 bytes give their output",
    arguments: [VectorFile("wycheproof/hkdf_sha256_test.json", ran: 30, notApplicable: 56)])
  func hkdf(_ file: VectorFile) throws {
    var (ran, notApplicable) = (0, 0)
    var hkdf = HKDF()
    for row in try file.json(Wycheproof<HKDFRow>.self).testGroups.flatMap(\.tests) {
      guard (1...HMACSHA256.byteCount).contains(row.size) else {
        notApplicable += 1
        continue
      }
      ran += 1
      let (ikm, salt, info) = (
        try hexBytes(row.ikm), try hexBytes(row.salt), try hexBytes(row.info)
      )
      let output = filled(row.size) {
        hkdf.derive(ikm: ikm.span.bytes, salt: salt.span.bytes, info: info.span.bytes, into: &$0)
      }
      #expect((output == (try hexBytes(row.okm))) == (row.result == "valid"), "row \(row.tcId)")
      guard row.size == SymmetricKey.byteCount else { continue }
      let key = hkdf.deriveKey(ikm: ikm.span.bytes, salt: salt.span.bytes, info: info.span.bytes)
      #expect(
        key.withBytes { key in key.withUnsafeBytes { Array($0) } } == output, "row \(row.tcId)")
    }
    file.report(ran: ran, notApplicable: notApplicable)
  }

  struct HMACRow: Decodable {
    let tcId: Int
    let key, msg, tag, result: String
  }

  @Test(
    "Wycheproof's HMAC-SHA256 rows match, or do not, truncated tags by their prefix",
    arguments: [VectorFile("wycheproof/hmac_sha256_test.json", ran: 174)])
  func hmac(_ file: VectorFile) throws {
    var ran = 0
    var hmac = HMACSHA256()
    for row in try file.json(Wycheproof<HMACRow>.self).testGroups.flatMap(\.tests) {
      ran += 1
      let (key, message, tag) = (
        try hexBytes(row.key), try hexBytes(row.msg), try hexBytes(row.tag)
      )
      let code = filled(HMACSHA256.byteCount) {
        hmac.authenticate(message.span.bytes, key: key.span.bytes, into: &$0)
      }
      #expect((Array(code.prefix(tag.count)) == tag) == (row.result == "valid"), "row \(row.tcId)")
    }
    file.report(ran: ran)
  }

  struct PBKDF2Row: Decodable {
    let tcId, iterationCount, dkLen: Int
    let password, salt, dk, result: String
  }

  @Test(
    "Wycheproof's PBKDF2 rows give their key",
    arguments: [
      VectorFile("wycheproof/pbkdf2_hmacsha256_test.json", ran: 60),
      VectorFile("wycheproof/pbkdf2_hmacsha512_test.json", ran: 58),
    ])
  func pbkdf2(_ file: VectorFile) throws {
    var ran = 0
    let derive = file.path.contains("sha512") ? PBKDF2.hmacSHA512 : PBKDF2.hmacSHA256
    for row in try file.json(Wycheproof<PBKDF2Row>.self).testGroups.flatMap(\.tests) {
      ran += 1
      let (password, salt) = (try hexBytes(row.password), try hexBytes(row.salt))
      let key = try filled(row.dkLen) { output throws(CryptoError) in
        try derive(password.span.bytes, salt.span.bytes, row.iterationCount, &output)
      }
      #expect((key == (try hexBytes(row.dk))) == (row.result == "valid"), "row \(row.tcId)")
    }
    file.report(ran: ran)
  }

  struct Argon2Content: Decodable {
    struct Row: Decodable {
      let t, log2MKib, p: Int
      let password, salt, tag: String
    }
    struct RFCRow: Decodable {
      let t, mKib, p: Int
      let password, salt, secret, ad, tag: String
    }
    let tests: [Row]
    let rfc9106: RFCRow
  }

  @Test(
    "The reference values of Argon2id and the example of RFC 9106 come out",
    arguments: [VectorFile("argon2/argon2id.json", ran: 9)])
  func argon2id(_ file: VectorFile) throws {
    let content = try file.json(Argon2Content.self)
    var ran = 0
    for row in content.tests {
      ran += 1
      let (password, salt) = (Array(row.password.utf8), Array(row.salt.utf8))
      let parameters = try Argon2idParameters(
        memoryKiB: 1 << row.log2MKib, passes: row.t, lanes: row.p)
      let expected = try hexBytes(row.tag)
      let tag = try filled(expected.count) { output throws(Argon2idError) in
        try Argon2id.derive(
          password: password.span.bytes, salt: salt.span.bytes, parameters: parameters,
          into: &output)
      }
      #expect(tag == expected, "m=2^\(row.log2MKib) t=\(row.t) p=\(row.p)")
    }
    let rfc = content.rfc9106
    ran += 1
    let (password, salt) = (try hexBytes(rfc.password), try hexBytes(rfc.salt))
    let (secret, associated) = (try hexBytes(rfc.secret), try hexBytes(rfc.ad))
    let parameters = try Argon2idParameters(memoryKiB: rfc.mKib, passes: rfc.t, lanes: rfc.p)
    let tag = try filled(32) { output throws(Argon2idError) in
      try Argon2id.derive(
        password: password.span.bytes, salt: salt.span.bytes, secret: secret.span.bytes,
        associatedData: associated.span.bytes, parameters: parameters, into: &output)
    }
    #expect(tag == (try hexBytes(rfc.tag)), "RFC 9106, section 5.3")
    file.report(ran: ran)
  }

  struct MadeHere: Decodable {
    struct PBKDF2Row: Decodable {
      let passwordHex, salt, dk: String
      let iterations, dkLen: Int
    }
    struct Sealed: Decodable { let nonce, aad, pt, ctAndTag: String }
    let passphrase, salt, masterKey, messageId: String
    let iterations: Int
    let messageKey: [String: String]
    let sealed: Sealed
    let pbkdf2HmacSha256600000: [PBKDF2Row]
    let sha256: [[String]]
  }

  @Test(
    "PBKDF2 with 600,000 iterations, SHA-256, and a message from passphrase to ciphertext",
    // Not applicable: the three other ways to derive a message key, which the specification rules out.
    arguments: [VectorFile("made-here/vault_v1_and_seed_values.json", ran: 11, notApplicable: 3)])
  func madeHere(_ file: VectorFile) throws {
    let content = try file.json(MadeHere.self)
    var ran = 0
    func derive(_ password: [UInt8], _ salt: [UInt8], _ rounds: Int, _ count: Int) throws -> [UInt8] {
      try filled(count) { output throws(CryptoError) in
        try PBKDF2.hmacSHA256(
          password: password.span.bytes, salt: salt.span.bytes, rounds: rounds, into: &output)
      }
    }
    for row in content.pbkdf2HmacSha256600000 {
      ran += 1
      #expect(row.iterations == PBKDF2.passphraseIterations)
      let key = try derive(
        try hexBytes(row.passwordHex), try hexBytes(row.salt), row.iterations, row.dkLen)
      #expect(key == (try hexBytes(row.dk)))
    }
    for row in content.sha256 {
      ran += 1
      try #require(row.count == 2)
      #expect(SHA256.hash(Array(row[0].utf8).span.bytes) == (try hexBytes(row[1])))
    }

    let vaultKey = try derive(
      Array(content.passphrase.utf8), try hexBytes(content.salt), content.iterations, 32)
    #expect(vaultKey == (try hexBytes(content.masterKey)))
    var hkdf = HKDF()
    let identifier = try hexBytes(content.messageId.replacing("-", with: ""))
    let info = Array("message-encryption".utf8)
    let messageKey = filled(32) {
      hkdf.derive(
        ikm: vaultKey.span.bytes, salt: identifier.span.bytes, info: info.span.bytes, into: &$0)
    }
    let expected = try #require(content.messageKey["extractExpand_salt_uuid16"])
    #expect(messageKey == (try hexBytes(expected)))
    let example = content.sealed
    #expect(
      try sealed(
        try hexBytes(example.pt), key: messageKey, nonce: try hexBytes(example.nonce),
        aad: Array(example.aad.utf8)) == (try hexBytes(example.ctAndTag)))
    ran += 3
    file.report(ran: ran, notApplicable: content.messageKey.count - 1)
  }
}

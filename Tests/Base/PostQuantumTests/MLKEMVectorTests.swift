// SPDX-License-Identifier: Apache-2.0
//
// ML-KEM against Wycheproof and NIST. Tables keep digests of what is made again here.

import CBoringSSLInternals
import Secrets
import TestVectors
import Testing

@testable import PostQuantum

@Suite("ML-KEM vectors")
struct MLKEMVectorTests {
  @Test("Seeds give the public keys of Wycheproof and NIST")
  func keyGeneration() throws {
    var ran = 0
    for (kem, table) in try Self.tables("wycheproof/mlkem_SIZE_keygen_seed", "nist/mlkem_keygen") {
      for row in table {
        ran += 1
        let seed = try row.bytes("seed")
        let key = kem.publicKey(seed: seed)
        #expect(sha256(key) == (try row.text("ekDigest")), "\(row)")
        #expect(key.count == kem.publicKeyByteCount && kem.isValidPublicKey(key), "\(row)")
      }
    }
    #expect(ran == 250)
  }

  @Test("Wycheproof's ciphertexts give their secrets, or are refused for their length")
  func decapsulation() throws {
    var (ran, refused, rejected) = (0, 0, 0)
    for (kem, table) in try Self.tables("wycheproof/mlkem_SIZE") {
      for row in table {
        let (seed, ciphertext) = (try row.bytes("seed"), try row.bytes("c"))
        guard seed.count == MLKEM.seedByteCount else {
          #expect(!row.isValid, "\(row)")
          continue
        }
        let secret = kem.secret(in: ciphertext, seed: seed)
        #expect((secret == nil) == (ciphertext.count != kem.ciphertextByteCount), "\(row)")
        guard let secret else {
          refused += 1
          #expect(!row.isValid, "\(row)")
          continue
        }
        ran += 1
        #expect(secret == (try row.bytes("k")), "\(row)")
        if row.isValid { #expect(sha256(kem.publicKey(seed: seed)) == (try row.text("ekDigest"))) }
        rejected += row.has(flag: "Strcmp") ? 1 : 0
      }
    }
    #expect(ran == 306 && refused == 40 && rejected == 2)
  }

  @Test("Encapsulation with the vectors' randomness gives their secrets, and refuses other keys")
  func encapsulation() throws {
    var (ran, refused) = (0, 0)
    for (kem, table) in try Self.tables("wycheproof/mlkem_SIZE_encaps", "nist/mlkem_encaps") {
      for row in table {
        let (key, m) = (try row.bytes("ek"), try row.bytes("m"))
        var (ciphertext, secret) = (
          [UInt8](repeating: 0, count: kem.ciphertextByteCount), [UInt8](repeating: 0, count: 32)
        )
        let worked = known_mlkem_encapsulate(kem.rawValue, key, key.count, m, &ciphertext, &secret) == 1
        #expect(kem.isValidPublicKey(key) == worked, "\(row)")
        guard worked else {
          refused += 1
          #expect((try row.text("result")) == "invalid" && kem.encapsulate(to: key) == nil, "\(row)")
          continue
        }
        ran += 1
        #expect(sha256(ciphertext) == (try row.text("cDigest")), "\(row)")
        #expect(secret == (try row.bytes("k")), "\(row)")
      }
    }
    #expect(ran == 316 && refused == 268)
  }

  @Test("NIST's public keys with a coefficient above q are refused, the others not")
  func keyCheck() throws {
    var (good, bad) = (0, 0)
    for row in try VectorTable("nist/mlkem_keycheck").rows {
      let kem = try MLKEM.of(row)
      #expect(kem.isValidPublicKey(try row.bytes("ek")) == row.isValid, "\(row)")
      if row.isValid { good += 1 } else { bad += 1 }
    }
    #expect(good + bad == 20 && good > 5 && bad > 5)
  }

  @Test("NIST's expanded keys give the secrets of good and of changed ciphertexts")
  func expandedKeys() throws {
    for row in try VectorTable("nist/mlkem_decaps").rows {
      let (key, ciphertext) = (try row.bytes("dk"), try row.bytes("c"))
      var secret = [UInt8](repeating: 0, count: 32)
      let worked = known_mlkem_decapsulate(
        try MLKEM.of(row).rawValue, key, key.count, ciphertext, ciphertext.count, &secret)
      #expect(try worked == 1 && secret == row.bytes("k"), "\(row)")
    }
  }

  /// Rows by parameter set: of tables that have one each, and of tables with a column `size`.
  private static func tables(_ names: String...) throws -> [(MLKEM, [VectorRow])] {
    try names.flatMap { name in
      try MLKEM.allCases.map { kem in
        let file = name.replacing("SIZE", with: "\(kem.rawValue)")
        let rows = try VectorTable(file).rows
        return (kem, file == name ? try rows.filter { try $0.integer("size") == kem.rawValue } : rows)
      }
    }
  }
}

extension MLKEM {
  static func of(_ row: VectorRow) throws -> MLKEM {
    try row.integer("size") == 768 ? .mlkem768 : .mlkem1024
  }
}
